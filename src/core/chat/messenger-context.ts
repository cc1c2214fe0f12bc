import type { FetchedFile } from "./messenger.ts";
import type {
  MessengerAction,
  MessengerAttachment,
  MessengerEvent,
  MessengerMemberChange,
  MessengerMessage,
  MessengerThread,
  QuotedMessage,
} from "./messenger-event.ts";

/**
 * The event that the bot's code handles, with methods that fetch the files of its messages.
 *
 * It is plain JSON: the methods of its attachments are not copied by `JSON.stringify`, a spread, or a call to another
 * object.
 */
export interface MessengerContext extends MessengerEvent {
  readonly thread: MessengerContextThread;
  readonly action?: MessengerContextAction;
  readonly message?: MessengerContextMessage;
  /**
   * Files of all messages that the turn answers, such as every picture of an album. Files of quoted messages come last.
   * For a command, the files of its own message.
   */
  readonly attachments: readonly FetchableAttachment[];
}

/** The thread of an event, with Think's names beside ours. They are not enumerable. */
export interface MessengerContextThread extends MessengerThread {
  /** Equals `chatId`. */
  readonly channelId?: string;
  /** Equals `title`. */
  readonly channelName?: string;
}

/** A press, with Think's names beside ours. They are not enumerable. */
export interface MessengerContextAction extends MessengerAction {
  /** Equals `data`, as `value` does. */
  readonly actionId?: string;
  readonly value?: string;
}

/** Somebody came to a chat of the bot, or left it. */
export interface ChatMemberEvent extends MessengerContext {
  readonly member: MessengerMemberChange;
}

export interface MessengerContextMessage extends MessengerMessage {
  readonly attachments: readonly FetchableAttachment[];
  readonly quoted?: QuotedMessage & { readonly attachments: readonly FetchableAttachment[] };
}

/** A file that somebody sent. The platform keeps its bytes, and these methods fetch them, also after a restart. */
export interface FetchableAttachment extends MessengerAttachment {
  /** Equals `sizeBytes`: Think's name for it. Not enumerable. */
  readonly size?: number;
  /**
   * Fetches the bytes, within 20 seconds. No error contains an address or a token.
   *
   * @throws {InvalidInputError} `attachment-too-large` over `maxBytes`, or another code if it can never be fetched
   * @throws {SwitchboardError} if the download failed and may succeed later
   */
  fetch(options?: FetchAttachmentOptions): Promise<FetchedFile>;
  /** Asks the platform for facts about the file, without its bytes. The message's own statements fill the gaps. */
  fetchMetadata(options?: Pick<FetchAttachmentOptions, "signal">): Promise<AttachmentMetadata>;
}

export interface FetchAttachmentOptions {
  /** Most bytes to fetch, at most 52428800 (50 MiB). @default the messenger's `maxMediaBytes` */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

export type AttachmentMetadata = Pick<MessengerAttachment, "kind" | "mediaType" | "name" | "sizeBytes">;
