import { isSameThread } from "../../feature/same-thread.ts";
import type { Address } from "../../core/chat/surface.ts";
import { sumOfCosts } from "../../core/turn/turn-cost.ts";
import type { TurnCost } from "../../core/turn/turn-cost.ts";

/**
 * - `due`: stored, and nothing was done yet
 * - `running`: its handler or its turn runs, or its text is being delivered
 * - `waiting`: its turn waits for somebody's decision, or the turns of some chats do and nothing else is under way
 * - `delivered`: every chat that could be reached has the text, and the platform's message ids are stored. `code` is there
 *   if an action needed consent and did not run: `rejected`, `expired`, `withdrawn` or `action-failed`
 * - `done`: its handler has returned, or its answer was for no chat
 * - `failed`: it will not be tried again; `code` says why
 * - `skipped`: it never ran, or a later occurrence asks instead (`replaced`); `code` says why
 * - `no-change`: its source had nothing new
 */
export type OccurrenceState =
  | "due"
  | "running"
  | "waiting"
  | "delivered"
  | "done"
  | "failed"
  | "skipped"
  | "no-change";

export const OPEN_STATES = ["due", "running", "waiting"] as const satisfies readonly OccurrenceState[];

/** One turn of an occurrence, in one conversation. */
export interface Leg {
  /** The name of the conversation. `""` is the root. */
  readonly conversation: string;
  /** The chat that shows the text: the conversation's own. Undefined if none does. */
  readonly address?: Address | undefined;
  /** Whether it is the delivery to all its chats: `submissionId` is the id of a broadcast. */
  readonly isBroadcast?: boolean | undefined;
  /**
   * Whether the text is known already. With an address it was stored before 0.2.0: the conversation shows and remembers
   * it, and its model is not called. Read until 0.3.0.
   */
  readonly recites: boolean;
  readonly submissionId: string;
  readonly state: "new" | "open" | "waiting" | "delivered" | "done" | "failed" | "skipped";
  /** It does not begin before this, because its chat has quiet hours. In epoch milliseconds. */
  readonly notBefore?: number | undefined;
  /** Since when it is in this state, in epoch milliseconds. Undefined: since the occurrence began. */
  readonly since?: number | undefined;
  /** Reason of `failed` and `skipped`, or how a request for consent ended otherwise than with the action. */
  readonly code?: string | undefined;
  /** The platform's ids of its messages. */
  readonly messageIds: readonly string[];
  readonly usage?: TurnCost | undefined;
}

/** One occurrence of a task, as it is stored. */
export interface Occurrence {
  readonly key: string;
  readonly taskId: string;
  /** The time that the schedule names, in epoch milliseconds. */
  readonly scheduledFor: number;
  readonly state: OccurrenceState;
  /** The question to the model. Undefined for a handler. */
  readonly prompt: string | undefined;
  /** The text for its chats, once it is known. Only of occurrences that are not over. */
  readonly text: string | undefined;
  /** Hash of the data of its source. */
  readonly sourceHash: string | undefined;
  /** The chats that get the text. */
  readonly targets: readonly Target[];
  /** Whether it goes to so many chats that only their broadcast lists them. `targets` is empty then. */
  readonly isMany: boolean;
  readonly legs: readonly Leg[];
  /** Tokens and money of earlier tries. Undefined if none was counted. */
  readonly spent: TurnCost | undefined;
  /** Number of tries that have begun. */
  readonly attempts: number;
  /** How late it began, in milliseconds. */
  readonly lateMs: number;
  /** Time of its next step, in epoch milliseconds. */
  readonly nextAt: number;
  readonly code: string | undefined;
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** Since when its next step cannot be made, in epoch milliseconds. */
  readonly troubleSince: number | undefined;
  /** A message to the owner that is still to be sent. */
  readonly news: OwnerNews | undefined;
}

/** A chat that gets the text of an occurrence, and the conversation that remembers it. */
export interface Target {
  readonly conversation: string;
  readonly address: Address;
  /** How its delivery stands. Undefined before it begins, and if a turn of the occurrence has its address. */
  readonly delivery?: Omit<OccurrenceDelivery, "address"> | undefined;
}

