import type { Address, Pacing } from "./surface.ts";

/**
 * What a call is for. In this order of worth: `answer` (a press of a button; never delayed), `final` (the last state
 * of a reply; has a slot kept for it), `post` (a message that must become visible), `edit` (an interim state) and
 * `typing`, which are shed first (I7).
 */
export type CallPurpose = "answer" | "final" | "post" | "edit" | "typing";

export type Grant =
  | {
      readonly kind: "granted";
      /** The newest message id that the root knew of the box named in the request. */
      readonly newestId?: number;
      readonly lease?: Lease;
      /** Other threads of the chat wait, or may come and wait, until what became of the post is told. */
      readonly tellsAtOnce?: boolean;
    }
  /** Not now. Ask again at `retryAt` (epoch milliseconds); for `edit` and `typing`, or skip the call. */
  | { readonly kind: "wait"; readonly retryAt: number; readonly reason: "pacing" | "penalty" };

/**
 * Further calls to the same chat that need no question, while no other thread of the chat wants any. They are taken
 * out of the budget already; unused ones lapse.
 */
export interface Lease {
  readonly slots: number;
  /** Epoch milliseconds. */
  readonly until: number;
}

export interface CallRequest {
  /** The thread can use a `Lease`. @default false */
  readonly takesLease?: boolean;
  readonly news?: BoxNews;
}

/** What a thread says about its messages when it asks for a call, for platforms that number them (`Probing`). */
export interface BoxNews {
  readonly box: string;
  /** The call is a post: until an id of it is told, the thread may own a message that nobody has seen. */
  readonly isPost: boolean;
  /** Ids of messages that the thread has sent since it last told any. */
  readonly sentIds: readonly number[];
}

/**
 * One budget and one penalty memory per chat, for all threads and topics of that chat. The root object holds it;
 * threads ask before every call. Neither method throws for a full budget.
 */
export interface Budget {
  acquire(address: Address, purpose: CallPurpose, pacing: Pacing, request?: CallRequest): Promise<Grant>;
  /** The platform refused a call for `retryAfterMs`: nothing is sent to this chat until then (I8). Durable. */
  penalize(address: Address, retryAfterMs: number): Promise<void>;
  /** What is known of the bot's message boxes; without it nothing but the thread's own messages is. */
  readonly boxes?: MessageBoxes;
}

/** The budget where it is held. */
export interface RootBudget extends Budget {
  readonly boxes: MessageBoxes;
}

/**
 * The message ids that the bot has seen, by box. After a restart less is known, which never makes an answer
 * wrong, only longer.
 */
export interface MessageBoxes {
  /** Ids of incoming messages; with `sender`, of messages that this thread has sent, none when a post was not made. */
  observe(messengerId: string, box: string, ids: readonly number[], sender?: Address): Promise<void>;
  /** The ids in a range that may hold a lost message of this thread. */
  unseen(address: Address, box: string, range: IdRange): Promise<UnseenIds>;
}

/** What one object is asked about the messages that it has sent into a chat in which others speak too. */
export interface OwnMessagesQuestion {
  readonly messengerId: string;
  readonly chatId: string;
  readonly afterId: number;
  /** Epoch milliseconds: posts that began before are of no interest. */
  readonly sinceAt: number;
}

export interface OwnMessages {
  readonly ids: readonly number[];
  /** Whether there may be a message of its own of which it does not know the id: a post was lost. */
  readonly hasLostPost: boolean;
  /** Whether a post is being made, as far as is stored. */
  readonly isPosting: boolean;
}

export interface IdRange {
  readonly afterId: number;
  /** Without it the range ends some ids after the newest one that is known. */
  readonly beforeId?: number;
  /** How many ids after the newest one end an open range. By default few in a private chat, where somebody waits. */
  readonly tail?: number;
  /** Epoch milliseconds at which the lost call began. */
  readonly sinceAt: number;
}

export interface UnseenIds {
  /** Ascending. Incomplete when the range is too long. */
  readonly ids: readonly number[];
  readonly isTooLong: boolean;
  readonly others: OtherOwners;
}

/**
 * Whether other threads of the same chat may have a message of their own among unseen ids.
 *
 * - `none`: no
 * - `lost`: only one that they look for, too; all others of theirs are known
 * - `posting`: one of them posts at this moment
 * - `unknown`: it cannot be told
 */
export type OtherOwners = "none" | "lost" | "posting" | "unknown";
