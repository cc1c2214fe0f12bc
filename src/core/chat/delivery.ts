import type { ChatMove, ChatPlace } from "./chat-move.ts";
import type {
  CardField,
  ContentOptions,
  LocationContent,
  OutgoingFile,
  PictureBytes,
  StoredFile,
} from "../message/content.ts";
import type { DeliveryMode } from "./delivery-mode.ts";
import type { LocalSpeaker } from "./gate.ts";
import type { Placeholder } from "../message/placeholder.ts";
import type { MarkStart } from "./mark.ts";
import type { MessengerEvent } from "./messenger-event.ts";
import type { ByteSource } from "../message/reply-attachment.ts";
import type {
  ActionNotice,
  Address,
  OutgoingButton,
  OutgoingImage,
  OutgoingMedia,
  Press,
} from "./surface.ts";

/** Facts that a text may depend on. */
export interface TextContext {
  /** The person's IETF language tag, if the platform tells it. */
  readonly locale: string | undefined;
  /** The event that is answered. Undefined if the bot's own code began the turn: see `getTurn`. */
  readonly event?: MessengerEvent | undefined;
}

/** A text that no model wrote: fixed, or made for each reader. */
export type PolicyText = string | ((context: TextContext) => string);

/** Delivery options that are stored with a reply. Plain JSON. Every field has a default. */
export interface ReplyPolicy {
  /**
   * Way in which a reply appears while its text is still coming. @default "edit", on GitHub and Linear "final-only"
   */
  readonly mode?: DeliveryMode;
  /** Whether links show a preview, if the platform lets the bot choose. @default false */
  readonly linkPreviews?: boolean;
  /**
   * Whether replies become rich messages where these show more: real headings, lists, tables and formulas, and one long
   * message instead of several. If the platform has none, or refuses one, ordinary messages are sent. @default false
   */
  readonly richMessages?: boolean;
  /**
   * Whether the typing indicator is shown until there is something to read.
   * @default true, except for messages that are not addressed to the bot and that the model may leave unanswered
   */
  readonly typing?: boolean;
  /**
   * Line in front of a message that is sent again after an unknown outcome. A single line.
   * @default "(sent again after a connection problem)"
   */
  readonly resentMark?: string;
  /** Time limit of one call to the platform, in milliseconds. @default 15000, on Telegram 6000 */
  readonly callTimeoutMs?: number;
  /**
   * Shortest time between two interim edits of one message, in milliseconds. The budget may make it longer. @default
   * 700, on Slack 1200, on Teams 2000
   */
  readonly editEveryMs?: number;
  /**
   * Action for a message whose outcome is unknown and cannot be found out. @default "resend-marked"
   *
   * - `resend-marked`: send it again with `resentMark`, a few times at most if that is lost too.
   * - `resend`: send it again once, without the mark.
   * - `leave`: do nothing.
   */
  readonly onUnknown?: "resend-marked" | "resend" | "leave";
}

