import type { ChatPlace } from "./chat-move.ts";
import type { FileKind, LocationContent, RemoteFile } from "../message/content.ts";
import type { MessengerAction } from "./messenger-event.ts";
import type { DeliveryMode } from "./delivery-mode.ts";
import type { Placeholder } from "../message/placeholder.ts";
import type { RichText, TextFormat, TextLimits } from "../message/rich-text.ts";

/** Destination of a message. Plain JSON, stored with every outbox row. */
export interface Address {
  /** The key of the messenger in `getMessengers()`. */
  readonly messengerId: string;
  /** The platform's thread, as in `MessengerThread.id`. */
  readonly threadId: string;
  /** The platform's chat, which has the budget for the calls (I7, I8). */
  readonly chatId: string;
  /** The topic inside the chat, if there is one. */
  readonly topicId?: string;
  readonly isDirectMessage: boolean;
}

export interface SurfaceCapabilities {
  /** Whether a posted message can be changed later. If not, the mode `edit` means `buffered`. */
  readonly edit: boolean;
  readonly remove: boolean;
  readonly typing: boolean;
  /** Whether a message can have buttons. If not, cards list them as text. */
  readonly buttons: boolean;
  /** The most that a message with buttons can have. A card with more has numbered options. @default no limits */
  readonly buttonLimits?: ButtonLimits;
  /** Whether a button can open an address. If not, cards link to it. @default true */
  readonly linkButtons?: boolean;
  /** Whether a button can copy a text. If not, cards show the text. @default false */
  readonly copyButtons?: boolean;
  /** How `answerAction` shows a notice to the person who pressed a button. @default "note" */
  readonly privateWords?: PrivateWords;
  /** Whether a message can have a picture above its text. If not, cards link to it. @default false */
  readonly images?: boolean;
  /** Undefined if messages cannot have files. Addresses of files are then linked in the text. */
  readonly files?: FileCapabilities;
  /** Whether a message can show a place on a map. @default false */
  readonly location?: boolean;
}

/**
 * - `note`: a note or a dialog that passes. It may be shown again. The platform waits for the answer to each press.
 * - `message`: a message in the chat that only this person sees. In a private chat it is an ordinary message.
 * - `none`: not at all. In a private chat it is an ordinary message.
 */
export type PrivateWords = "note" | "message" | "none";

/** Lengths count in the unit of the surface's `limits`. */
export interface ButtonLimits {
  /** Most rows of a message. Longer cards get as many buttons in a row as possible. */
  readonly maxRows: number;
  readonly maxPerRow: number;
  /** Longest text of a message with buttons. */
  readonly maxTextLength: number;
  /** Longest text beside these buttons, if they share a limit. Below 1 if they fit no message. @default `maxTextLength` */
  readonly textRoom?: (buttons: readonly OutgoingButton[]) => number;
  /** Longest label of a button. */
  readonly maxLabelLength: number;
}

export interface FileCapabilities {
  /**
   * Most bytes of one file that is uploaded, by kind. 0: the platform takes no files of this kind. People then get a
   * link to the file, or its name.
   */
  readonly maxBytes: (kind: FileKind) => number;
  /**
   * Media types of the photos that the platform shows, as their bytes tell. People get a link to any other one, and to a
   * GIF that moves, or its name. @default all
   */
  readonly photoTypes?: readonly string[];
  /** Most files of one message. More files become several messages. 1: no albums. */
  readonly maxAlbumSize: number;
  /** Whether a message can have files and words. If not, words follow the first file. @default true */
  readonly hasCaptions?: boolean;
  /** Whether the platform takes its own file ids, and addresses that it fetches itself. @default true */
  readonly references?: boolean;
  /** Time limit of a call with the largest files, in milliseconds. Smaller files have less time. */
  readonly callTimeoutMs: number;
}

/**
 * Finds a post whose answer was lost. For platforms on which message ids are integers that grow by one within a box,
 * and a bot can edit only its own messages.
 */
