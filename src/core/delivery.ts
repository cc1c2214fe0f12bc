import type { ChatMove, ChatPlace } from "./chat-move.ts";
import type { LocalSpeaker } from "./gate.ts";
import type { MessengerEvent } from "./messenger-event.ts";
import type { Address } from "./surface.ts";

/** What a text may depend on. */
export interface TextContext {
  /** IETF language tag of the person, when the platform tells it. */
  readonly locale: string | undefined;
  readonly event: MessengerEvent;
}

/** A text that no model wrote: the same for everybody, or made for the one who reads it. */
export type PolicyText = string | ((context: TextContext) => string);

/**
 * How a reply appears while its text is still coming. Whatever the mode, in the end the whole reply stands there as
 * ordinary messages.
 *
 * - `edit`: a message that is posted as soon as there is something worth reading, and grows by edits. Where messages
 *   cannot be edited: `buffered`
 * - `draft`: a passing preview that grows and becomes a message when it is whole, for platforms that have such drafts,
 *   in private chats. Anywhere else, and when the platform refuses the draft: `edit`
 * - `native`: the platform's own way of streaming into a message. Where it has none: `edit`
 * - `buffered`: a long reply's messages are posted one by one, each when it is complete, and never changed; the rest
 *   follows when the text is whole
 * - `final-only`: nothing but the typing indicator until the text is whole
 */
export type DeliveryMode = "edit" | "draft" | "native" | "buffered" | "final-only";

/** What a stored reply needs of its messenger's policy: plain JSON. Every field has a default. */
export interface ReplyPolicy {
  /** How a reply appears while its text is still coming. @default "edit" */
  readonly mode?: DeliveryMode;
  /** Whether links show a preview, where the platform leaves that to the bot. @default false */
  readonly linkPreviews?: boolean;
  /**
   * Whether replies are rich messages where these show more, and the platform has such: real headings, lists, tables and
   * formulas, and one long message instead of several. What the platform refuses goes on as ordinary messages.
   * @default false
   */
  readonly richMessages?: boolean;
  /**
   * Whether the platform's typing indicator is shown until there is something to read. @default true, save where the
   * model may choose to say nothing and nobody has spoken to it
   */
  readonly typing?: boolean;
  /** The line in front of a message that is sent again after an unknown outcome. */
  readonly resentMark?: string;
  /** Longest time one call to the platform may take, in milliseconds. @default 15000, on Telegram 6000 */
  readonly callTimeoutMs?: number;
  /** Least time between two interim edits of one message, in milliseconds, over what the budget allows. @default 700 */
  readonly editEveryMs?: number;
  /**
   * What happens to a message whose outcome is unknown and cannot be found out: sent again with the mark (and again
   * when that is lost too, a few times at most), sent again once without it, or left alone. @default "resend-marked"
   */
  readonly onUnknown?: "resend-marked" | "resend" | "leave";
}

/** How a messenger's replies are shown. Every field has a default; a text that is empty shows nothing. */
export interface DeliveryPolicy extends ReplyPolicy {
  /** Shown when the model ended without any text. */
  readonly emptyResponseText?: PolicyText;
  /** Shown when the model or a tool failed; never an exception's own text (I10). */
  readonly errorResponseText?: PolicyText;
  /** Shown instead of `errorResponseText` when the model server was busy or away for `modelPatienceMs`. */
  readonly overloadedResponseText?: PolicyText;
  /**
   * Shown as a message of its own when an answer of which nothing is visible has waited for the model server for 20
   * seconds; once for each answer, and not where the model may choose silence.
   */
  readonly waitingResponseText?: PolicyText;
  /** Shown after what is visible when a reply could not be completed. */
  readonly interruptedResponseText?: PolicyText;
  /** Shown when `/stop` ended a reply. */
  readonly stoppedResponseText?: PolicyText;
  /** Shown once to a person whose messages no longer fit in the inbox. */
  readonly busyResponseText?: PolicyText;
  /** Shown once to a person who is not allowed to use the bot. */
  readonly refusedResponseText?: PolicyText;
  /** Shown once to a person who has asked for more than `limits` allows. */
  readonly limitResponseText?: PolicyText;
  /**
   * Whether the model may choose to say nothing in a group, and the signal by which it does. The signal is told to the
   * model and never shown. @default only where `respondTo` has "subscribed-thread"
   */
  readonly silence?: boolean | { readonly signal?: string };
  /** Whether thinking, tool calls and control tokens that a model leaked are taken out. @default true */
  readonly removeArtefacts?: boolean;
  /** Changes every text of the model before it is shown: the whole text so far, often. A throw shows it as it was. */
  readonly transform?: (text: string, context: TextContext) => string;
  /** A last paragraph of every complete answer. */
  readonly footer?: string | ((context: TextContext) => string | undefined);
  /** Whether a reply quotes the message it answers. @default "groups" */
  readonly replyTo?: "never" | "groups" | "always";
}

