import type { ChatPlace } from "./chat-move.ts";
import type { RichText, TextFormat, TextLimits } from "./rich-text.ts";

/** Where a message goes. Plain JSON; it is stored with every outbox row. */
export interface Address {
  /** The key of the messenger in `getMessengers()`. */
  readonly messengerId: string;
  /** The platform's thread, as in `MessengerThread.id`. */
  readonly threadId: string;
  /** The platform's chat, which meters the calls (I7, I8). */
  readonly chatId: string;
  /** The topic inside the chat, where there is one. */
  readonly topicId?: string;
  readonly isDirectMessage: boolean;
}

export interface SurfaceCapabilities {
  /** A posted message can be changed later. Without it the mode `edit` means `buffered`. */
  readonly edit: boolean;
  readonly remove: boolean;
  readonly typing: boolean;
  readonly buttons: boolean;
}

/**
 * How a post whose answer was lost is found again, on platforms whose message ids are integers that grow by one within
 * a box, and that let a bot edit nothing but its own messages.
 */
export interface Probing {
  /** The box that numbers the messages of this chat. */
  box(address: Address): string;
  /**
   * Asks about one message with a call that changes nothing, or that at most makes it say what it should say if it is
   * the lost one. `own`: a message of this bot, in this chat. `other`: of
   * somebody else, of another chat, or none at all. `none`, where a box has one chat only and that is certain: there is
   * no such message.
   */
  probe(address: Address, messageId: string, options: ProbeOptions): Promise<"own" | "other" | "none">;
}

export interface ProbeOptions extends CallOptions {
  /** What the lost message should say; nothing when it is not needed any more. */
  readonly intended?: OutgoingContent | undefined;
}

/**
 * Messages that are made of blocks: `post`, `edit` and `drafts.show` of such a surface take contents with `blocks`. A
 * message may be edited from one form to the other. Whatever the platform refuses for being such a message is
 * `rejected`; the engine then says the same in the ordinary form.
 */
export interface RichMessages {
  /** `maxEntities` counts blocks, with list items and rows of tables. */
  readonly limits: TextLimits;
  /** The code of a refusal that every other rich message would meet, too: the platform does not know such messages. */
  readonly unsupportedCode: string;
  /** The code of a refusal of just this one's content. A draft that is refused with another code is refused as a draft. */
  readonly refusedCode: string;
  /**
   * The code of an `unknown` failure that is perhaps the answer of a server in between to a method it does not know. The
   * engine takes two of them, without a success between, for a refusal of all rich messages.
   */
  readonly doubtfulCode: string;
}

/** What a message shows. */
export interface OutgoingContent extends RichText {
  /** Whether links show a preview, where the platform leaves that to the bot. @default false */
  readonly linkPreviews?: boolean;
}

export interface OutgoingMessage extends OutgoingContent {
  /**
   * The platform's id of the message that this one answers. Where a missing one makes the platform refuse the post, that
   * is `missing`, and the engine posts again without it.
   */
  readonly replyTo?: string;
}

/**
 * Previews of a message that is still being written. They have no message id, fade by themselves, and are gone as soon
 * as the bot posts a message to the same thread. Private chats only.
 */
export interface Drafts {
  /** How long a draft stays visible, in milliseconds; it is shown again before that. */
  readonly lastsMs: number;
  /** Shows a draft, or changes the one with this id. */
  show(address: Address, draft: OutgoingDraft, options: CallOptions): Promise<void>;
}

export interface OutgoingDraft extends OutgoingContent {
  /** From 1 to 2147483647; one for each reply. A stop event of the platform names it. */
  readonly id: number;
}

/**
 * A platform's own way of streaming into a message. Needs `capabilities.edit`: when a text turns out to be another one
 * than what was streamed, the engine ends the stream and edits the message.
 */
export interface NativeStream {
  /** Posts a message that grows. */
  begin(address: Address, message: OutgoingMessage, options: CallOptions): Promise<PostedMessage>;
  /** Adds to its end. Without an answer it is not repeated, because it may have been done. */
  append(address: Address, messageId: string, more: RichText, options: CallOptions): Promise<void>;
  /** Nothing is added any more: from here on it is an ordinary message. For one that has ended already: nothing. */
  end(address: Address, messageId: string, options: CallOptions): Promise<void>;
}

