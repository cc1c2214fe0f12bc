import type { UIMessage } from "ai";
import type { ChatEntry } from "../chat/chat.ts";
import type { ChatTarget } from "../chat/chat-target.ts";
import type { Content, ContentOptions } from "../message/content.ts";
import type { ScheduledRun } from "./scheduled-run.ts";
import type { Address } from "../chat/surface.ts";
import type { TurnCost } from "./turn-cost.ts";
import type { PromptMetadata } from "./turn-info.ts";

/** One chat: a target, as `say` takes it, or an address from `getTurn()?.answerTo`. */
export type BroadcastTarget = ChatTarget | Address;

/** Chats that a word names: all that have subscribed, or all that the bot can write to. */
export type ManyTargets = "subscribers" | "all";

/**
 * The chats of a broadcast.
 *
 * - `"subscribers"`: the chats that have subscribed, and still do when their turn comes
 * - `"all"`: every chat that the bot can write to
 * - one target, or a list. A conversation is `{ conversation }`, because any other word may be a typo
 * - a function: it is asked about every chat of the directory that the bot can write to, before `send` resolves
 */
export type BroadcastTargets =
  | ManyTargets
  | Exclude<BroadcastTarget, string>
  | readonly Exclude<BroadcastTarget, string>[]
  | ((chat: ChatEntry) => boolean | Promise<boolean>);

/** Chats as Switchboard itself names them: in its lists, a text is the name of a conversation. */
export type NamedTargets = BroadcastTargets | readonly BroadcastTarget[];

export interface BroadcastOptions extends Pick<ContentOptions, "silent" | "protect"> {
  /**
   * The caller's own name of the broadcast, 1 to 200 characters. A second call with the same key sends nothing and
   * returns the same id. @default a new name
   */
  readonly idempotencyKey?: string;
  /** Whether the model of each chat's conversation knows the text, so that it understands a reply to it. @default true */
  readonly informModel?: boolean;
  /**
   * Time after which chats whose turn has not come are skipped, in milliseconds. At most 14 days, and less than
   * `keepDeliveriesMs`. @default 259200000, which is 3 days
   */
  readonly expiresAfterMs?: number;
  /** Whether chats get it in their quiet hours, too: see `quietHoursOf`. @default false: they get it afterwards */
  readonly ignoreQuietHours?: boolean;
}

/** The message or prompt that every target of a broadcast gets. Plain JSON. */
export type BroadcastWork =
  /** The same content. Files by `fileId` or `url` only. */
  | {
      readonly kind: "content";
      readonly content: Content;
      readonly informModel: boolean;
      /** A word for the model that says what the content is. */
      readonly noteKind?: string;
      readonly options?: Pick<ContentOptions, "silent" | "protect">;
      /** Whether it is sent in a chat's quiet hours, too. */
      readonly ignoresQuietHours?: boolean | undefined;
      /**
       * Whether a model has written it: it passes through the messenger's filter for such texts, waits for the running
       * answer of its chat, and stays known to the model until a turn has read it.
       */
      readonly isAnswer?: boolean | undefined;
      /** The occurrence whose text it is, if a scheduled task sends it. */
      readonly run?: ScheduledRun | undefined;
    }
  /** A prompt: the model of each target's conversation answers it, with its own memory. */
  | {
      readonly kind: "prompt";
      readonly messages: readonly UIMessage[];
      readonly metadata?: PromptMetadata | undefined;
      /** For whom it runs, if a scheduled task asks. */
      readonly run?: ScheduledRun | undefined;
    };

/**
 * - `collecting`: its targets are being stored; nothing is sent yet
 * - `running`: messages are being sent
 * - `closing`: it was cancelled or has expired; the outcome of the newest messages is not known yet
 * - `done`, `cancelled`, `expired`: it has ended
 */
export type BroadcastState = "collecting" | "running" | "closing" | "done" | "cancelled" | "expired";

/** The progress of a broadcast. Plain JSON, without the content. */
export interface Broadcast {
  readonly id: string;
  readonly state: BroadcastState;
  /** Number of chats, each counted once. `total` is `waiting + sent + failed + skipped`. */
  readonly total: number;
  readonly waiting: number;
  /** Number of chats of `waiting` in which somebody has been asked to decide about an action. Undefined if there are none. */
  readonly deciding?: number;
  /** Number of chats of `waiting` that have quiet hours, or whose account the platform makes wait. Undefined if none. */
  readonly quiet?: number;
  /** The platform has the message: its id is stored. For a prompt: the model has answered, and the answer was sent. */
  readonly sent: number;
  readonly failed: number;
  readonly skipped: number;
  /** Number of failed and of skipped chats by code, for example `{ "bot-blocked": 3 }`. */
  readonly failures: Readonly<Record<string, number>>;
  readonly skips: Readonly<Record<string, number>>;
  /** Tokens and money of its prompts that have ended, as far as a model's server counted them. */
  readonly usage?: TurnCost | undefined;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly endedAt?: number;
}