export interface Probing {
  /** Returns the box that numbers the messages of this chat. */
  box(address: Address): string;
  /**
   * Asks about one message. The call changes nothing, except that it may give the lost message its intended text.
   * - `own`: a message of this bot in this chat.
   * - `other`: a message of another author or chat, or no message.
   * - `none`: certainly no message. Only if the box has one chat.
   */
  probe(address: Address, messageId: string, options: ProbeOptions): Promise<"own" | "other" | "none">;
}

export interface ProbeOptions extends CallOptions {
  /**
   * Intended content of the lost message. Undefined if it is not needed any more, or if a message that is found may be
   * another one, which must keep its text.
   */
  readonly intended?: OutgoingContent | undefined;
  /** Buttons of the lost message, so that it keeps them. */
  readonly buttons?: OutgoingContent["buttons"];
}

/**
 * Finds a post whose answer was lost, by the key that it carried or by listing what was posted. For platforms whose
 * message ids are not consecutive.
 */
export interface PostSearch {
  /**
   * Time for which the platform remembers the key of a post, in milliseconds. A second post with the same key within it
   * makes no message, and returns the first one with the text that it has. A lost post is then simply repeated.
   *
   * @default 0: a second post makes a second message
   */
  readonly repeatableForMs?: number;
  /**
   * Returns the messages that the posts with this key have made, the earliest first: usually one, or none. `undecided`
   * if the platform does not tell. Changes nothing.
   */
  find(
    address: Address,
    lost: LostPost,
    options: CallOptions,
  ): Promise<readonly PostedMessage[] | "undecided">;
}

export interface LostPost {
  readonly key: string;
  /** Time at which the first post with this key began, in epoch milliseconds of the bot's clock. */
  readonly since: number;
  /** Time after which none of its posts can have landed. */
  readonly until: number;
  /** Whether a text that the platform shows is one of the lost texts, whatever its markup. */
  readonly isText: (text: string) => boolean;
  /** Whether a message is known to be another one of this conversation. */
  readonly isOther: (messageId: string) => boolean;
}

/**
 * Messages made of blocks. `post`, `edit` and `drafts.show` of such a surface accept contents with `blocks`. A message
 * may be edited from one form to the other.
 *
 * If the platform refuses a message because of this form, the failure is `rejected`, and the engine sends the ordinary
 * form instead.
 */
export interface RichMessages {
  /** `maxEntities` counts blocks, including list items and rows of tables. */
  readonly limits: TextLimits;
  /** Code of a refusal that applies to every rich message: the platform does not know them. */
  readonly unsupportedCode: string;
  /** Code of a refusal of this content only. A draft refused with another code was refused because it is a draft. */
  readonly refusedCode: string;
  /**
   * Code of an `unknown` failure that may come from a server in between which does not know the method. Two of them
   * without a success between them count as a refusal of all rich messages.
   */
  readonly doubtfulCode: string;
}

/** Content of a message. */
export interface OutgoingContent extends RichText {
  /** Whether links show a preview, if the platform lets the bot choose. @default false */
  readonly linkPreviews?: boolean;
  /** Rows of buttons. An edit without buttons removes those of the message. @default none */
  readonly buttons?: readonly (readonly OutgoingButton[])[];
  /** Whether the message belongs to a card, which has buttons or may get some. @default false */
  readonly isCard?: boolean;
  /** A picture above the text. An edit can change the picture, but not add one or take it away. @default none */
  readonly image?: OutgoingImage;
  /** For an edit: whether the text is the caption of a picture or a file, which stays as it is. @default false */
  readonly isCaption?: boolean;
  /**
   * The file of the message, or the files of an album. The text is their caption. An edit does not change them.
   * @default none
   */
  readonly files?: readonly OutgoingMedia[];
  /** A place. The message then has no text and cannot be edited. @default none */
  readonly location?: Omit<LocationContent, "kind">;
}

