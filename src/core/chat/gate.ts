import type { CallGroup } from "./inner-calls.ts";
import type { Address, Pacing, Rate } from "./surface.ts";

/** The gates of the chats that one object writes to. */
export interface GatesOfChats {
  /** Name of the object, which tells it apart from other speakers in a chat. */
  readonly speaker: string;
  /** Returns the gate of a chat. A call of it may reject if the gate cannot be reached; the call to the chat then waits. */
  gateOf(address: Address): ChatGate;
}

/**
 * Purpose of a call, most valuable first. `edit` and `typing` are skipped first (I7).
 * - `answer`: a press of a button; never delayed
 * - `final`: the last state of a reply; a slot is kept for it
 * - `post`: a message that must become visible
 * - `search`: a question about a lost post; may use calls that the chat saved while it was idle
 * - `edit`: an interim state
 * - `typing`: the typing indicator
 */
export type CallPurpose = "answer" | "final" | "post" | "search" | "edit" | "typing";

export type Grant =
  | {
      readonly kind: "granted";
      /** The newest message id of the chat's box that the gate knows. */
      readonly newestId?: number;
      readonly next?: NextCalls;
      /** For a post, if the platform numbers its messages. */
      readonly right?: PostRight;
    }
  /**
   * Not now. Ask again at `retryAt` (epoch milliseconds), or skip the call. `post`: the outcome of another post is not
   * known yet.
   */
  | {
      readonly kind: "wait";
      readonly retryAt: number;
      readonly reason: "pacing" | "penalty" | "post";
      readonly next?: NextCalls;
    };

/**
 * Times, in epoch milliseconds, before which the chat's rate allows no further call of a kind, no matter which
 * conversation asks. Until then a conversation need not ask the gate.
 */
export interface NextCalls {
  /** A post, or the final state of a reply. */
  readonly post: number;
  readonly edit: number;
  readonly typing: number;
}

/**
 * The right to post into a chat. It is held until the outcome of the post is known. At most one message of a chat is
 * therefore in doubt, and a message that a search finds has a certain owner.
 */
export interface PostRight {
  readonly ticket: number;
  /** True if other conversations post into the chat. They wait for the outcome, so it is reported at once. */
  readonly isShared: boolean;
}

export interface CallRequest {
  readonly address: Address;
  readonly purpose: CallPurpose;
  readonly pacing: Pacing;
  /** The speaker in the thread: the name of its object. */
  readonly speaker: string;
  /** Set if the platform numbers its messages (`Probing`). */
  readonly news?: ChatNews;
  /** True if the call posts a message. @default false */
  readonly isPost?: boolean;
  /** Time after which the post cannot land any more, in milliseconds. */
  readonly landsWithinMs?: number;
  /** Number of messages that the post makes: an album has several. @default 1 */
  readonly messages?: number;
  /** Set if the call shows a card. The gate stores it before it grants the call. */
  readonly card?: CardNews;
  /** The account whose limit the call counts against (`Surface.accountOf`). */
  readonly account?: string;
}

/** A card as the gate of its chat knows it. Plain JSON. */
export interface CardNews {
  /** The card's part of its tokens. */
  readonly key: string;
  /** Grows with each revision. An older report does not replace a newer one. */
  readonly revision: number;
  /** Number of options that a person may answer by writing a number; 0 if it does not listen to numbers. */
  readonly options: number;
  /** Ids of its visible messages, as far as they are known. */
  readonly messageIds: readonly string[];
  /** Time of its newest message, in epoch milliseconds. */
  readonly sentAt?: number;
  /** True while people may take a message that is only a word like "yes" for an answer to it. @default false */
  readonly asksForWord?: boolean;
  /** True if a message that quotes it is for its object, also if that has no other part in the chat. @default false */
  readonly asksForQuote?: boolean;
  /** True while any message of its private chat counts as one that quotes it. @default false */
  readonly asksForMessage?: boolean;
}

export interface CardReport {
  readonly address: Address;
  /** The name of the object that posted the card. */
  readonly speaker: string;
  readonly card: CardNews;
}

export interface CardQuestion extends ChatKey {
  readonly key: string;
}