/** Delivery options of a messenger. Every field has a default. An empty text shows nothing. */
export interface DeliveryPolicy extends ReplyPolicy {
  /** Shown if the model ended without any text. */
  readonly emptyResponseText?: PolicyText;
  /** Shown if the model or a tool failed. An exception's own text is never shown (I10). */
  readonly errorResponseText?: PolicyText;
  /** Shown instead of `errorResponseText` if the model server was busy or down for `modelPatienceMs`. */
  readonly overloadedResponseText?: PolicyText;
  /**
   * Shown as a separate message, once per answer, if nothing of the answer is visible after 20 seconds of waiting for
   * the model server. Not shown where the model may choose silence.
   */
  readonly waitingResponseText?: PolicyText;
  /** Shown after the visible text of a reply that could not be completed. */
  readonly interruptedResponseText?: PolicyText;
  /**
   * Shown if a turn has used all its steps (`maxSteps`) and the model wanted to go on: after the visible text, or
   * alone.
   */
  readonly stepLimitResponseText?: PolicyText;
  /** Shown if `/stop` ended a reply. */
  readonly stoppedResponseText?: PolicyText;
  /** Shown once to a person whose messages no longer fit in the inbox. */
  readonly busyResponseText?: PolicyText;
  /** Shown once to a person who is not allowed to use the bot. */
  readonly refusedResponseText?: PolicyText;
  /** Shown once to a person who has reached `limits`. */
  readonly limitResponseText?: PolicyText;
  /** Shown privately to a person who presses a button of a card that is gone, or has changed. */
  readonly staleActionResponseText?: PolicyText;
  /** Shown privately to a person whose press was being handled when the process died. It is not handled again. */
  readonly interruptedActionResponseText?: PolicyText;
  /** Shown below the name of a file that is larger than the platform accepts. */
  readonly fileTooLargeText?: PolicyText;
  /** Shown below the name of a file that could not be read from its address or its source. */
  readonly fileUnreachableText?: PolicyText;
  /** Shown below the name of a file that the chat or the person does not allow. */
  readonly fileForbiddenText?: PolicyText;
  /** Shown below the name of a file that could not be sent for another reason. */
  readonly fileRefusedText?: PolicyText;
  /**
   * Whether the model may choose to say nothing in a group, and the signal for it. The model is told the signal; people
   * never see it. @default only where `respondTo` has `"subscribed-thread"`
   */
  readonly silence?: boolean | { readonly signal?: string };
  /** Whether to remove thinking, tool calls and control tokens that a model leaked. @default true */
  readonly removeArtefacts?: boolean;
  /**
   * Changes every text of the model before it is shown. Called often, with the whole text so far. If it throws, the
   * text is shown unchanged. @default none
   */
  readonly transform?: (text: string, context: TextContext) => string;
  /** Last paragraph of every complete answer. @default none */
  readonly footer?: string | ((context: TextContext) => string | undefined);
  /** Whether a reply quotes the message it answers. @default "groups" */
  readonly replyTo?: "never" | "groups" | "always";
}

/** Start of a reply. Everything about a reply is durable, except its text while it streams. */
export interface ReplyStart {
  /** Unique in the thread. The same id again means the same reply. */
  readonly id: string;
  readonly address: Address;
  /** The platform's id of the message that is answered. */
  readonly replyTo?: string;
  readonly policy: ReplyPolicy;
  /** Newest message id of the chat that the caller knows, for example of the message that is answered. */
  readonly seenMessageId?: string;
  /** Id of an earlier, withdrawn reply whose visible messages this one takes over. */
  readonly takesOver?: string;
  /** Whether a message that is sent whole waits for the running answer of its thread. @default false */
  readonly waitsForAnswer?: boolean;
  /** Whether a reply whose text grows stands beside the answers: it holds up none of them. @default false */
  readonly isAside?: boolean;
  /**
   * Whether a person waits for it. If its chat accepts no messages, its text is kept until the chat is back: see
   * `Delivery.resume`. A message that is visible in part is always kept, except a card. @default false
   */
  readonly isAwaited?: boolean;
}

/** Text of a message that belongs to no card any more, and that the platform can no longer remove. */
export const REMOVED_TEXT = "(removed)";

/** Content of a card. Plain JSON, stored until it is visible. */
export interface CardBody {
  /**
   * The card's own part of its tokens. The gate of the chat learns it, with the conversation that posts the card, before
   * anything is sent.
   */
  readonly key: string;
  /** Markdown. */
  readonly text: string;
  readonly fields?: readonly CardField[] | undefined;
  readonly image?: OutgoingImage | undefined;
  readonly buttons?: readonly (readonly OutgoingButton[])[] | undefined;
  /** Whether the `callback` buttons are numbered options, also where the platform has buttons. @default false */
  readonly numbered?: boolean | undefined;
  /** See `CardNews.asksForWord`. @default false */
  readonly asksForWord?: boolean | undefined;
  /** See `CardNews.asksForQuote`. @default false */
  readonly asksForQuote?: boolean | undefined;
  /** See `CardNews.asksForMessage`. @default false */
  readonly asksForMessage?: boolean | undefined;
}

/** Effect of a revision on a card that a person has deleted. `leave`: it stays deleted. `post`: it is posted again. */
export type IfDeleted = "leave" | "post";

export type ReplyState = "streaming" | "final" | "delivered" | "gone" | "failed" | "withdrawn";

/** Options of one message that is sent whole. */
export type SendOptions = Pick<ContentOptions, "silent" | "protect">;

