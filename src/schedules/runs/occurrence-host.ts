import type { LegReport, LegRequest } from "../../scheduled-runs/leg.ts";
import type { Clock } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import type { ScheduledRun } from "../../core/turn/scheduled-run.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Occurrence, OccurrenceDelivery, Target } from "../rules/occurrence.ts";
import type { DeliverTo } from "../rules/scheduled-task.ts";

/** The targets of an occurrence that can be reached. */
export type FoundTargets =
  | { readonly kind: "found"; readonly targets: readonly Target[] }
  /** So many that only their broadcast lists them. */
  | { readonly kind: "many" }
  /** The task names no chat now, for example because nobody has subscribed. */
  | { readonly kind: "none" }
  /** None of the chats that the task names can be reached. */
  | { readonly kind: "refused"; readonly code: string };

/** The work of an occurrence for each of its chats. */
export type ManyWork = {
  /** For whom it runs, and who is told of its end. */
  readonly run: ScheduledRun;
} & (
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "prompt"; readonly prompt: string; readonly metadata: CheckedTask["metadata"] }
);

/** The state of a delivery to chats. */
export interface ManyReport extends LegReport {
  /** How it stands in each chat. Undefined if there are too many. */
  readonly chats?: readonly OccurrenceDelivery[];
}

/** Tokens and money that a task has used in 24 hours. */
export interface UsedToday {
  readonly tokens: number;
  readonly cost: number;
}

/** The calls that the steps of an occurrence make. */
export interface OccurrenceHost {
  readonly clock: Clock;
  readonly log: Log;
  /** The name of the object. */
  readonly name: string;
  /** The conversation in which the prompt of a task runs, unless its targets run it. */
  readonly runsIn: (taskId: string) => string;
  readonly find: (deliverTo: DeliverTo | undefined) => Promise<FoundTargets>;
  /** The question to the model. */
  readonly promptOf: (task: CheckedTask, occurrence: Occurrence, data: string | undefined) => string;
  /** The line before a text that a conversation has not asked for itself. For turns that were stored before 0.2.0. */
  readonly introductionOf: (task: CheckedTask) => string;
  /** Stores a turn in the object of its conversation, unless it is known there. */
  readonly submit: (conversation: string, request: LegRequest) => Promise<void>;
  readonly report: (conversation: string, submissionId: string) => Promise<LegReport>;
  /** Returns the end of the quiet hours of a chat, in epoch milliseconds. Undefined outside of them. */
  readonly quietUntil?: (address: Address) => Promise<number | undefined>;
  /** Ends turns of earlier occurrences for a chat that has had quiet hours since before they could begin. */
  readonly replaceQuiet?: (newer: Occurrence, address: Address) => void;
  /** For whom a turn of this occurrence runs. */
  readonly runOf: (task: CheckedTask, occurrence: Occurrence) => Promise<ScheduledRun>;
  /** Posts the card of a reminder, unless it was posted before. */
  readonly remind: (id: string, task: CheckedTask, occurrence: Occurrence) => void;
  readonly reportCard: (id: string) => LegReport;
  /** Returns what a task has used in 24 hours. */
  readonly usedToday: (taskId: string) => UsedToday;
  /** Begins a delivery to chats, unless it has begun before. */
  readonly broadcast: (
    id: string,
    work: ManyWork,
    to: DeliverTo | readonly Target[] | undefined,
  ) => Promise<void>;
  readonly reportBroadcast: (id: string, isListed: boolean) => Promise<ManyReport>;
  /** Stores the occurrence before the next thing that can be seen outside. */
  readonly save: (occurrence: Occurrence) => void;
}
