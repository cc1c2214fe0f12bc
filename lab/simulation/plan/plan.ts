import type { DeliveryPolicy, ReplyPolicy } from "../../../src/core/chat/delivery.ts";
import type { ChildItem } from "./child-items.ts";
import type { CodeItem } from "./code-items.ts";
import type { ExtensionItem } from "./extension-items.ts";
import type { QuestionItem } from "./question-items.ts";
import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";

/** A place where people and the bot write: a private chat, a group, or one topic of a forum. */
export interface Place {
  readonly threadId: string;
  readonly chatId: string;
  readonly topicId?: string;
  readonly isDirectMessage: boolean;
  /** The person of a private chat. @default "7" */
  readonly userId?: "7" | "8";
  /** Messages of one box share the count of ids: all private chats and basic groups, or one supergroup. */
  readonly box: string;
}

/**
 * The abilities of a run's platform.
 *
 * - `telegram`: edits, deletions, temporary drafts in private chats, ids with which a lost post can be found
 * - `streams`: edits, deletions, messages that are streamed into
 * - `fixed`: messages cannot be changed
 */
export type PlatformKind = "telegram" | "streams" | "fixed";

/**
 * Ways in which a platform other than `telegram` finds a lost post.
 *
 * - `keys`: it keeps the key of each message
 * - `lists`: it lists the bot's messages since a time, with their texts
 * - `repeats`: it makes no second message with a key for a while, and keeps the key
 */
export type SearchKind = "none" | "keys" | "lists" | "repeats";

/** Whether the outcome of a lost post can be found out. */
export function canSearch({ platform, search }: Pick<Plan, "platform" | "search">): boolean {
  return platform === "telegram" || search !== "none";
}

/** Fault of one call to the platform. `doneAfterMs` counts from its arrival. */
export type CallFault =
  /** Not done: no connection, or the platform's own 5xx. */
  | { readonly kind: "refused" }
  /** A gateway's error: it may have been done. */
  | { readonly kind: "gateway"; readonly done: boolean }
  | { readonly kind: "cut-before" }
  | { readonly kind: "cut-after" }
  /** The connection is cut, and the call is done later. */
  | { readonly kind: "late"; readonly doneAfterMs: number }
  /** No answer, ever. */
  | { readonly kind: "hang"; readonly done: boolean }
  /** Done at once, answered late. */
  | { readonly kind: "slow"; readonly answeredAfterMs: number }
  /** Done late, and answered then. */
  | { readonly kind: "slow-done"; readonly doneAfterMs: number }
  | { readonly kind: "flood"; readonly retryAfterS: number }
  /** The platform refuses the formatting. */
  | { readonly kind: "bad-entities" }
  | { readonly kind: "unauthorized" };

/** `child`: all objects of agents that work for others. */
export type Victim = "thread" | "gate" | "root" | "machine" | "child";

