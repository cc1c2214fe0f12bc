/** An event in a chat, in one form for all platforms. Plain JSON. */
export interface MessengerEvent {
  /** The platform's identity of the event, equal for every redelivery (I2). */
  readonly key: string;
  readonly kind: MessengerEventKind;
  /** The key of the messenger in `getMessengers()`. */
  readonly messengerId: string;
  /** The platform: `telegram`, `slack`, ... */
  readonly provider: string;
  readonly thread: MessengerThread;
  readonly author?: MessengerAuthor;
  readonly message?: MessengerMessage;
  readonly action?: MessengerAction;
  readonly stop?: MessengerStop;
  readonly reaction?: MessengerReaction;
  /** Of `membership` and `service`: who came or went. */
  readonly member?: MessengerMemberChange;
  readonly capabilities: MessengerCapabilities;
  /** Kind of a service event for the log ("joined", "pinned"). Never chat text. */
  readonly detail?: string;
  /** The platform's own object. Not part of transcripts and logs. */
  readonly raw?: unknown;
}

/**
 * - `direct-message`: in a private chat with the bot
 * - `mention`: the bot is addressed in a group, by name or by a reply to one of its messages
 * - `message`: any other message of a group or channel; answered only in a subscribed thread
 * - `action`: a button was pressed
 * - `stop`: the platform's own button that ends the answer being written
 * - `reaction`: somebody reacted to a message, or took a reaction back
 * - `update`: a kind of update that only the bot's own code handles, raw
 * - `message-edited`, `message-deleted`: about an earlier message
 * - `membership`: the person blocked or unblocked the bot, or the bot was added or removed
 * - `service`: joined, pinned, title changed and the like; starts no turn
 * - `ignored`: a kind of update that this provider does not handle
 */
export type MessengerEventKind =
  | "direct-message"
  | "mention"
  | "message"
  | "action"
  | "stop"
  | "reaction"
  | "update"
  | "message-edited"
  | "message-deleted"
  | "membership"
  | "service"
  | "ignored";

export interface MessengerThread {
  /**
   * Unique over all platforms. For Chat SDK adapters the adapter's own thread id, for example `telegram:-100123:45`.
   */
  readonly id: string;
  /** The chat that has the budget for calls. All topics of a forum share it (I7). */
  readonly chatId: string;
  /** The topic or sub-thread inside the chat. */
  readonly topicId?: string;
  readonly isDirectMessage: boolean;
  readonly title?: string;
  /**
   * The chat that numbers the message ids of an event from before its chat moved (`ChatMove`). The ids are not valid in
   * the new chat.
   */
  readonly formerChatId?: string;
}

export interface MessengerAuthor {
  readonly userId: string;
  readonly userName?: string;
  readonly fullName?: string;
  readonly isBot?: boolean;
  /**
   * Whether a chat is the author: an anonymous administrator writes as the group, and people may write as a channel.
   * `userId` is the id of that chat then, and the person behind it is not known.
   */
  readonly isChat?: boolean;
  /** IETF language tag, when the platform tells it. */
  readonly language?: string;
}

export interface MessengerMessage {
  /** The platform's id of the message, unique within its chat. */
  readonly id: string;
  /** The text as the person wrote it. Mentions of the bot are readable (`@name`). */
  readonly text: string;
  /** The person who wrote it, if the platform tells. Equals the event's author. */
  readonly author?: MessengerAuthor;
  /** Time at which the person sent it, in epoch milliseconds. */
  readonly sentAt: number;
  /** Time of the last edit, in epoch milliseconds. */
  readonly editedAt?: number;
  readonly isMention: boolean;
  /**
   * The text without the mention of the bot with which it begins or ends: `yes` of `@my_bot yes`. Undefined if there is no
   * such mention, or nothing else.
   */
  readonly textToBot?: string;
  /** Whether a thread of the chat begins with this message, so that it continues nothing. @default false */
  readonly beginsThread?: boolean;
  /** A command addressed to this bot. `/start payload` is `{ name: "start", args: "payload" }`. */
  readonly command?: MessengerCommand;
  /**
   * Whether the platform has taken it as a command for the bot. Platforms show where its answer will be, so it gets one of
   * its own. It subscribes no thread. @default false
   */
  readonly isSlashCommand?: boolean;
  /** The message that this one replies to. */
  readonly quoted?: QuotedMessage;
  /** Messages of one album share it and come as separate events. */
  readonly albumId?: string;
  readonly attachments: readonly MessengerAttachment[];
}

export interface MessengerCommand {
  /** Lower case, without the slash and without `@bot`. */
  readonly name: string;
  readonly args: string;
  /**
   * True if the platform sends the command to this bot alone, as with registered slash commands. In a group it is then
   * a question to the bot, even if the bot does not know the command.
   */
  readonly isForThisBot?: boolean;
}

export interface QuotedMessage {
  readonly id: string;
  readonly text: string;
  readonly author?: MessengerAuthor;
  /** Whether the bot itself wrote it. */
  readonly isFromBot: boolean;
  readonly attachments: readonly MessengerAttachment[];
}

export interface MessengerAction {
  /** The platform's id of the press, needed to answer it. */
  readonly id: string;
  /** Data of the button: at most 64 bytes on Telegram. */
  readonly data: string;
  /** The message with the button. */
  readonly messageId?: string;
  /**
   * The platform's permission to answer this press, good for some minutes. A secret. Undefined if the platform needs
   * none.
   */
  readonly token?: string;
}

export interface MessengerStop {
  /**
   * The draft under which the button was pressed (`OutgoingDraft.id`), so that a late press does not end a later
   * answer.
   */
  readonly draftId: number;
}

/** A change of one person's reactions to one message. Each is an emoji, or `custom:<id>`, or Telegram's `paid`. */
export interface MessengerReaction {
  /** The id of the message, which anybody may have written. */
  readonly messageId: string;
  /**
   * All reactions of the person. Empty after the last one was taken back. Undefined on platforms that tell only the
   * change.
   */
  readonly current?: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Somebody came to a chat, or left it. */
export interface MessengerMemberChange {
  /**
   * - `added`, `removed`: the bot, to or from a group or a channel; the event's author did it
   * - `blocked`, `unblocked`: the bot, by the person of a private chat
   * - `joined`, `left`: people, and other bots, in a group
   */
  readonly change: "added" | "removed" | "blocked" | "unblocked" | "joined" | "left";
  /** Those who joined or left. Empty if it is the bot. */
  readonly people: readonly MessengerAuthor[];
}

export interface MessengerAttachment {
  readonly kind: "image" | "document" | "audio" | "voice" | "video" | "animation" | "sticker" | "other";
  /** Data to fetch the bytes later: JSON, never a URL with a token in it. */
  readonly reference: AttachmentReference;
  readonly mediaType?: string;
  readonly name?: string;
  readonly sizeBytes?: number;
}

/** Plain JSON that only the provider understands, for example `{ fileId }`. */
export type AttachmentReference = Readonly<Record<string, string | number | boolean>>;

export interface MessengerCapabilities {
  readonly canEditMessages: boolean;
  readonly canStream: boolean;
  /** Counted as the platform counts. */
  readonly maxMessageLength: number;
  readonly supportsActions: boolean;
  readonly supportsAttachments: boolean;
}