export interface CardOwner {
  /** The name of the object that posted the card. */
  readonly speaker: string;
}

/** A message that may be for a card. */
export interface ClaimQuestion extends ChatKey {
  readonly threadId: string;
  readonly messageId: string;
  /** Epoch milliseconds. */
  readonly sentAt: number;
  /** True if the platform numbers its messages, so that the later one has the higher id. */
  readonly isNumbered: boolean;
  /** True if it numbers those of each thread. @default false */
  readonly isNumberedInThread?: boolean;
  readonly quotedId?: string;
  readonly number?: number;
  /** True if a mention of the bot begins a thread. Its number may answer a card of any thread. @default false */
  readonly beginsThread?: boolean;
  /** Set if the message is only a word of decision. A card that the bot has sent before this time is not meant. */
  readonly wordSince?: number;
}

/** The card that a message answers. */
export interface CardClaim extends CardOwner {
  readonly key: string;
  /** The chosen option, from 1, if the message is the number of one. */
  readonly option?: number;
  /** True if the message is a word of decision that quotes nothing. It decides nothing. @default false */
  readonly isBareWord?: boolean;
  /** See `CardNews.asksForQuote`. @default false */
  readonly asksForQuote?: boolean;
}

/** A speaker's report about its messages in a chat. */
export interface ChatNews {
  readonly box: string;
  /** Ids of messages that it has sent since its last report. */
  readonly sentIds: readonly number[];
  /** The newest id of the box that the conversation knows; 0 if it knows none. */
  readonly newestId: number;
  /** Start of its process, in epoch milliseconds. Reports of a later process replace those of an earlier one. */
  readonly startedAt: number;
  /** Number of the last right that this process was given. Requests may overtake each other. */
  readonly ticket?: number;
  /** True if it may have sent a message whose id it does not know. It then keeps the right. */
  readonly isInDoubt: boolean;
  /** True if the outcome of its last post cannot be found out. @default false */
  readonly isUnresolved?: boolean;
}

/** A report that a speaker sends without asking for a call. */
export type ChatReport = Pick<CallRequest, "address" | "speaker"> & { readonly news: ChatNews };

/**
 * The gate of a chat: rate, penalty and the right to post. Every call to the chat asks it first, from any thread or
 * conversation.
 */
export interface ChatGate {
  acquire(request: CallRequest): Promise<Grant>;
  /**
   * Gives the chat a penalty, because the platform refused a call for `retryAfterMs`. No call is sent to it until then
   * (I8), nor to any other chat of `account`. Durable.
   */
  penalize(address: Address, retryAfterMs: number, account?: string): Promise<void>;
  report(report: ChatReport): Promise<void>;
  /** Returns the ids that may be a lost message of this speaker. */
  unclaimed(question: LostPostQuestion): Promise<UnclaimedIds>;
  /** Reports a change of a card. Durable. */
  noteCard(report: CardReport): Promise<void>;
  /** Returns the conversation of a card in this chat. */
  findCard(question: CardQuestion): Promise<CardOwner | undefined>;
  /** Returns the card that a message answers, if there is one. */
  claimMessage(question: ClaimQuestion): Promise<CardClaim | undefined>;
}

export interface LostPostQuestion {
  readonly address: Address;
  readonly speaker: string;
  readonly news: ChatNews;
  /** The newest id that was known when the post began. */
  readonly afterId: number;
  /** Time after which the post cannot land any more, in epoch milliseconds. Undefined if it is not known. */
  readonly landsBy?: number;
}

export interface UnclaimedIds extends Pick<SeenIds, "endId" | "postedUpTo"> {
  /** Ascending, above `afterId`. The last ones are above the newest known id, unless `endId` is known. */
  readonly ids: readonly number[];
  /** The newest known id of the box. */
  readonly newestId: number;
  /**
   * Number of chats that have searched a lost post in the box lately, including this one. As many ids may be unknown.
   */
  readonly searches: number;
  /** The right to post, which the searching speaker now holds. Undefined if another speaker holds it. */
  readonly right?: PostRight;
  /**
   * Whether one of the ids may belong to another post.
   *
   * - `certain`: no. A message that is found is the lost one.
   * - `busy`: another speaker is posting. Ask again in a moment.
   * - `uncertain`: the outcome of an earlier post is unknown.
   */
  readonly claim: "certain" | "busy" | "uncertain";
}

