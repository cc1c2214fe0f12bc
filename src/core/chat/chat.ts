/**
 * Kind of a chat, as far as its platform tells. `group` on platforms that do not tell groups from channels.
 *
 * - `private`: one person and the bot
 * - `supergroup`: a large Telegram group, also one with topics
 * - `channel`: only its owners post there
 */
export type ChatKind = "private" | "group" | "supergroup" | "channel";

/** The facts that one event shows about its chat. Never chat text. */
export interface ChatFacts {
  readonly kind: ChatKind;
  /** In a private chat: the person's name. */
  readonly title?: string;
  /** IETF language tag of the person in a private chat. */
  readonly language?: string;
  /** The person of a private chat. */
  readonly userId?: string;
  /** The topic of the event, on platforms whose chats have named topics. */
  readonly topic?: TopicFacts;
  /**
   * Whether people in the chat can read the bot: `true` after an event of a person, `false` if the event says that the
   * bot was blocked or removed. Undefined if the event says neither.
   */
  readonly isReachable?: boolean;
  /** Why people cannot read the bot any more, if `isReachable` is `false`. @default "left" */
  readonly goneCode?: string;
}

export interface TopicFacts {
  readonly id: string;
  /** The name since this event. */
  readonly name?: string;
  /** The first name of the topic. It may have been renamed since. */
  readonly firstName?: string;
}

/** A chat in which the bot was seen. Plain JSON. */
export interface ChatEntry {
  /** The key of the messenger in `getMessengers()`. */
  readonly messengerId: string;
  readonly chatId: string;
  /** Ids that the chat had before it moved. */
  readonly aliases: readonly string[];
  readonly kind: ChatKind;
  /** In a private chat: the person's name. */
  readonly title?: string;
  /** IETF language tag of the person in a private chat. */
  readonly language?: string;
  /** The person of a private chat. */
  readonly userId?: string;
  /** The topics seen last, at most 100. */
  readonly topics: readonly ChatTopic[];
  /** Time of the last event, in epoch milliseconds, accurate to an hour. */
  readonly lastSeenAt: number;
  /** Time since which the bot cannot write there, in epoch milliseconds. Undefined if it can, as far as known. */
  readonly goneSince?: number;
  /** Reason for `goneSince`: `left` if the bot was blocked or removed, otherwise the code of a refused call. */
  readonly goneCode?: string;
}

export interface ChatTopic {
  readonly topicId: string;
  /** Undefined until an event names it. */
  readonly name?: string;
  /** Epoch milliseconds, accurate to an hour. */
  readonly lastSeenAt: number;
}

export interface ChatFilter {
  readonly messengerId?: string;
  readonly kind?: ChatKind;
  /** Whether the bot cannot write there any more. */
  readonly isGone?: boolean;
  /** The `cursor` of the page before. */
  readonly cursor?: string;
  /** At most 1000. @default 100 */
  readonly limit?: number;
}

/** Some chats, in the order of their messenger and id. */
export interface ChatPage {
  readonly chats: readonly ChatEntry[];
  /** Continues after these chats. Undefined on the last page. */
  readonly cursor?: string;
}