/** Options of one call. `signal` is the engine's time limit; the surface must end the request when it aborts. */
export interface CallOptions {
  readonly signal: AbortSignal;
}

/**
 * One platform as the delivery engine sees it. Every method makes exactly one call to the platform and never retries,
 * waits or splits by itself; it throws whatever the platform answered, and `classifyError` says what that means.
 * No error that leaves a surface may hold a token or a URL with one (I10).
 */
export interface Surface {
  readonly provider: string;
  readonly capabilities: SurfaceCapabilities;
  readonly format: TextFormat;
  readonly limits: TextLimits;
  /** The platform's pacing for one chat and for the bot as a whole. */
  readonly pacing: Pacing;
  /** Longest time that a call with text may take, in milliseconds, unless the policy says otherwise. @default 15000 */
  readonly callTimeoutMs?: number;
  /** How long a typing indicator stays visible, in milliseconds; it is refreshed before that. */
  readonly typingLastsMs: number;
  post(address: Address, message: OutgoingMessage, options: CallOptions): Promise<PostedMessage>;
  edit(address: Address, messageId: string, message: OutgoingContent, options: CallOptions): Promise<void>;
  remove(address: Address, messageId: string, options: CallOptions): Promise<void>;
  typing(address: Address, options: CallOptions): Promise<void>;
  /** Answers a press of a button: a short notice for the one who pressed, or nothing. */
  answerAction(
    address: Address,
    actionId: string,
    notice: ActionNotice | undefined,
    options: CallOptions,
  ): Promise<void>;
  /** Absent where there are no drafts: `mode: "draft"` means `edit` then. */
  readonly drafts?: Drafts;
  /** Absent where a message is text with entities or markup: `richMessages` changes nothing then. */
  readonly rich?: RichMessages;
  /** Absent where messages are not streamed: `mode: "native"` means `edit` then. */
  readonly stream?: NativeStream;
  /** Absent where the outcome of a lost post cannot be found out; then the policy alone decides. */
  readonly probing?: Probing;
  /** Total: any value that a method above threw, and anything unknown, gets a class. */
  classifyError(error: unknown): CallFailure;
}

export interface ActionNotice {
  readonly text: string;
  /** A dialog that the person closes, instead of a passing note. @default false */
  readonly alert?: boolean;
}

export interface PostedMessage {
  readonly messageId: string;
}

export interface Pacing {
  /** Calls that may be made at once in a private chat before pacing sets in, and the spacing after. */
  readonly direct: Rate;
  readonly group: Rate;
  /** All chats of the bot together. */
  readonly global: Rate;
}

/** A token bucket: `burst` calls at once, one more every `everyMs`. */
export interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

/**
 * What a failed call means for the engine (design: the error class is the recovery decision). `code` is stable, for
 * logs and receipts, and holds no text of the platform.
 *
 * - `retry-after`: refused for pacing; nothing may be sent to the chat for `retryAfterMs` (I8)
 * - `transient`: provably not done (refused connection, 5xx before processing); retry with backoff
 * - `unknown`: it may have been done (time-out, cut connection); never blindly repeated when it was a post (I6)
 * - `gone`: the person blocked the bot, the bot was removed, the chat, or the topic, does not exist any more
 * - `moved`: the chat goes on under another id: nothing was done, and nothing in the old chat can be changed any more
 * - `missing`: the message to edit or remove does not exist any more
 * - `unchanged`: the edit would change nothing: success
 * - `rejected`: the platform refuses this content; fall back to plain text, then fail
 * - `misconfigured`: the token is wrong or the API is not what it should be; retry slowly and tell the owner
 */
export type CallFailure =
  | { readonly kind: "retry-after"; readonly code: string; readonly retryAfterMs: number }
  | { readonly kind: "transient"; readonly code: string }
  | { readonly kind: "unknown"; readonly code: string }
  | {
      readonly kind: "gone";
      readonly code: string;
      /** `thread`: the chat's other threads go on. @default "chat" */
      readonly scope?: "chat" | "thread" | undefined;
    }
  | { readonly kind: "moved"; readonly code: string; readonly to: ChatPlace }
  | { readonly kind: "missing"; readonly code: string }
  | { readonly kind: "unchanged"; readonly code: string }
  | { readonly kind: "rejected"; readonly code: string }
  | { readonly kind: "misconfigured"; readonly code: string };
