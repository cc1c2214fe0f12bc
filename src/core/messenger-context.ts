import type { FetchedFile } from "./messenger.ts";
import type {
  MessengerAttachment,
  MessengerEvent,
  MessengerMemberChange,
  MessengerMessage,
  QuotedMessage,
} from "./messenger-event.ts";

/**
 * The event that the bot's code handles, with methods that fetch the files of its messages.
 *
 * It is plain JSON: the methods of its attachments are not copied by `JSON.stringify`, a spread, or a call to another
 * object.
 */
export interface MessengerContext extends MessengerEvent {
  readonly message?: MessengerContextMessage;
  /**
   * Files of all messages that the turn answers, such as every picture of an album. Files of quoted messages come last.
   * For a command, the files of its own message.
   */
  readonly attachments: readonly FetchableAttachment[];
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