/** A chat with all its threads. */
export type ChatKey = Pick<Address, "messengerId" | "chatId">;

/** The messages that the gate's own object has sent, from its outbox. */
export interface LocalSpeaker {
  /** True if another thread of the object may have sent a message into the chat whose id it does not know. */
  isInDoubt(chat: ChatKey, exceptThreadId: string): boolean;
  /** True if the outcome of one of its posts into the chat cannot be found out. */
  isUnresolved(chat: ChatKey): boolean;
  /** Returns the ids of messages that it has sent into the chat. */
  sentIds(chat: ChatKey, afterId: number): readonly number[];
  /** Returns the time of its last possible call, in epoch milliseconds. Undefined if it has never made one. */
  lastUsedAt(): number | undefined;
}

/** The rate of a bot over all its chats. The root holds it and lends it to gates in small portions. */
export interface BotBudget {
  lend(request: LoanRequest): Promise<Loan>;
  /** Lends nothing to the chats of an account until the platform's waiting time is over. Durable. */
  penalize(penalty: AccountPenalty): Promise<void>;
  /** Reports ids that conversations of this chat have sent, in a box that many chats share. */
  tellSent(sent: BoxIds): Promise<void>;
  /** Returns the ids of a box that have a known owner. Asked only after a post was lost. */
  seenIds(question: SeenQuestion): Promise<SeenIds>;
}

export interface AccountPenalty {
  readonly messengerId: string;
  readonly account: string;
  readonly retryAfterMs: number;
}

export interface LoanRequest {
  readonly messengerId: string;
  readonly chatId: string;
  /** Set if the platform limits accounts. */
  readonly account?: string;
  /** Tells the waiting speakers of one chat apart. */
  readonly speaker: string;
  readonly purpose: CallPurpose;
  readonly rate: Rate;
  /** The box whose newest id is needed, with the ids sent into it since the last report. */
  readonly sent?: BoxIds;
  /** Set if the call posts into a box that many chats share. */
  readonly post?: LentPost;
}

export interface LentPost {
  /** Number of messages that it makes. */
  readonly messages: number;
  /** Time after which it cannot land any more, in milliseconds. */
  readonly landsWithinMs: number;
}

export interface BoxIds {
  readonly messengerId: string;
  readonly box: string;
  /** The chat that they were sent into. */
  readonly chatId: string;
  readonly ids: readonly number[];
}

export type Loan =
  | {
      readonly kind: "lent";
      /** Number of calls: the requested one, which is valid only now, and further ones, which expire at `until`. */
      readonly slots: number;
      /** Epoch milliseconds. */
      readonly until: number;
      readonly newestId?: number;
    }
  | { readonly kind: "wait"; readonly retryAt: number };

export interface SeenQuestion {
  readonly messengerId: string;
  readonly box: string;
  /** True if many chats number their messages in the box. */
  readonly isShared: boolean;
  /** The chat that searches a lost post. */
  readonly chatId: string;
  readonly afterId: number;
  /** Time after which the lost post cannot land any more, in epoch milliseconds. Undefined if it is not known. */
  readonly landsBy?: number;
}

export interface SeenIds {
  readonly newestId: number;
  /** The highest id that the bot's own messages may have, except for those that other chats search. */
  readonly postedUpTo: number;
  /** The id of a message that was begun after `landsBy`. A lost post has a lower id. Undefined if none is known. */
  readonly endId?: number;
  /** Number of chats that have asked about the box lately, including this one. */
  readonly searches: number;
  /** Ascending, all above `afterId`. */
  readonly ids: readonly number[];
}

/** The calls to the gate of a chat. */
export const GATE: CallGroup<ChatGate> = { name: "gate" };

/** The calls of gates to the root, which has the rate of the whole bot. */
export const BUDGET: CallGroup<BotBudget> = { name: "budget" };
