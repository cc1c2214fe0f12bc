import { badRequest } from "../bot-api-error.ts";
import { parseMarkup } from "../../chats/reply-markup.ts";
import type { Markup } from "../../chats/reply-markup.ts";
import { readRichMessage } from "../rich/read-rich-message.ts";
import { wordsOfBlocks } from "../rich/rich-words.ts";
import type { ChatState, Content, Media, StoredMessage } from "../../chats/world.ts";
import { findMessage, replyTarget, shown, topicOf, writableTopic, writableChat } from "./context.ts";
import type { Method, MethodContext } from "./context.ts";
import { mannerOf } from "./manner.ts";
import type { CallParameters } from "../call-parameters.ts";

export const maxTextLength = 4096;
export const maxCaptionLength = 1024;
const draftLifetimeMs = 30_000;

export const sendMessage: Method = (context, parameters) => {
  if (!parameters.has("text")) throw badRequest("message text is empty");
  const { text, entities } = parameters.formatted("text", "entities");
  const markup = parseMarkup(parameters.json("reply_markup", "reply keyboard markup"));
  const chat = writableChat(context, parameters);
  const threadId = writableTopic(chat, parameters);
  const reply = replyTarget(chat, parameters);
  if (text === "") throw badRequest("text must be non-empty");
  if (text.length > maxTextLength) throw badRequest("message is too long");
  const message = context.world.addMessage(chat, {
    from: context.world.bot,
    text,
    entities,
    ...reply,
    ...mannerOf(parameters),
    ...(threadId !== undefined && { threadId }),
    ...(markup !== undefined && { markup }),
  });
  return shown(context, chat, message);
};

export const editMessageText: Method = (context, parameters) => {
  if (!parameters.has("text") && parameters.has("rich_message")) {
    const rich = readRichMessage(parameters);
    return edit(context, parameters, (message) => {
      if (message.media !== undefined) throw badRequest("there is no text in the message to edit");
      return { text: wordsOfBlocks(rich), entities: [], rich };
    });
  }
  if (!parameters.has("text")) throw badRequest("message text is empty");
  const formatted = parameters.formatted("text", "entities");
  return edit(context, parameters, (message) => {
    if (message.media !== undefined) throw badRequest("there is no text in the message to edit");
    if (formatted.text === "") throw badRequest("text must be non-empty");
    if (formatted.text.length > maxTextLength) throw badRequest("MESSAGE_TOO_LONG");
    return formatted;
  });
};

export const editMessageCaption: Method = (context, parameters) => {
  const formatted = parameters.formatted("caption", "caption_entities");
  return edit(context, parameters, (message) => {
    if (message.media === undefined || message.media.location !== undefined)
      throw badRequest("there is no caption in the message to edit");
    if (formatted.text.length > maxCaptionLength) throw badRequest("message caption is too long");
    return formatted;
  });
};

export const editMessageReplyMarkup: Method = (context, parameters) =>
  edit(context, parameters, ({ text, entities, rich }) => ({ text, entities, rich }));

/** Edits a message. An edit without `reply_markup` removes the keyboard. */
export function edit(
  context: MethodContext,
  parameters: CallParameters,
  content: (message: StoredMessage) => Content & { readonly media?: Media },
): unknown {
  const markup = parseMarkup(parameters.json("reply_markup", "reply keyboard markup"));
  const chat = writableChat(context, parameters);
  const message = findMessage(chat, parameters.integer("message_id"), "message to edit");
  requireEditable(context, message);
  const next = content(message);
  if (isSame(message, next, markup)) {
    throw badRequest(
      "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
    );
  }
  context.world.editMessage(message, next, markup);
  return shown(context, chat, message);
}

function requireEditable({ world }: MethodContext, message: StoredMessage): void {
  const isOwn = message.from.id === world.bot.id;
  if (!isOwn || message.service !== undefined || message.markup?.kind === "other") {
    throw badRequest("message can't be edited");
  }
}

function isSame(
  message: StoredMessage,
  { text, entities, rich, media = message.media }: Content & { readonly media?: Media },
  markup: Markup | undefined,
): boolean {
  return (
    message.text === text &&
    JSON.stringify(message.media) === JSON.stringify(media) &&
    JSON.stringify(message.rich) === JSON.stringify(rich) &&
    JSON.stringify(message.entities.map(canonical)) === JSON.stringify(entities.map(canonical)) &&
    JSON.stringify(message.markup?.markup) === JSON.stringify(markup?.markup)
  );
}

function canonical(entity: object): object {
  return Object.fromEntries(Object.entries(entity).sort(([left], [right]) => left.localeCompare(right)));
}

export const sendMessageDraft: Method = (context, parameters) => {
  const { text, entities } = parameters.formatted("text", "entities");
  const chat = writableChat(context, parameters);
  if (chat.type !== "private") throw badRequest("TEXTDRAFT_PEER_INVALID");
  if (text.length > maxTextLength) throw badRequest("MESSAGE_TOO_LONG");
  showDraft(context, chat, parameters, { text, entities });
  return true;
};

export function showDraft(
  { world }: MethodContext,
  chat: ChatState,
  parameters: CallParameters,
  content: Content,
): void {
  const threadId = topicOf(chat, parameters);
  const id = parameters.integer("draft_id");
  if (id === 0) throw badRequest("RANDOM_ID_INVALID");
  chat.draft = {
    id,
    ...content,
    ...(threadId !== undefined && { threadId }),
    until: world.clock.now() + draftLifetimeMs,
    canStop: parameters.boolean("can_stop"),
    keepOnStop: parameters.boolean("keep_on_stop"),
  };
  world.onChange();
}

export const deleteMessage: Method = (context, parameters) => {
  const chat = writableChat(context, parameters);
  const message = findMessage(chat, parameters.integer("message_id"), "message to delete");
  if (!mayDelete(context, chat, message)) throw badRequest("message can't be deleted");
  context.world.deleteMessage(chat, message.id);
  return true;
};

/** Messages that do not exist, or may not be deleted, are skipped silently. */
export const deleteMessages: Method = (context, parameters) => {
  const ids = parameters.json("message_ids");
  if (!Array.isArray(ids) || ids.length === 0) throw badRequest("message identifiers are not specified");
  if (ids.length > 100) throw badRequest("too many message identifiers specified");
  const chat = writableChat(context, parameters);
  for (const id of ids) {
    const message = chat.messages.get(Number(id));
    if (message !== undefined && mayDelete(context, chat, message))
      context.world.deleteMessage(chat, message.id);
  }
  return true;
};

const deletableForSeconds = 48 * 3600;

function mayDelete({ world }: MethodContext, chat: ChatState, message: StoredMessage): boolean {
  if (world.nowSeconds() - message.date > deletableForSeconds) return false;
  if (message.from.id === world.bot.id || chat.type === "private") return true;
  return chat.botStatus === "administrator";
}