/** A button of a message. `token` is opaque and has at most 64 bytes. A press returns it as `MessengerAction.data`. */
export type OutgoingButton =
  | { readonly kind: "callback"; readonly label: string; readonly token: string }
  | { readonly kind: "link"; readonly label: string; readonly url: string }
  | { readonly kind: "copy"; readonly label: string; readonly text: string };

/** A picture of a message: stored bytes, or a file that the platform can fetch by itself. */
export type OutgoingImage = RemoteFile | OutgoingMedia;

/** A file as it is stored and sent. Plain JSON. */
export interface OutgoingMedia {
  readonly kind: FileKind;
  /** Name that people see. Without control characters. */
  readonly name: string;
  readonly mediaType: string;
  readonly source: MediaSource;
  /** The public address that its bytes are from. */
  readonly url?: string | undefined;
  /** Set if it cannot be sent. People read this text (Markdown) in its place, and no surface gets it. */
  readonly refusal?: FileRefusal | undefined;
}

export interface FileRefusal {
  readonly code: string;
  readonly text: string;
}

export type MediaSource =
  /** Stored bytes, by their SHA-256: `CallOptions.openFile` streams them. */
  | { readonly kind: "bytes"; readonly hash: string; readonly sizeBytes: number }
  /** A file that the platform already has. */
  | { readonly kind: "platform"; readonly fileId: string }
  /** An address that the platform fetches. */
  | { readonly kind: "address"; readonly url: string };

export interface OutgoingMessage extends OutgoingContent {
  /**
   * Names this message, if the surface has a `search`: up to 24 lower-case letters and digits. A post that repeats a lost
   * one has the same key, any other message has a new one.
   */
  readonly key?: string;
  /**
   * The platform's id of the message that this one answers. If the platform refuses the post because that message no
   * longer exists, the failure is `missing`, and the engine posts again without it.
   */
  readonly replyTo?: string;
  /** Whether it arrives without a sound, if the platform lets the bot choose. @default false */
  readonly silent?: boolean;
  /** Whether it cannot be forwarded or saved, if the platform lets the bot choose. @default false */
  readonly protect?: boolean;
}

/**
 * Previews of a message that is still being written. They have no message id, fade by themselves, and disappear when
 * the bot posts a message to the same thread. Private chats only.
 */
export interface Drafts {
  /** Time that a draft stays visible, in milliseconds. The engine shows it again before that. */
  readonly lastsMs: number;
  /** Shows a draft, or changes the one with this id. */
  show(address: Address, draft: OutgoingDraft, options: CallOptions): Promise<void>;
}

export interface OutgoingDraft extends OutgoingContent {
  /** From 1 to 2147483647, one for each reply. The platform's stop event contains it. */
  readonly id: number;
}

/**
 * A platform's own way to stream into a message. Requires `capabilities.edit`: if the streamed text turns out to be
 * wrong, the engine ends the stream and edits the message.
 */
export interface NativeStream {
  /** Posts a message that grows. */
  begin(address: Address, message: OutgoingMessage, options: CallOptions): Promise<PostedMessage>;
  /** Adds text at the end. If the answer is lost, the call is not repeated, because it may have succeeded. */
  append(address: Address, messageId: string, more: RichText, options: CallOptions): Promise<void>;
  /** Turns the message into an ordinary one. Does nothing if the stream has ended already. */
  end(address: Address, messageId: string, options: CallOptions): Promise<void>;
}

/** Options of one call. `signal` is the engine's time limit. When it aborts, the surface must end the request. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** Streams the bytes of a stored file. Set for posts with files. Throws if the bytes are no longer stored. */
  readonly openFile?: (hash: string) => ReadableStream<Uint8Array>;
  /**
   * For a post: the placeholder that the message replaces. The call can be repeated without harm. With the failure
   * `missing` the engine posts again without it. Only set on platforms that have placeholders.
   */
  readonly placeholder?: Placeholder;
  /**
   * Hears how far the request of an upload has left. A surface that can tell calls it before the first byte, with each
   * piece, and with `true` before the last one. If the call ends before that, the platform certainly did nothing.
   */
  readonly onSent?: (isWhole: boolean) => void;
}