export type PlanItem =
  | { readonly kind: "message"; readonly at: number; readonly place: number; readonly token: string }
  | { readonly kind: "edit"; readonly at: number; readonly token: string }
  | {
      readonly kind: "command";
      readonly at: number;
      readonly place: number;
      readonly token: string;
      readonly name: "stop" | "new" | "help";
    }
  /** Other people's messages, which take ids of the box. */
  | { readonly kind: "noise"; readonly at: number; readonly place: number; readonly count: number }
  /** The person blocks the bot, comes back, and writes. */
  | {
      readonly kind: "block";
      readonly at: number;
      readonly forMs: number;
      readonly place: number;
      readonly token: string;
    }
  /** The platform's own stop button, under the draft that is seen at that time, if there is one. */
  | { readonly kind: "stop-button"; readonly at: number; readonly place: number }
  /** A person deletes one of the bot's messages: the last one, the one before it, ... */
  | { readonly kind: "delete"; readonly at: number; readonly place: number; readonly back: number }
  /** The process dies at the n-th boundary: before or after a durable write, or before or after a call. */
  | {
      readonly kind: "crash";
      readonly boundary: number;
      /**
       * `gate`: only boundaries of gates count that serve conversations in other objects. `effect`: only those before and
       * after the effect of an action. `question`: only those before and after changes of what is stored of questions.
       * `code`: the same of runs of code, and of undo. `child`: the same of runs of other agents.
       * @default all boundaries count, except those within questions, code and other agents
       */
      readonly within?: "gate" | "effect" | "question" | "code" | "child";
      readonly victim: Victim;
      readonly downMs: number;
    }
  | {
      readonly kind: "crash-at";
      readonly at: number;
      readonly victim: Victim;
      readonly place: number;
      readonly downMs: number;
    }
  | { readonly kind: "fault"; readonly call: number; readonly fault: CallFault }
  | {
      readonly kind: "storm";
      readonly at: number;
      readonly forMs: number;
      readonly share: number;
      readonly fault: CallFault;
    }
  /** A prompt of the bot's own code, whose answer goes to a place. `again`: it is submitted a second time. */
  | {
      readonly kind: "prompt";
      readonly at: number;
      readonly place: number;
      readonly token: string;
      readonly again: boolean;
    }
  /** The bot's own code posts a text into a place, as a broadcast does. */
  | { readonly kind: "tell"; readonly at: number; readonly place: number; readonly token: string }
  /** A scheduled task of the bot, from the beginning, whose digests go to these places. */
  | {
      readonly kind: "schedule";
      readonly task: string;
      readonly places: readonly number[];
      readonly fanOut: "each" | "once";
      readonly everyMs: number;
      /** Number of occurrences. */
      readonly count: number;
      readonly maxAttempts: number;
    }
  /** A person replies to the newest digest in a place, and quotes it. Nothing is written if none comes soon. */
  | { readonly kind: "quote-digest"; readonly at: number; readonly place: number; readonly token: string }
  /** A card is posted: by a command that a person writes in its place, or by the conversation of another place. */
  | {
      readonly kind: "card";
      readonly at: number;
      readonly place: number;
      readonly by: "command" | "bot";
      /** The place whose conversation posts it. */
      readonly from: number;
      readonly token: string;
    }
  /** The bot's own code changes a card: so many times at once. */
  | { readonly kind: "revise-card"; readonly at: number; readonly token: string; readonly times: number }
  | { readonly kind: "remove-card"; readonly at: number; readonly token: string }
  /** A person presses a button of a card. `isOld`: one that the card has had, but may not have any more. */
  | {
      readonly kind: "press-card";
      readonly at: number;
      readonly card: string;
      readonly token: string;
      readonly button: "keep" | "own";
      readonly isOld: boolean;
      readonly manner: PressManner;
    }
  /** A person in a group writes a number and nothing else, perhaps that of an option of a card. */
  | {
      readonly kind: "type-number";
      readonly at: number;
      readonly place: number;
      readonly token: string;
      readonly number: number;
      readonly manner: PressManner;
    }
  /** Files or a place are sent: by a command that a person writes, or by the conversation of another place. */
  | {
      readonly kind: "album";
      readonly at: number;
      readonly place: number;
      readonly by: "command" | "bot";
      /** The place whose conversation sends them. */
      readonly from: number;
      readonly token: string;
      /** Number of files. 0: a place on the map. */
      readonly files: number;
      /** Number of words of the caption. */
      readonly words: number;
      /** Whether other albums of the run have the same files, so that the platform may know them. */
      readonly isShared: boolean;
    }
  /** The platform forgets all files that it has. Their ids mean nothing any more. */
  | { readonly kind: "forget-files"; readonly at: number }
  /** The answer to a message calls an action of its own. */
  | {
      readonly kind: "proposal";
      /** Name of the message. */
      readonly token: string;
      /** The people who must agree first. `nobody`: it runs unasked. */
      readonly approvers: "ada" | "anyone" | "nobody";
      /** The number of different people who must agree. @default 1 */
      readonly quorum?: 2;
      /**
       * An interrupted run: the bot asks the outside system, or runs it again under the key that the system knows, or
       * leaves it.
       */
      readonly repeats: "verified" | "keyed" | "never";
      readonly workMs: number;
      readonly expiresAfterMs: number;
      /** Number of files that it attaches to the answer. */
      readonly files: number;
      /** The size that the model asks for. Undefined: its input has none. */
      readonly size?: Size;
      /** Whether it is a call of the one action whose calls people allow up to a sum of sizes. */
      readonly spends?: true;
    }
  /** An approver changes the size in the form of the newest card that asks about an action, or waits for one. */
  | {
      readonly kind: "change-input";
      readonly at: number;
      readonly proposal: string;
      readonly token: string;
      readonly person: "7" | "8";
      readonly size: Size;
    }
  /** A person presses a button of the newest card that asks about an action, or waits for one. */
  | {
      readonly kind: "decide";
      readonly at: number;
      /** Name of the message whose answer has called the action. */
      readonly proposal: string;
      readonly token: string;
      /** Id of the person, where several can press. */
      readonly person: "7" | "8";
      readonly button: "Approve" | "Allow always" | "Reject" | "More" | "Take back" | "Ask for changes";
    }
  | QuestionItem
  | CodeItem
  | ChildItem
  | ExtensionItem
  /** A person presses a button. */
  | { readonly kind: "press"; readonly at: number; readonly place: number; readonly token: string }
  /** A person deletes a message of their own, and the bot is told. */
  | { readonly kind: "take-back"; readonly at: number; readonly token: string }
  /** A message has a file that loads at once, late or never. */
  | { readonly kind: "file"; readonly token: string; readonly loadedAfterMs: number; readonly fails: boolean }
  /** Fault of the n-th update after it was stored. */
  | { readonly kind: "again"; readonly update: number; readonly how: "answer-lost" | "twice" | "renumbered" };