/**
 * - `limited`: the task has used up its tokens or its money of the day
 * - `failing`: the first failure in a row
 * - `paused`: the task has paused itself
 * - `recovered`: the first success after a failure
 * - `too-late`: the task of a person was skipped, because the bot was away for too long
 */
export type OwnerNews = "limited" | "failing" | "paused" | "recovered" | "too-late";

/** One occurrence of a task, as `schedules.occurrences()` returns it. Contains no text of a chat. */
export interface OccurrenceRecord {
  readonly occurrenceKey: string;
  readonly taskId: string;
  readonly scheduledFor: number;
  readonly state: OccurrenceState;
  readonly code?: string;
  readonly attempts: number;
  readonly lateMs: number;
  /** One entry for each chat that gets the text, if these are at most 100. */
  readonly deliveries: readonly OccurrenceDelivery[];
  /** The delivery to its chats, for `broadcasts.get`. */
  readonly broadcastId?: string;
  /**
   * Tokens that the model's server counted in all tries, and their cost. A restart in the middle of a turn loses its
   * earlier ones.
   */
  readonly usage?: TurnCost;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
}

export interface OccurrenceDelivery {
  readonly address: Address;
  /**
   * - `waiting`: the turn of this chat waits for somebody's decision
   * - `skipped`: there was nothing to send to this chat; `code` says why
   */
  readonly state: "pending" | "waiting" | "delivered" | "failed" | "skipped";
  readonly messageIds: readonly string[];
  readonly code?: string;
}

export interface OccurrenceFilter {
  readonly taskId?: string;
  readonly state?: OccurrenceState | readonly OccurrenceState[];
  /** At most 1000. @default 100 */
  readonly limit?: number;
}

/** Returns an occurrence as the bot's own code sees it. */
export function recordOf(occurrence: Occurrence): OccurrenceRecord {
  const { attempts, code, createdAt, endedAt, key, lateMs, scheduledFor, startedAt, state, taskId } =
    occurrence;
  const usage = usageOf(occurrence);
  const broadcast = occurrence.legs.find(({ isBroadcast }) => isBroadcast === true);
  return {
    occurrenceKey: key,
    taskId,
    scheduledFor,
    state,
    ...(code !== undefined && { code }),
    attempts,
    lateMs,
    deliveries: occurrence.targets.map((target) => deliveryOf(target, occurrence)),
    ...(broadcast !== undefined && { broadcastId: broadcast.submissionId }),
    ...(usage !== undefined && { usage }),
    createdAt,
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
  };
}

function deliveryOf({ address, delivery }: Target, { code, endedAt, legs }: Occurrence): OccurrenceDelivery {
  if (delivery !== undefined) {
    const isCutOff = (delivery.state === "pending" || delivery.state === "waiting") && endedAt !== undefined;
    if (!isCutOff) return { address, ...delivery };
    return { address, messageIds: [], state: "skipped", ...(code !== undefined && { code }) };
  }
  const leg = legs.findLast((one) => one.address !== undefined && isSameThread(one.address, address));
  const isOver = leg?.state === "delivered" || leg?.state === "failed";
  const isSkipped = !isOver && endedAt !== undefined;
  const isWaiting = leg?.state === "waiting" && endedAt === undefined;
  const reason = leg?.code ?? (isSkipped ? code : undefined);
  return {
    address,
    state: isOver ? leg.state : isSkipped ? "skipped" : isWaiting ? "waiting" : "pending",
    messageIds: leg?.messageIds ?? [],
    ...(reason !== undefined && { code: reason }),
  };
}

/** Returns the tokens and the money of an occurrence's tries. Undefined if none was counted. */
export function usageOf({ legs, spent }: Pick<Occurrence, "legs" | "spent">): TurnCost | undefined {
  return sumOfCosts([spent, ...legs.map(({ usage }) => usage)]);
}