/**
 * One platform as the delivery engine sees it.
 *
 * Every method makes exactly one call to the platform. It never retries, waits or splits. It throws the platform's
 * answer, and `classifyError` tells what that means. No error that leaves a surface may contain a token or a URL with
 * one (I10).
 */
export interface Surface {
  readonly provider: string;
  readonly capabilities: SurfaceCapabilities;
  readonly format: TextFormat;
  /**
   * Format of all messages of a card (`isCard`), if their texts are written otherwise. They then have the limit of
   * messages with buttons. @default `format`
   */
  readonly cardFormat?: TextFormat;
  readonly limits: TextLimits;
  /** Limits of the text below a picture. @default `limits` */
  readonly captionLimits?: TextLimits;
  /** The platform's pacing for one chat and for the whole bot. */
  readonly pacing: Pacing;
  /**
   * Returns the account whose limit a call counts against, on platforms that limit accounts instead of chats. A penalty
   * then holds for all chats of the account. May reject, which delays the call. @default each chat has its own limit
   */
  readonly accountOf?: (address: Address) => Promise<string>;
  /** Whether of two messages of a thread the later one has the higher id, an integer. @default false */
  readonly numbersThreads?: boolean;
  /** How replies appear whose policy names no mode. @default "edit" */
  readonly mode?: DeliveryMode;
  /** Least time between two interim edits of one message, in milliseconds, if the policy sets none. @default 700 */
  readonly editEveryMs?: number;
  /** Time limit of a call with text, in milliseconds, unless the policy sets one. @default 15000 */
  readonly callTimeoutMs?: number;
  /** Time that a typing indicator stays visible, in milliseconds. The engine refreshes it before that. */
  readonly typingLastsMs: number;
  post(address: Address, message: OutgoingMessage, options: CallOptions): Promise<PostedMessage>;
  edit(address: Address, messageId: string, message: OutgoingContent, options: CallOptions): Promise<void>;
  remove(address: Address, messageId: string, options: CallOptions): Promise<void>;
  typing(address: Address, options: CallOptions): Promise<void>;
  /**
   * Removes a placeholder that no message replaces. Can be repeated: `missing` says that it is gone. Undefined if the
   * platform has no placeholders.
   */
  readonly removePlaceholder?: (placeholder: Placeholder, options: CallOptions) => Promise<void>;
  /**
   * Answers a press of a button. The person who pressed sees a short notice, or nothing. With `privateWords: "message"`
   * it is called only if there is a notice, and with `"none"` never.
   */
  answerAction(
    address: Address,
    press: Press,
    notice: ActionNotice | undefined,
    options: CallOptions,
  ): Promise<void>;
  /** Sets or removes the bot's own reaction to a message. Undefined if the platform has no reactions. */
  readonly react?: (
    address: Address,
    messageId: string,
    emoji: string | undefined,
    options: CallOptions,
  ) => Promise<void>;
  /**
   * Pins a message to its chat, or unpins it: without an id, the one that was pinned last. Undefined if the platform has
   * no pins.
   */
  readonly pin?: (
    address: Address,
    messageId: string | undefined,
    pinning: { readonly isPinned: boolean; readonly silent?: boolean },
    options: CallOptions,
  ) => Promise<void>;
  /** Undefined if the platform has no drafts. `mode: "draft"` then means `edit`. */
  readonly drafts?: Drafts;
  /** Undefined if messages are text with entities or markup. `richMessages` then has no effect. */
  readonly rich?: RichMessages;
  /** Undefined if messages cannot be streamed. `mode: "native"` then means `edit`. */
  readonly stream?: NativeStream;
  /**
   * Way to find out the outcome of a lost post: by consecutive ids (`probing`), or by a key or a list (`search`). If both
   * are undefined, `onUnknown` decides alone.
   */
  readonly probing?: Probing;
  readonly search?: PostSearch;
  /** Classifies any value that a method above threw, including unknown ones. */
  classifyError(error: unknown): CallFailure;
}