/** The outcome of a broadcast for one chat. */
export interface BroadcastReceipt {
  /** Undefined if the target has no address. */
  readonly address?: Address;
  /** The conversation whose object has the receipt (`deliveries.get(deliveryId)`). */
  readonly conversation?: string;
  readonly deliveryId?: string;
  readonly state: TargetState;
  /**
   * Reason for `failed` or `skipped`. Of `open`: `waits-for-decision` if somebody has been asked about an action. Of
   * `sent`: `rejected`, `expired`, `withdrawn` or `action-failed` if an action needed consent and did not run.
   */
  readonly code?: string;
  /** The platform's ids of the messages. */
  readonly messageIds: readonly string[];
}

/**
 * - `waiting`: its turn has not come, or it has quiet hours
 * - `open`: its conversation has the message; the outcome is not known yet
 * - `sent`, `failed`, `skipped`: it has ended
 */
export type TargetState = "waiting" | "open" | "sent" | "failed" | "skipped";

export interface BroadcastReceiptFilter {
  readonly state?: TargetState;
  /** The `cursor` of the page before. */
  readonly cursor?: string;
  /** At most 1000. @default 100 */
  readonly limit?: number;
}

export interface BroadcastReceiptPage {
  readonly receipts: readonly BroadcastReceipt[];
  /** Undefined on the last page. */
  readonly cursor?: string;
}

/** One message of a broadcast on its way to the object of a conversation. Plain JSON. */
export interface HandOver {
  /** Equal for every repetition. */
  readonly broadcastId: string;
  /** The key of the target. */
  readonly target: string;
  readonly address: Address;
  readonly work: BroadcastWork;
  /** After this time (epoch milliseconds) only the outcome of an earlier call is reported, and nothing begins. */
  readonly notAfter: number;
  /** Longest time to wait for the outcome, in milliseconds. */
  readonly waitMs: number;
}

/** `waiting`: the object has stored the message, and sends it by itself. Ask again for the outcome. */
export type HandOverResult =
  /** `isDeciding`: somebody has been asked about an action of its run. */
  | { readonly state: "waiting"; readonly isDeciding?: boolean }
  | {
      readonly state: "sent";
      /** How a request for consent ended otherwise than with the action. */
      readonly code?: string | undefined;
      readonly deliveryId: string;
      readonly messageIds: readonly string[];
      readonly usage?: TurnCost | undefined;
    }
  | {
      readonly state: "failed";
      readonly code: string;
      readonly deliveryId?: string;
      /** The messages that people see all the same. */
      readonly messageIds?: readonly string[] | undefined;
      readonly usage?: TurnCost | undefined;
    }
  | { readonly state: "skipped"; readonly code: string; readonly usage?: TurnCost | undefined };

export interface SubscriberFilter {
  /** The `cursor` of the page before. */
  readonly cursor?: string;
  /** At most 1000. @default 100 */
  readonly limit?: number;
}

export interface SubscriberPage {
  readonly subscribers: readonly Subscriber[];
  /** Undefined on the last page. */
  readonly cursor?: string;
}

/** A chat, or a topic of a chat, that gets broadcasts for `"subscribers"`. */
export interface Subscriber {
  readonly address: Address;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** Where the message for a target goes. */
export type PlacedTarget =
  | {
      readonly kind: "found";
      readonly address: Address;
      /** Name of the conversation whose object sends it. */
      readonly conversation: string;
      /** The same for every target that means this place, also after the chat has moved. */
      readonly key: string;
      /** Language of the person of a private chat, if the platform tells it. */
      readonly language?: string;
    }
  | { readonly kind: "refused"; readonly code: string };

/** A chat whose conversation is known. */
export interface PlacedChat {
  readonly address: Address;
  /** Name of the conversation whose object sends to it. */
  readonly conversation: string;
}

/** A delivery to many chats. */
export interface NewBroadcast {
  /** 1 to 200 characters. The same id again is the same broadcast. @default a new id */
  readonly id?: string | undefined;
  readonly work: BroadcastWork;
  readonly targets: NamedTargets | readonly PlacedChat[];
  /** Time after which chats whose turn has not come are skipped, in milliseconds. @default 3 days */
  readonly expiresAfterMs?: number | undefined;
  /**
   * Whether the same id is the same broadcast, whatever its targets are now: those of a call that was cut count together
   * with those of the next one. @default false
   */
  readonly isKnownById?: boolean | undefined;
}

/** Most targets whose outcome is not known. Until some end, no new ones begin. */
export const MOST_OPEN = 400;

/** Returns the id of the message, or of the turn, by which a conversation takes a broadcast for one of its chats. */
export function takenAs(broadcastId: string, { threadId }: Pick<Address, "threadId">): string {
  return `broadcast:${broadcastId}:${threadId}`;
}

/** Sends to many chats, for the features that do not send themselves. */
export interface ManyChatsSender {
  startBroadcast(request: NewBroadcast): Promise<Broadcast>;
  getBroadcast(id: string): Promise<Broadcast | undefined>;
  broadcastReceipts(id: string, filter: BroadcastReceiptFilter): Promise<BroadcastReceiptPage>;
  /** Begins nothing new. Returns `false` if it has ended already, or does not exist. */
  cancelBroadcast(id: string): Promise<boolean>;
  /** Whether some chat has subscribed that can be written to. */
  hasSubscribers(): Promise<boolean>;
}
