import type { QuietHours } from "../../scheduled-runs/quiet-hours.ts";
import type { ChatTarget } from "../../core/chat/chat-target.ts";
import type { ChatEntry } from "../../core/chat/chat.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { PromptMetadata } from "../../core/turn/turn-info.ts";
import type { ScheduleKind } from "./rule.ts";
import type { ScheduleText } from "./schedule-text.ts";

/** A chat that gets the answer: a target as `say` takes it, or an address from `getTurn()?.answerTo`. */
export type DeliveryTarget = Address | ChatTarget;

/**
 * The chats that get the answer of a task: targets, the chats that have subscribed, or a function that is called for
 * each occurrence with the chats that the bot can write to. Any number is reached as `broadcasts.send` does.
 */
export type DeliverTo =
  | "subscribers"
  | DeliveryTarget
  | readonly DeliveryTarget[]
  | ((
      chats: readonly ChatEntry[],
    ) => DeliveryTarget | readonly DeliveryTarget[] | Promise<DeliveryTarget | readonly DeliveryTarget[]>);

/** How late an occurrence may run, if the machine was away at its time. */
export interface Lateness {
  /** Up to this much later an occurrence runs all the same, in milliseconds. */
  readonly runWithinMs: number;
  /** Treatment of an occurrence that is later than that. */
  readonly otherwise: "skip" | "run";
}

interface TaskOptions {
  /** When it runs. See `ScheduleText`. */
  readonly schedule: ScheduleText;
  /** Zone of a schedule that names none, such as `"Europe/London"`. @default `getDefaultTimezone()` */
  readonly timezone?: string;
  /**
   * Whether the bot has one such task (`"root"`), or each conversation has its own.
   *
   * @default "root"
   */
  readonly scope?: "root" | "conversation";
  /** Plain facts for the handler, and for `getTurn()` of a prompt. The model never sees them. */
  readonly metadata?: PromptMetadata;
  /** How often an occurrence is tried. @default `{ maxAttempts: 1 }` */
  readonly retry?: { readonly maxAttempts: number };
  /**
   * How late an occurrence may run. @default the latest missed one runs once, however late, and a digest says that it is
   * late
   */
  readonly ifLate?: Lateness;
  /** Each occurrence starts up to this much later, at random, so that not all start together. @default 0 */
  readonly jitterMs?: number;
  /** No occurrence is later than this ISO time. @default none */
  readonly until?: string;
  /** Most occurrences. @default none */
  readonly count?: number;
  /**
   * The chat that learns of failures, with a card to resume or delete the task. @default none: the log and `/health`
   * say so
   */
  readonly owner?: DeliveryTarget;
  /**
   * Whether the owner is also asked the questions of its actions (`ctx.confirm`, `choose` and `elicit`). The owner must be
   * a person.
   *
   * @default false: their answer is `nobody` at once
   */
  readonly asksOwner?: boolean;
  /**
   * The people who may press the buttons of that card if the owner is a group: their ids in its messenger. In a private
   * chat its person may. @default none: in a group the card has no buttons
   */
  readonly managers?: readonly (string | number)[];
}

/** A task whose occurrences ask the model. */
export interface PromptTask extends TaskOptions {
  readonly prompt: string;
  readonly handler?: never;
  /**
   * The chats that get the answer. @default none at the root; the conversation's own chat with `scope: "conversation"`
   */
  readonly deliverTo?: DeliverTo;
  /**
   * `"once"`: one run in an object of its own, and the same text to all chats. `"each"`: the conversation of every chat
   * runs the prompt with its own memory.
   *
   * @default "once"
   */
  readonly fanOut?: "once" | "each";
  /**
   * Fetches what the prompt is about. The model reads it after the prompt. If it returns nothing, or the same as at the
   * last delivery, the model is not called and nobody gets a message.
   */
  readonly source?: (occurrence: ScheduledOccurrence) => unknown;
  /** Times of day at which it writes to nobody. @default none */
  readonly quietHours?: QuietHours;
  /**
   * Most tokens that it may use in 24 hours, with failed tries. Its next occurrence is then skipped, and the owner is
   * told.
   *
   * @default no limit
   */
  readonly mostTokensPerDay?: number;
  /** Most money that it may use in 24 hours, in the currency of `modelPrices`. @default no limit */
  readonly mostCostPerDay?: number;
}

/** A task whose occurrences run the bot's own code, at least once each. */
export interface HandlerTask extends TaskOptions {
  readonly prompt?: never;
  readonly handler: (occurrence: ScheduledOccurrence) => void | Promise<void>;
}

/** One task of `getScheduledTasks()`. */
export type ThinkScheduledTask = PromptTask | HandlerTask;

/** The scheduled tasks of a bot, by id: 1 to 64 letters, digits, `_` and `-`. */
export type ThinkScheduledTasks = Readonly<Record<string, ThinkScheduledTask>>;

/** One occurrence of a task, as the bot's code gets it. */
export interface ScheduledOccurrence {
  readonly taskId: string;
  /** The time that the schedule names, in epoch milliseconds. */
  readonly scheduledFor: number;
  readonly scheduledForDate: Date;
  /** Equal for every try of this occurrence, and different for any other one of this object's tasks. */
  readonly occurrenceKey: string;
  /** `occurrenceKey` with the name of the object: unique in the whole bot. */
  readonly idempotencyKey: string;
  readonly schedule: string;
  readonly scheduleKind: ScheduleKind;
  /** Undefined for schedules that are the same everywhere. */
  readonly timezone: string | undefined;
  readonly metadata: PromptMetadata | undefined;
}

/** Checks the literal types of scheduled tasks, for a `getScheduledTasks()` without a return type. */
export function defineScheduledTasks<const Tasks extends ThinkScheduledTasks>(tasks: Tasks): Tasks {
  return tasks;
}