/** A press of a button, as far as an answer needs it. Plain JSON. */
export interface Press extends Pick<MessengerAction, "id" | "messageId" | "token"> {
  /** The person who pressed. Undefined if the platform does not tell. */
  readonly userId?: string;
}

export interface ActionNotice {
  readonly text: string;
  /** Shows a dialog that the person closes, instead of a passing note. @default false */
  readonly alert?: boolean;
}

export interface PostedMessage {
  /** The platform's id of the message; of an album's first message, which has the caption. */
  readonly messageId: string;
  /** All messages of an album, in order. Undefined for a single message. */
  readonly messageIds?: readonly string[];
  /** The platform's ids of the files that were sent, in order, by which the same bot can send them again. */
  readonly fileIds?: readonly (string | undefined)[];
}

export interface Pacing {
  /** Calls that a private chat may make at once, and the spacing after them. */
  readonly direct: Rate;
  readonly group: Rate;
  /** All chats of the bot together. */
  readonly global: Rate;
}

/** A token bucket: `burst` calls at once, then one more every `everyMs`. */
export interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

/**
 * Meaning of a failed call, which decides about recovery. `code` is stable, for logs and receipts, and contains no text
 * of the platform.
 *
 * - `retry-after`: refused for pacing. The chat gets a penalty of `retryAfterMs` (I8), with `isOfAccount` all chats of the
 *   account.
 * - `transient`: certainly not done (refused connection, 5xx before processing). Retry with backoff.
 * - `unknown`: possibly done (time-out, cut connection). A post is never repeated blindly (I6).
 * - `gone`: the person blocked the bot, the bot was removed, or the chat or topic no longer exists.
 * - `moved`: the chat has a new id. Nothing was done, and nothing in the old chat can be changed any more.
 * - `missing`: the message to edit or remove no longer exists, or (`isLocked`) it exists but cannot be changed or removed
 *   any more.
 * - `unchanged`: the edit would change nothing, which counts as success.
 * - `rejected`: the platform refuses this content. Fall back to plain text, then fail.
 * - `misconfigured`: the token is wrong, or the API answers in an unexpected way. Retry slowly and tell the owner.
 */
export type CallFailure =
  | {
      readonly kind: "retry-after";
      readonly code: string;
      readonly retryAfterMs: number;
      /** Whether the platform refuses the whole account. @default only if the platform limits accounts */
      readonly isOfAccount?: boolean | undefined;
    }
  | { readonly kind: "transient"; readonly code: string }
  | { readonly kind: "unknown"; readonly code: string }
  | {
      readonly kind: "gone";
      readonly code: string;
      /** `thread`: other threads of the chat are not affected. @default "chat" */
      readonly scope?: "chat" | "thread" | undefined;
    }
  | { readonly kind: "moved"; readonly code: string; readonly to: ChatPlace }
  | { readonly kind: "missing"; readonly code: string; readonly isLocked?: boolean | undefined }
  | { readonly kind: "unchanged"; readonly code: string }
  | {
      readonly kind: "rejected";
      readonly code: string;
      /**
       * Set if the platform refused a file: its id, its kind (photo, voice), or the file itself. The engine then sends
       * the bytes, or sends it as a document or as audio. @default the text was refused
       */
      readonly about?: "file-id" | "photo" | "voice" | "file" | undefined;
    }
  | { readonly kind: "misconfigured"; readonly code: string };

/** The surfaces of a bot's messengers. */
export interface SurfaceSource {
  /** Returns a messenger's surface. May throw if it is no longer declared; its replies then end as `failed`. */
  surface(messengerId: string): Surface;
}
