import type { MessengerAuthor, QuotedMessage } from "../../../src/core/chat/messenger-event.ts";
import { isReplyToBot, isTopicOpening } from "./addressing.ts";
import { attachmentsOf } from "../files/attachments.ts";
import { authorOf, chatAuthor, userAuthor } from "./author.ts";
import type { TelegramMessage } from "./message-schema.ts";
import { describeContent, readableText } from "./readable-text.ts";

/** Returns the message that another one replies to, or the part of it that its sender marked. */
export function quotedMessageOf(message: TelegramMessage, botId: string): QuotedMessage | undefined {
  const marked = message.quote?.is_manual ? message.quote.text : undefined;
  const replied = message.reply_to_message;
  if (replied && !isTopicOpening(message)) {
    const author = authorOf(replied);
    return {
      id: String(replied.message_id),
      text: marked ?? readableText(replied),
      ...(author ? { author } : {}),
      isFromBot: isReplyToBot(message, botId),
      attachments: attachmentsOf(replied),
    };
  }
  const external = message.external_reply;
  if (external) {
    const author = originAuthor(external.origin);
    return {
      id: typeof external.message_id === "number" ? String(external.message_id) : "",
      text: marked ?? message.quote?.text ?? describeContent(external),
      ...(author ? { author } : {}),
      isFromBot: author?.userId === botId,
      attachments: attachmentsOf(external),
    };
  }
  if (message.reply_to_story) return { id: "", text: "[Story]", isFromBot: false, attachments: [] };
  return undefined;
}

type Origin = NonNullable<TelegramMessage["external_reply"]>["origin"];

/** Returns the author of a forwarded message. A person who hides their account has only a name. */
function originAuthor(origin: Origin): MessengerAuthor | undefined {
  if (!origin) return undefined;
  if (origin.sender_user) return userAuthor(origin.sender_user);
  if (origin.sender_user_name) return { userId: "", fullName: origin.sender_user_name };
  const chat = origin.sender_chat ?? origin.chat;
  return chat ? chatAuthor(chat) : undefined;
}
