import type { MessengerCommand } from "../../../src/core/chat/messenger-event.ts";
import type { MessageEntity, TelegramMessage } from "./message-schema.ts";
import { typedText, withLinkTargets } from "./readable-text.ts";

/** How to recognise the bot in a message. */
export interface BotNames {
  readonly botId: string;
  /** Returns the user name in lower case, without `@`. Called only if a message cannot be read without it. */
  readonly userName: () => Promise<string | undefined>;
}

/**
 * Whether a message addresses the bot. `command` is a command for this bot; another bot's command addresses nobody
 * here.
 */
export interface Addressing {
  readonly isMention: boolean;
  readonly command?: MessengerCommand;
  /** See `MessengerMessage.textToBot`. */
  readonly textToBot?: string;
}

/**
 * Reads whether a message addresses the bot: `@name`, a mention of the bot's id, a reply to one of its messages, or
 * `/command@name`. In a group a bare `/command` addresses every bot that sees it.
 */
export async function addressingOf(message: TelegramMessage, bot: BotNames): Promise<Addressing> {
  const isPrivate = message.chat.type === "private";
  const { text, entities } = typedText(message);
  const command = await commandOf(text, entities, bot);
  if (command !== undefined) return { isMention: !isPrivate, command };
  if (isPrivate) return { isMention: false };
  const names = await namesIn(text, entities, bot);
  const textToBot = withoutName(text, names);
  return {
    isMention: isReplyToBot(message, bot.botId) || names.length > 0,
    ...(textToBot !== undefined && { textToBot }),
  };
}

/**
 * Tells whether a message is a reply to one of the bot's messages. The message that opens a forum topic does not count,
 * because every message in the topic replies to it.
 */
export function isReplyToBot(message: TelegramMessage, botId: string): boolean {
  const replied = message.reply_to_message;
  if (!replied || isTopicOpening(message)) return false;
  return !replied.sender_chat && replied.from !== undefined && String(replied.from?.id) === botId;
}

/**
 * Tells whether a message only replies to the opening of its forum topic. Every message of a topic that replies to
 * nothing else does.
 */
export function isTopicOpening(message: TelegramMessage): boolean {
  const replied = message.reply_to_message;
  if (!replied || replied.message_id !== message.message_thread_id) return false;
  return message.is_topic_message === true || Boolean(replied.forum_topic_created);
}

async function commandOf(
  text: string,
  entities: readonly MessageEntity[],
  bot: BotNames,
): Promise<MessengerCommand | undefined> {
  const entity = entities.find((one) => one.type === "bot_command" && one.offset === 0);
  if (entity === undefined) return undefined;
  const [, name, target] = /^\/(\w{1,64})(?:@(\w+))?$/.exec(text.slice(0, entity.length)) ?? [];
  if (name === undefined) return undefined;
  if (target !== undefined && target.toLowerCase() !== (await bot.userName())) return undefined;
  // Link targets are inserted only after the command, so its length is still right.
  const args = withLinkTargets(text, entities).slice(entity.length).trim();
  return { name: name.toLowerCase(), args };
}

async function namesIn(
  text: string,
  entities: readonly MessageEntity[],
  bot: BotNames,
): Promise<MessageEntity[]> {
  const nameIn = (entity: MessageEntity): string | undefined => {
    const label = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
    if (entity.type === "mention") return label.replace(/^@/, "");
    return entity.type === "bot_command" ? label.split("@")[1] : undefined;
  };
  const isNamed = entities.some((entity) => nameIn(entity) !== undefined);
  const userName = isNamed ? await bot.userName() : undefined;
  return entities.filter((entity) =>
    entity.type === "text_mention"
      ? String(entity.user?.id) === bot.botId
      : userName !== undefined && nameIn(entity) === userName,
  );
}

/** Returns the rest of a text that begins or ends with a name of the bot. */
function withoutName(text: string, names: readonly MessageEntity[]): string | undefined {
  for (const { length, offset, type } of names) {
    if (type === "bot_command") continue;
    const before = text.slice(0, offset).trim();
    const after = text.slice(offset + length).trim();
    if (before === "" && after !== "") return after.replace(/^[,:]\s*/, "") || undefined;
    if (after === "" && before !== "") return before.replace(/\s*,$/, "") || undefined;
  }
  return undefined;
}