/** Outcome of one reply and its visible messages: the stored proof of delivery (I12). Contains no text (I10). */
export interface DeliveryReceipt {
  readonly replyId: string;
  readonly messengerId: string;
  readonly threadId: string;
  readonly state: ReplyState;
  /** Reason for `gone` or `failed`. */
  readonly code?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly endedAt?: number;
  readonly messages: readonly MessageReceipt[];
}

export interface MessageReceipt {
  /** Position in the reply, from 0. Negative: another message replaces this one, which is removed if possible. */
  readonly part: number;
  readonly state: OutboxState;
  /** The platform's id of the message; of an album's first message. */
  readonly messageId?: string;
  /** The platform's ids of all messages of an album, in order. Undefined for a single message. */
  readonly messageIds?: readonly string[];
  /** Code of the last failure, until a later call succeeds. */
  readonly code?: string;
  /** Number of posts that were started, and of other calls that failed. */
  readonly attempts: number;
  /** Time at which the platform's id was learned, in epoch milliseconds. */
  readonly sentAt?: number;
}

export interface DeliveryFilter {
  readonly state?: ReplyState;
  /** Only replies created at this time or later, in epoch milliseconds. */
  readonly since?: number;
  /** At most 1000. @default 100 */
  readonly limit?: number;
}

/** A chat that accepts no messages any more, or one thread of it. */
export interface GonePlace {
  readonly messengerId: string;
  readonly chatId: string;
  /** Undefined means all threads of the chat. */
  readonly threadId?: string | undefined;
}

/**
 * - `planned`: will be sent; no call was made yet
 * - `sending`: the call has started and its outcome is not stored; after a crash this means `unknown`
 * - `sent`: visible; its platform message id is stored
 * - `unknown`: the call ended without an answer
 * - `removed`: was visible and was removed
 * - `failed`: will never be visible; `code` tells the reason
 */
export type OutboxState = "planned" | "sending" | "sent" | "unknown" | "removed" | "failed";

/** Bytes that a later reply may show, by their ids. */
export interface HeldFiles {
  /**
   * Makes bytes durable. They are deleted after an hour, unless somebody holds them.
   *
   * @throws what `Delivery.storeFile` throws
   */
  addBytes(source: ByteSource): Promise<StoredFile>;
  /** Returns stored bytes. Reading throws if they are not stored any more. */
  open(storedId: string): ReadableStream<Uint8Array>;
  /** Keeps stored bytes for a holder. */
  hold(holder: string, storedIds: readonly string[]): void;
  /** Deletes the bytes of a holder, except those that replies or other holders need. */
  release(holder: string): void;
}

/**
 * The delivery engine of one thread. It compares what should be visible with what is visible.
 *
 * Methods return as soon as the intent is stored. Sending continues in the background and survives a crash.
 */
