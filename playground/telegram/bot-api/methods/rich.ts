import { badRequest } from "../bot-api-error.ts";
import { readRichMessage } from "../rich/read-rich-message.ts";
import { wordsOfBlocks } from "../rich/rich-words.ts";
import { parseMarkup } from "../../chats/reply-markup.ts";
import { replyTarget, shown, writableTopic, writableChat } from "./context.ts";
import type { Method } from "./context.ts";
import { showDraft } from "./text.ts";

export const sendRichMessage: Method = (context, parameters) => {
  const rich = readRichMessage(parameters);
  const markup = parseMarkup(parameters.json("reply_markup", "reply keyboard markup"));
  const chat = writableChat(context, parameters);
  const threadId = writableTopic(chat, parameters);
  const reply = replyTarget(chat, parameters);
  const message = context.world.addMessage(chat, {
    from: context.world.bot,
    text: wordsOfBlocks(rich),
    rich,
    ...reply,
    ...(threadId !== undefined && { threadId }),
    ...(markup !== undefined && { markup }),
  });
  return shown(context, chat, message);
};

export const sendRichMessageDraft: Method = (context, parameters) => {
  const rich = readRichMessage(parameters, true);
  const chat = writableChat(context, parameters);
  if (chat.type !== "private") throw badRequest("TEXTDRAFT_PEER_INVALID");
  showDraft(context, chat, parameters, { text: wordsOfBlocks(rich), entities: [], rich });
  return true;
};
