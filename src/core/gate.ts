import type { Address, Pacing, Rate } from "./surface.ts";

/**
 * What a call is for, the most valuable first: `answer` (a press of a button; never delayed), `final` (the last state of
 * a reply; a slot is kept for it), `post` (a message that must become visible), `edit` (an interim state) and `typing`.
 * The last two are shed first (I7).
 */
export type CallPurpose = "answer" | "final" | "post" | "edit" | "typing";

export type Grant =
  | {
      readonly kind: "granted";
      /** The newest message id of the chat's box that the gate knows. */
      readonly newestId?: number;
      /** Epoch milliseconds before which an interim edit would be told to wait: nobody need ask. */
      readonly nextEditAt?: number;
      /** With a post, where messages are numbered. */
      readonly right?: PostRight;
    }
  /** Not now. Ask again at `retryAt` (epoch milliseconds), or skip the call. `post`: somebody else's post is in doubt. */
  | { readonly kind: "wait"; readonly retryAt: number; readonly reason: "pacing" | "penalty" | "post" };

/**
 * The right to post into a chat. It is held until it is known what became of the post, so that at most one message of a
 * chat is ever in doubt, and whose it is that a search finds is certain.
 */
export interface PostRight {
  readonly ticket: number;
  /** Other conversations post into the chat: they wait for the outcome, so it is told at once. */
  readonly isShared: boolean;
}

export interface CallRequest {
  readonly address: Address;
  readonly purpose: CallPurpose;
  readonly pacing: Pacing;
  /** Whoever speaks in the thread: the name of its object. */
  readonly speaker: string;
  /** Where messages are numbered (`Probing`). */
  readonly news?: ChatNews;
  /** The call posts a message. @default false */
  readonly isPost?: boolean;
  /** How long the post may take before it cannot land any more, in milliseconds. */
  readonly landsWithinMs?: number;
}

/** What a speaker says about its messages in a chat. */
export interface ChatNews {
  readonly box: string;
  /** Ids of messages that it has sent since it last told any. */
  readonly sentIds: readonly number[];
  /** The newest id of the box that it knows; 0 for none. */
  readonly newestId: number;
  /** When its process began, in epoch milliseconds. A later one knows better. */
  readonly startedAt: number;
  /** The last right that this process was given. Requests may overtake each other. */
  readonly ticket?: number;
  /** A message of its own may exist of which it does not know the id: it keeps the right. */
  readonly isInDoubt: boolean;
  /** Nobody could find out what became of its last post. @default false */
  readonly isUnresolved?: boolean;
}

/** What a speaker tells its chat's gate by itself. */
export type ChatReport = Pick<CallRequest, "address" | "speaker"> & { readonly news: ChatNews };

/**
 * The gate of a chat, as a conversation that speaks there asks it: rate, penalty and the right to post. Every call to
 * the chat asks it first, whatever thread or conversation it comes from.
 */
export interface ChatGate {
  acquire(request: CallRequest): Promise<Grant>;
  /** The platform refused a call for `retryAfterMs`: nothing is sent to this chat until then (I8). Durable. */
  penalize(address: Address, retryAfterMs: number): Promise<void>;
  report(report: ChatReport): Promise<void>;
  /** The ids that may be a lost message of this speaker. */
  unclaimed(question: LostPostQuestion): Promise<UnclaimedIds>;
}

export interface LostPostQuestion {
  readonly address: Address;
  readonly speaker: string;
  readonly news: ChatNews;
  /** The newest id that was known when the post began. */
  readonly afterId: number;
}

export interface UnclaimedIds {
  /** Ascending, above `afterId`; the last ones stand after the newest id that is known. */
  readonly ids: readonly number[];
  /** The newest id of the box that is known. */
  readonly newestId: number;
  /** How many chats have looked for a lost post in the box lately, this one included: so many ids may be unknown. */
  readonly searches: number;
  /** Whoever searches holds the right to post; nothing when another one holds it. */
  readonly right?: PostRight;
  /**
   * Whether one of them may belong to another post.
   *
   * - `certain`: no, so what is found is the lost message
   * - `busy`: another one is posting; ask again in a moment
   * - `uncertain`: nobody knows what became of an earlier post
   */
  readonly claim: "certain" | "busy" | "uncertain";
}

/** A chat, whatever thread of it. */
export type ChatKey = Pick<Address, "messengerId" | "chatId">;

/** What the gate's own object knows of the messages that it has sent: its outbox. */
export interface LocalSpeaker {
  /** Whether a thread of the object other than this one may own a message of the chat of which it does not know the id. */
  isInDoubt(chat: ChatKey, exceptThreadId: string): boolean;
  /** Ids of messages that it has sent into the chat. */
  sentIds(chat: ChatKey, afterId: number): readonly number[];
  /** Epoch milliseconds of the last call that it may have made; nothing when it has never made any. */
  lastUsedAt(): number | undefined;
}

/** The rate of a bot over all its chats, held by the root and lent to gates in small portions. */
export interface BotBudget {
  lend(request: LoanRequest): Promise<Loan>;
  /** Ids that this chat's conversations have sent, in a box that many chats share. */
  tellSent(sent: BoxIds): Promise<void>;
  /** Which ids of a box are somebody's already. Asked only when a post was lost. */
  seenIds(question: SeenQuestion): Promise<SeenIds>;
}

export interface LoanRequest {
  readonly messengerId: string;
  readonly chatId: string;
  /** Tells apart those who wait in one chat. */
  readonly speaker: string;
  readonly purpose: CallPurpose;
  readonly rate: Rate;
  /** The box whose newest id is wanted, with the ids sent into it that have not been told yet. */
  readonly sent?: BoxIds;
}

export interface BoxIds {
  readonly messengerId: string;
  readonly box: string;
  readonly ids: readonly number[];
}

export type Loan =
  | {
      readonly kind: "lent";
      /** Calls: the one that was asked for, which is made now or never, and others, which lapse at `until`. */
      readonly slots: number;
      /** Epoch milliseconds. */
      readonly until: number;
      readonly newestId?: number;
    }
  | { readonly kind: "wait"; readonly retryAt: number };

export interface SeenQuestion {
  readonly messengerId: string;
  readonly box: string;
  /** Many chats number their messages in it. */
  readonly isShared: boolean;
  /** The chat that looks for a lost post. */
  readonly chatId: string;
  readonly afterId: number;
}

export interface SeenIds {
  readonly newestId: number;
  /** How many chats have asked about the box lately, this one included. */
  readonly searches: number;
  /** Ascending, all above `afterId`. */
  readonly ids: readonly number[];
}