export interface Delivery extends LocalSpeaker {
  /** Begins a reply, or continues the one with this id. Shows the typing indicator until text is visible. */
  open(reply: ReplyStart): void;
  /**
   * Notes that the platform shows a placeholder until a message is answered. The first message that answers it replaces
   * the placeholder. It is removed if the event with this number ends without one.
   */
  expectAnswer(messengerId: string, placeholder: Placeholder, eventSeq: number): void;
  /** Adds text to an open reply. Nothing is stored. Ignored for a reply that has ended. */
  append(replyId: string, delta: string): void;
  /**
   * Shows one line of Markdown below the text so far, or takes it away. It is an interim edit, and gone when the text is
   * whole. Where a message cannot show it, the typing indicator stands for it. Nothing is stored. Ignored for a reply that
   * has ended.
   */
  progress(replyId: string, line: string | undefined): void;
  /** Replaces the text so far, because the model call was restarted. */
  replace(replyId: string, text: string): void;
  /**
   * Reports that the model call was cut short and is made again. The text stays, even after a crash, until the text that
   * replaces it is as long or complete. After a crash the turn passes the stored text before `run`. Does nothing where
   * messages cannot be changed: they stay anyway.
   */
  interrupt(replyId: string): void;
  /**
   * Sets the reply's whole text. It is stored before anything is sent, so a crash cannot lose it. A reply that waits for
   * its chat keeps it, too.
   */
  finish(replyId: string, text: string): void;
  /**
   * Returns all text that a running reply had when it last posted a message, also after a restart. Only where messages
   * cannot be changed; empty elsewhere.
   */
  postedText(replyId: string): string;
  /**
   * Returns the beginning of a running reply's text that people see, or will see after the current call, with open
   * formatting closed. Undefined if it is not known: after a restart, unless an interrupted text stays, and where no
   * messages are shown yet.
   */
  seenText(replyId: string): string | undefined;
  /** Ends a reply that will not continue. Its visible messages stay for the reply that takes it over. */
  withdraw(replyId: string): void;
  /** Sends a whole message outside any turn: the answer of a command, or a notice. */
  send(reply: ReplyStart, text: string, options?: SendOptions): void;
  /**
   * Makes a file durable, so that `sendFiles` can send it also after a crash.
   *
   * @throws {InvalidInputError} `file-too-large`, `file-empty`, `file-address`, `file-name`, `file-source`, or
   * `files-unsupported` if the messenger takes no files
   * @throws {SwitchboardError} if the file could not be read and may be later
   */
  storeFile(messengerId: string, file: OutgoingFile): Promise<OutgoingMedia>;
  /**
   * Makes a card's picture durable. Undefined if a message of this messenger cannot have one.
   *
   * @throws as `storeFile`
   */
  storeImage(messengerId: string, source: PictureBytes): Promise<OutgoingMedia | undefined>;
  /** Bytes that a later reply may show. */
  readonly heldFiles: HeldFiles;
  /** Sends a stored file, or several as an album, with a caption in Markdown. An album is one message of the receipt. */
  sendFiles(reply: ReplyStart, files: readonly OutgoingMedia[], caption: string, options?: SendOptions): void;
  /** Sends a place. */
  sendLocation(reply: ReplyStart, location: Omit<LocationContent, "kind">, options?: SendOptions): void;
  /** Sends a card. It can be revised and removed under the reply's id. */
  sendCard(reply: ReplyStart, card: CardBody, options?: SendOptions): void;
  /**
   * Changes a card by editing its messages, also after it was delivered. The later of two revisions wins. The reply's
   * state is `final` again until the change is visible.
   *
   * Returns `false` if there is no card with this id any more, or its chat accepts no messages.
   */
  revise(replyId: string, card: CardBody, ifDeleted?: IfDeleted): boolean;
  /**
   * Removes the card with this key. A message that the platform can no longer remove is edited to `text`, without
   * buttons.
   *
   * Returns `false` if there is no card with this id any more, or its chat accepts no messages.
   */
  remove(replyId: string, key: string, text: string): boolean;
  /**
   * Notes the message in which a person has pressed a button of a card. If nobody knows what became of the card's post,
   * the card goes on in this message.
   */
  learnMessage(replyId: string, address: Address, messageId: string): void;
  /**
   * Reacts to a message, pins one, or takes that back, outside of the order of messages. Its receipt has no messages.
   *
   * @throws {InvalidInputError} `reactions-unsupported` or `pins-unsupported`
   */
  mark(start: MarkStart): void;
  /**
   * Answers a press of a button at once. Never throws. An answer that comes too late is dropped.
   *
   * Returns `false` if the person certainly did not see the notice.
   */
  answerAction(address: Address, press: Press, notice?: ActionNotice): Promise<boolean>;
  /**
   * Follows a chat that continues under another id. Everything that is not visible yet is shown in the thread that
   * replaces this one. Messages of the old chat stay as they are.
   *
   * Returns `false` if the move is known already or impossible.
   */
  move(messengerId: string, move: ChatMove): boolean;
  /** Returns the new place of a chat that has moved. */
  movedTo(messengerId: string, chatId: string): ChatPlace | undefined;
  /** Starts deliveries to this chat again, because the person came back: wrote again, or unblocked the bot. */
  revive(chatId: string): void;
  /** Continues the replies that wait for a chat, or for one thread of it, because it accepts messages again. */
  resume(place: GonePlace): void;
  /** Works on everything that is due. Called at start, by alarm, and after each change. */
  run(): Promise<void>;
  /**
   * Returns the time at which `run` must be called again even if nothing changes, in epoch milliseconds. Undefined if
   * everything is done.
   */
  nextWakeAt(): number | undefined;
  /** Resolves when the reply has ended: delivered, gone, failed or withdrawn. */
  settled(replyId: string): Promise<ReplyState>;
  receipt(replyId: string): DeliveryReceipt | undefined;
  /** Returns receipts, newest first. */
  receipts(filter?: DeliveryFilter): DeliveryReceipt[];
}