/** A reply's life, from its first token to its last edit. Everything is durable but the text while it streams. */
export interface ReplyStart {
  /** Unique in the thread; the same id again is the same reply. */
  readonly id: string;
  readonly address: Address;
  /** The platform's id of the message that is answered. */
  readonly replyTo?: string;
  readonly policy: ReplyPolicy;
  /** The newest message id of the chat that the caller knows, e.g. of the message that is answered. */
  readonly seenMessageId?: string;
  /** The id of an earlier, withdrawn reply whose visible messages this one takes over. */
  readonly takesOver?: string;
}

export type ReplyState = "streaming" | "final" | "delivered" | "gone" | "failed" | "withdrawn";

/** What became of one reply and its visible messages: the stored proof of delivery (I12). Holds no text (I10). */
export interface DeliveryReceipt {
  readonly replyId: string;
  readonly messengerId: string;
  readonly threadId: string;
  readonly state: ReplyState;
  /** Why it is `gone` or `failed`. */
  readonly code?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly endedAt?: number;
  readonly messages: readonly MessageReceipt[];
}

export interface MessageReceipt {
  /** Place in the reply, from 0. Negative: a message that another one stands in for; it is taken away where that can be. */
  readonly part: number;
  readonly state: OutboxState;
  /** The platform's id. */
  readonly messageId?: string;
  /** Of the last failure that has not been made good. */
  readonly code?: string;
  /** Posts that were begun, and other calls that failed. */
  readonly attempts: number;
  /** Epoch milliseconds at which the platform's id was learnt. */
  readonly sentAt?: number;
}

export interface DeliveryFilter {
  readonly state?: ReplyState;
  /** Only replies that were created at this time or later, in epoch milliseconds. */
  readonly since?: number;
  /** At most 1000. @default 100 */
  readonly limit?: number;
}

/** What takes nothing any more: a chat, or one thread of it. */
export interface GonePlace {
  readonly messengerId: string;
  readonly chatId: string;
  /** Without it all threads of the chat. */
  readonly threadId?: string | undefined;
}

/**
 * - `planned`: will be sent, nothing has left yet
 * - `sending`: the call has begun and its outcome is not stored; found after a crash it means `unknown`
 * - `sent`: visible, its platform message id is stored
 * - `unknown`: the call ended without an answer
 * - `removed`: was visible, is taken away again
 * - `failed`: will never be visible; `code` says why
 */
export type OutboxState = "planned" | "sending" | "sent" | "unknown" | "removed" | "failed";

/**
 * The delivery engine of one thread: reconciles what should be visible with what is visible. Methods return as soon as
 * the intent is stored; the sending goes on in the background and survives a crash.
 */
export interface Delivery extends LocalSpeaker {
  /** Begins a reply, or continues the one with this id. Shows the typing indicator until text is visible. */
  open(reply: ReplyStart): void;
  /** More text of an open reply. Nothing is stored. Ignored for a reply that has ended. */
  append(replyId: string, delta: string): void;
  /** The text so far was void (the model call was restarted): this is the text now. */
  replace(replyId: string, text: string): void;
  /**
   * The model call that says the text was cut short and is made again. The text stays, also over a crash, until the text
   * that replaces it is as long, or whole. After a crash the turn says what is stored of its text before `run`. Does
   * nothing where messages cannot be changed: they stay anyway.
   */
  interrupt(replyId: string): void;
  /** The reply's whole text. Stored before anything is sent. From here on nothing but the sending can be lost. */
  finish(replyId: string, text: string): void;
  /**
   * Where messages cannot be changed: all text that a running reply had when it last posted one, also after a start.
   * Empty elsewhere.
   */
  postedText(replyId: string): string;
  /**
   * The beginning of a running reply's text that people see, or will when the call under way is done, with everything
   * closed that is open in it. `undefined` where that is not known: after a start, unless an interrupted text stays, and
   * where no messages are shown yet.
   */
  seenText(replyId: string): string | undefined;
  /** The reply will not be continued: what is visible of it stays for the reply that takes it over. */
  withdraw(replyId: string): void;
  /** A whole message at once, outside of any turn: the answer of a command, a notice. */
  send(reply: ReplyStart, text: string): void;
  /** Answers a press of a button at once. Never throws; a late answer is of no use and is dropped. */
  answerAction(address: Address, actionId: string, notice?: { text: string; alert?: boolean }): Promise<void>;
  /**
   * A chat goes on under another id: what is not visible yet is shown there, in the thread that took its place. Messages
   * of the old chat stay as they are. `false` when that is known already, or cannot be.
   */
  move(messengerId: string, move: ChatMove): boolean;
  /** Where a chat has moved to. */
  movedTo(messengerId: string, chatId: string): ChatPlace | undefined;
  /** The person came back (wrote again, unblocked the bot): deliveries to this chat may start again. */
  revive(chatId: string): void;
  /** Works on everything that is due. Called at start, by alarm, and after each change. */
  run(): Promise<void>;
  /** Epoch milliseconds at which `run` must be called again even if nothing changes; `undefined` when all is done. */
  nextWakeAt(): number | undefined;
  /** Resolves when the reply has ended (delivered, gone, failed or withdrawn). */
  settled(replyId: string): Promise<ReplyState>;
  receipt(replyId: string): DeliveryReceipt | undefined;
  /** Receipts, the newest first. */
  receipts(filter?: DeliveryFilter): DeliveryReceipt[];
}