/** The size of an action's input. */
export type Size = "small" | "medium" | "large";

/** What an input of each size is worth, and what one consent allows in all conversations together. */
export const WORTH: Readonly<Record<Size, number>> = { small: 10, medium: 20, large: 40 };
export const MOST_WORTH = 70;

/** The reaction of the bot's handler to a press. */
export type PressManner = "nothing" | "toast" | "alert" | "slow" | "hang" | "throws" | "revises" | "removes";

/**
 * Treatment of rich messages by the server.
 *
 * - `knows`: shows them
 * - `never`: is too old for them
 * - `until`: is replaced by an older one after this time
 * - `refuses`: refuses the content of the n-th one
 */
export type RichServer =
  | { readonly kind: "knows" }
  | { readonly kind: "never" }
  | { readonly kind: "until"; readonly at: number }
  | { readonly kind: "refuses"; readonly call: number };

/** The messenger's options that influence a run. */
export interface PlannedPolicy {
  readonly onUnknown: NonNullable<ReplyPolicy["onUnknown"]>;
  readonly replyTo: NonNullable<DeliveryPolicy["replyTo"]>;
  /** Undefined if rich messages are not requested. */
  readonly rich: RichServer | undefined;
  readonly rerunOnEdit: boolean;
  /** Whether a press of a button starts a turn. */
  readonly answersPresses: boolean;
  readonly footer: string | undefined;
  /** Whether the model may choose silence in a group, which it sometimes does. */
  readonly silence: boolean;
  /** Whether the model calls tools. */
  readonly tools: boolean;
  /** Whether the platform refuses to remove cards, as Telegram does after 48 hours. */
  readonly locksCards: boolean;
}

/**
 * Way in which events find their conversation.
 *
 * - `thread`: each place has a conversation of its own
 * - `person`: one conversation speaks in all places of a person, and no other object speaks there
 * - `self`: the root itself answers everywhere
 */
export type Routing = "thread" | "person" | "self";

/** All events of one run, except latencies, which the seed also decides. */
export interface Plan {
  readonly seed: number;
  readonly places: readonly Place[];
  readonly routing: Routing;
  /** The name of the object that handles each place, by the number of the place. */
  readonly objects: readonly string[];
  readonly items: readonly PlanItem[];
  /** Treatment of an interrupted text. */
  readonly interruptedStep: "restart" | "continue";
  readonly platform: PlatformKind;
  readonly search: SearchKind;
  /** Effect of a message that arrives during a reply. */
  readonly whenBusy: "queue" | "interrupt" | "steer";
  /** Delivery modes by the number of the place. All places of one object have the same mode. */
  readonly modes: readonly DeliveryMode[];
  readonly policy: PlannedPolicy;
}
