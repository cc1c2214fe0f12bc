import { logBotFailure } from "../core/bot-code.ts";
import type { Clock } from "../core/deps.ts";
import { errorCode } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { sha256 } from "../core/sha256.ts";
import type { ScheduledRun } from "../core/scheduled-run.ts";
import type { Address } from "../core/surface.ts";
import type { TurnCost } from "../core/turn-cost.ts";
import { withinTime } from "../core/within-time.ts";
import type { CheckedTask, Work } from "./check-tasks.ts";
import { usageOf } from "./occurrence.ts";
import type { Leg, Occurrence, Target } from "./occurrence.ts";
import { quietUntil } from "./quiet-hours.ts";
import type { DeliverTo, ScheduledOccurrence } from "./scheduled-task.ts";
import type { StoredTask } from "./schedule-store.ts";
import type { LimitCode, OccurrenceEnd, StepResult } from "./step-result.ts";

/** A turn of an occurrence, for the object of its conversation. */
export interface LegRequest {
  readonly id: string;
  /** The question to the model. With `recites`: a line for the transcript, which says what the text is. */
  readonly prompt: string;
  /** The text that the conversation shows and remembers, without asking its model. */
  readonly recites: string | undefined;
  readonly address: Address | undefined;
  readonly metadata: CheckedTask["metadata"];
  /** For whom it runs. Undefined with `recites`. */
  readonly run?: ScheduledRun | undefined;
}

/** The state of a turn in the object of its conversation. */
export interface LegReport {
  readonly state: "open" | "waiting" | "completed" | "failed" | "skipped";
  /** Reason of `failed` and `skipped`. Of `completed`: how a request for consent ended otherwise than with the action. */
  readonly code?: string | undefined;
  /** Of `failed`: whether the chat accepts nothing any more. */
  readonly isGone?: boolean | undefined;
  /** The text of a completed turn that no chat shows. */
  readonly text?: string | undefined;
  /** The messages in its chat, once all of them are visible. Undefined before, and without a chat. */
  readonly messageIds?: readonly string[] | undefined;
  readonly usage?: TurnCost | undefined;
}

/** The targets of an occurrence that can be reached, or the reason why none can. */
export type FoundTargets =
  | { readonly kind: "found"; readonly targets: readonly Target[] }
  /** So many that they are reached one after the other, in a pace of their own. */
  | { readonly kind: "many" }
  | { readonly kind: "none"; readonly code: string };

/** The work of an occurrence for each of many chats. */
export type ManyWork =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "prompt";
      readonly prompt: string;
      readonly metadata: CheckedTask["metadata"];
      /** For whom the prompt runs. */
      readonly run: ScheduledRun;
    };

/** Tokens and money that a task has used in 24 hours. */
export interface UsedToday {
  readonly tokens: number;
  readonly cost: number;
}

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
  /** The line before a text that a conversation has not asked for itself. */
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
  /** Begins a delivery to many chats, unless it has begun before. */
  readonly broadcast: (id: string, work: ManyWork, deliverTo: DeliverTo | undefined) => Promise<void>;
  readonly reportBroadcast: (id: string) => Promise<LegReport>;
  /** Stores the occurrence before the next thing that can be seen outside. */
  readonly save: (occurrence: Occurrence) => void;
}

const HANDLER_LIMIT_MS = 15 * 60_000;
/** A handler whose process died is started again, this often beyond its attempts. */
const MOST_INTERRUPTIONS = 3;
const RETRY_AFTER_MS = 2000;
const RETRY_MOST_MS = 5 * 60_000;
const LOOK_AGAIN_MS = 250;
const LOOK_AGAIN_MOST_MS = 60_000;
/** People may take days to decide. */
const LOOK_AT_WAITING_MOST_MS = 15 * 60_000;
const MOST_DATA_CHARACTERS = 100_000;

/** Does the next step of an occurrence. Each step can be made again after a crash. */
export async function runOccurrence(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  stored: StoredTask,
): Promise<StepResult> {
  const { work } = task;
  if (work.kind === "handler") return runHandler(host, occurrence, task, work);
  if (work.kind === "reminder") return runReminder(host, occurrence, task, work);
  if (occurrence.state === "due") return beginPrompt(host, occurrence, task, work, stored);
  return continuePrompt(host, occurrence, task);
}

/** An occurrence as the bot's code gets it. */
export function occurrenceFor(
  name: string,
  { key, scheduledFor }: Occurrence,
  task: CheckedTask,
): ScheduledOccurrence {
  return {
    taskId: task.id,
    scheduledFor,
    scheduledForDate: new Date(scheduledFor),
    occurrenceKey: key,
    idempotencyKey: `${name}:${key}`,
    schedule: task.schedule,
    scheduleKind: task.kind,
    timezone: task.zone,
    metadata: task.metadata,
  };
}

async function runHandler(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  { handler }: Extract<Work, { kind: "handler" }>,
): Promise<StepResult> {
  const { clock, log, name } = host;
  if (occurrence.attempts >= task.maxAttempts + MOST_INTERRUPTIONS)
    return ended(occurrence, { state: "failed", code: "interrupted" });
  const running: Occurrence = {
    ...occurrence,
    state: "running",
    attempts: occurrence.attempts + 1,
    startedAt: occurrence.startedAt ?? clock.now(),
  };
  host.save(running);
  try {
    const context = occurrenceFor(name, running, task);
    await withinTime(clock, HANDLER_LIMIT_MS, Promise.resolve(handler(context)), "the handler");
    return ended(running, { state: "done" });
  } catch (error) {
    logBotFailure(log.with({ task: task.id, occurrence: running.key }), "handler", error);
    return retried(host, running, task, errorCode(error) ?? "handler-failed");
  }
}

/** Posts the card of a reminder, and waits until it is visible. */
async function runReminder(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  { address }: Extract<Work, { kind: "reminder" }>,
): Promise<StepResult> {
  const now = host.clock.now();
  const id = `reminder:${occurrence.key}`;
  const leg: Leg = { ...newLeg(occurrence, 1, 0), submissionId: id, address };
  if (occurrence.state === "due") {
    const target = { conversation: "", address };
    const running: Occurrence = {
      ...occurrence,
      state: "running",
      startedAt: now,
      attempts: 1,
      targets: [target],
    };
    host.save({ ...running, legs: [leg] });
    host.remind(id, task, running);
    return lookAgain(host, { ...running, legs: [{ ...leg, state: "open" }] }, [leg]);
  }
  // The process may have died before the card was stored.
  host.remind(id, task, occurrence);
  const { code, isGone, messageIds = [], state } = host.reportCard(id);
  if (state === "open" || state === "waiting") return lookAgain(host, occurrence, [leg]);
  const isShown = state === "completed" && messageIds.length > 0;
  const legs: Leg[] = [{ ...leg, state: isShown ? "delivered" : "failed", code, messageIds }];
  return ended(
    { ...occurrence, legs },
    isShown ? { state: "delivered" } : { state: "failed", code: code ?? "not-delivered", isGone },
  );
}

async function beginPrompt(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  work: Extract<Work, { kind: "prompt" }>,
  stored: StoredTask,
): Promise<StepResult> {
  const now = host.clock.now();
  const until = work.quietHours === undefined ? undefined : quietUntil(work.quietHours, now);
  if (until !== undefined) return { kind: "continues", occurrence: { ...occurrence, nextAt: until } };
  const running: Occurrence = { ...occurrence, state: "running", startedAt: occurrence.startedAt ?? now };
  const limit = limitReached(work, host, task);
  if (limit !== undefined) return ended(running, { state: "skipped", code: limit });
  const fetched = await fetchSource(host, running, task, work);
  if (fetched.kind === "failed") {
    const tried = { ...occurrence, attempts: occurrence.attempts + 1 };
    return retried(host, tried, task, "source-failed");
  }
  if (fetched.kind === "nothing") return ended(running, { state: "no-change", code: "nothing" });
  if (fetched.hash !== undefined && fetched.hash === stored.sourceHash)
    return ended(running, { state: "no-change", code: "same-data" });
  const found = await host.find(work.deliverTo);
  if (found.kind === "none") {
    const { code } = found;
    return ended(running, { state: "failed", code, isGone: GONE_CODES.has(code) });
  }
  const attempts = running.attempts + 1;
  const isMany = found.kind === "many";
  const targets = isMany ? [] : found.targets;
  const legs: Leg[] =
    isMany && work.fanOut === "each"
      ? [{ ...newLeg(running, attempts, 0), isBroadcast: true }]
      : work.fanOut === "each" || task.scope === "conversation"
        ? targets.map((target, index) => ({ ...newLeg(running, attempts, index), ...target }))
        : [{ ...newLeg(running, attempts, 0), conversation: host.runsIn(task.id) }];
  const begun: Occurrence = {
    ...running,
    attempts,
    targets,
    isMany,
    legs: legs.length > 0 ? legs : [{ ...newLeg(running, attempts, 0), conversation: host.runsIn(task.id) }],
    prompt: host.promptOf(task, running, fetched.data),
    sourceHash: fetched.hash,
  };
  // All names are stored before the first turn exists.
  host.save(begun);
  return continuePrompt(host, begun, task);
}

function limitReached(
  { mostCostPerDay = Infinity, mostTokensPerDay = Infinity }: Extract<Work, { kind: "prompt" }>,
  { usedToday }: Pick<OccurrenceHost, "usedToday">,
  { id }: CheckedTask,
): LimitCode | undefined {
  if (mostCostPerDay === Infinity && mostTokensPerDay === Infinity) return undefined;
  const { cost, tokens } = usedToday(id);
  if (tokens >= mostTokensPerDay) return "token-limit";
  return cost >= mostCostPerDay ? "cost-limit" : undefined;
}

async function continuePrompt(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
): Promise<StepResult> {
  const legs: Leg[] = [];
  let { text } = occurrence;
  for (const leg of occurrence.legs) {
    const advanced = await advance(host, occurrence, task, leg);
    const isChanged = advanced.leg.state !== leg.state;
    legs.push(isChanged ? { ...advanced.leg, since: host.clock.now() } : advanced.leg);
    text ??= advanced.text;
  }
  const current: Occurrence = { ...occurrence, legs, text };
  const open = legs.filter(({ state }) => state === "new" || state === "open" || state === "waiting");
  if (open.length > 0) return lookAgain(host, current, open);
  const [first] = legs;
  const isRunAlone = first !== undefined && first.address === undefined && first.isBroadcast !== true;
  if (isRunAlone && first.state === "failed")
    return retried(host, current, task, first.code ?? "turn-failed");
  if (isRunAlone && first.state === "skipped")
    return ended(current, { state: "skipped", code: first.code ?? "no-answer" });
  if (isRunAlone && legs.length === 1 && (current.targets.length > 0 || current.isMany))
    return recite(host, current, task, text ?? "");
  const end = endOf(current);
  // Text that somebody has seen is never followed by another try.
  const isSeen = legs.some(({ messageIds }) => messageIds.length > 0);
  if (end.state === "failed" && !isSeen && !isRunAlone)
    return retried(host, current, task, end.code ?? "turn-failed");
  return ended(current, end);
}

/** Gives the text to every chat, whose conversations remember it. */
function recite(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  text: string,
): Promise<StepResult> | StepResult {
  if (text.trim() === "") return ended(occurrence, { state: "skipped", code: "empty-answer" });
  const legs = occurrence.targets.map((target, index) => ({
    ...newLeg(occurrence, occurrence.attempts, index + 1),
    ...target,
    recites: true,
  }));
  const many = { ...newLeg(occurrence, occurrence.attempts, 1), isBroadcast: true, recites: true };
  const reciting = {
    ...occurrence,
    text,
    legs: [...occurrence.legs, ...(occurrence.isMany ? [many] : legs)],
  };
  host.save(reciting);
  return continuePrompt(host, reciting, task);
}

async function advance(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  leg: Leg,
): Promise<{ readonly leg: Leg; readonly text?: string | undefined }> {
  if (ENDED.has(leg.state)) return { leg };
  if (leg.state === "new" && leg.isBroadcast === true) {
    const { prompt = "", text = "" } = occurrence;
    const work: ManyWork = leg.recites
      ? { kind: "text", text }
      : {
          kind: "prompt",
          prompt,
          metadata: metadataOf(occurrence, task),
          run: await host.runOf(task, occurrence),
        };
    const { work: own } = task;
    await host.broadcast(leg.submissionId, work, own.kind === "prompt" ? own.deliverTo : undefined);
    return { leg: { ...leg, state: "open" } };
  }
  if (leg.state === "new") {
    const notBefore = leg.address === undefined ? undefined : await host.quietUntil?.(leg.address);
    if (notBefore !== undefined && leg.address !== undefined) {
      // A text that was written already is lost to nobody. A prompt that has not run gives way to the next one.
      if (!leg.recites && leg.notBefore === undefined) host.replaceQuiet?.(occurrence, leg.address);
      return { leg: { ...leg, notBefore } };
    }
    await host.submit(leg.conversation, {
      id: leg.submissionId,
      prompt: leg.recites ? host.introductionOf(task) : (occurrence.prompt ?? ""),
      recites: leg.recites ? occurrence.text : undefined,
      address: leg.address,
      metadata: metadataOf(occurrence, task),
      ...(!leg.recites && { run: await host.runOf(task, occurrence) }),
    });
    return { leg: { ...leg, state: "open" } };
  }
  const { code, messageIds, state, text, usage } =
    leg.isBroadcast === true
      ? await host.reportBroadcast(leg.submissionId)
      : await host.report(leg.conversation, leg.submissionId);
  switch (state) {
    case "open":
    case "waiting":
      return { leg: { ...leg, state, usage } };
    case "failed":
    case "skipped":
      return { leg: { ...leg, state, code, messageIds: messageIds ?? [], usage } };
    case "completed": {
      const isEmpty = leg.address !== undefined && messageIds?.length === 0;
      const isShown = leg.address !== undefined || leg.isBroadcast === true;
      const reached = isShown ? ("delivered" as const) : ("done" as const);
      if (isEmpty) return { leg: { ...leg, state: "done", code: "empty-answer", usage } };
      return { leg: { ...leg, state: reached, code, messageIds: messageIds ?? [], usage }, text };
    }
  }
}

/** Codes of targets that the bot could write to once. */
const GONE_CODES: ReadonlySet<string> = new Set(["chat-gone", "person-not-reachable"]);
const ENDED: ReadonlySet<Leg["state"]> = new Set(["delivered", "done", "failed", "skipped"]);

function metadataOf({ scheduledFor }: Occurrence, task: CheckedTask): CheckedTask["metadata"] {
  return { ...task.metadata, scheduledTask: task.id, scheduledFor };
}

function lookAgain({ clock }: OccurrenceHost, occurrence: Occurrence, open: readonly Leg[]): StepResult {
  const now = clock.now();
  const isQuiet = ({ notBefore, state }: Leg): boolean => state === "new" && notBefore !== undefined;
  const quietUntil = Math.min(...open.filter(isQuiet).map(({ notBefore = now }) => notBefore));
  const busy = open.filter((leg) => !isQuiet(leg));
  if (busy.length === 0) {
    const nextAt = Math.max(now + LOOK_AGAIN_MS, quietUntil);
    return { kind: "continues", occurrence: { ...occurrence, state: "running", nextAt } };
  }
  const isWaiting = busy.every(({ state }) => state === "waiting");
  const begun = occurrence.startedAt ?? now;
  // A decision of somebody is followed by quick work.
  const age = now - Math.max(...busy.map(({ since }) => since ?? begun));
  // Nobody tells the keeper of a delivery to many chats of a decision.
  const isTold = isWaiting && busy.every(({ isBroadcast }) => isBroadcast !== true);
  const mostMs = isTold ? LOOK_AT_WAITING_MOST_MS : LOOK_AGAIN_MOST_MS;
  const restMs = Math.min(Math.max(Math.ceil(age / 2), LOOK_AGAIN_MS), mostMs);
  const nextAt = Math.max(now + LOOK_AGAIN_MS, Math.min(now + restMs, quietUntil));
  const state = isWaiting ? "waiting" : "running";
  return { kind: "continues", occurrence: { ...occurrence, state, nextAt } };
}

/** The end of an occurrence whose turns have all ended. */
function endOf({ isMany, legs, targets }: Occurrence): OccurrenceEnd {
  const last = legs.filter(({ address, isBroadcast }) => address !== undefined || isBroadcast === true);
  if ((targets.length === 0 && !isMany) || last.length === 0) {
    const failed = legs.find(({ state }) => state === "failed");
    if (failed !== undefined) return { state: "failed", code: failed.code ?? "turn-failed" };
    return { state: "done", code: legs.find(({ code }) => code !== undefined)?.code };
  }
  if (last.some(({ state }) => state === "delivered"))
    return {
      state: "delivered",
      code: legs.find(({ state }) => state === "delivered" || state === "done")?.code,
    };
  const failed = last.find(({ state }) => state === "failed");
  const skipped = last.find(({ state }) => state === "skipped");
  if (failed === undefined) return { state: "skipped", code: skipped?.code ?? "empty-answer" };
  return { state: "failed", code: failed.code ?? "turn-failed" };
}

function retried(
  { clock }: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  code: string,
): StepResult {
  if (occurrence.attempts >= task.maxAttempts) return ended(occurrence, { state: "failed", code });
  const restMs = Math.min(RETRY_AFTER_MS * 2 ** (occurrence.attempts - 1), RETRY_MOST_MS);
  // A handler goes on as it is; a prompt begins again.
  const state = task.work.kind === "handler" ? "running" : "due";
  const nextAt = clock.now() + restMs;
  const spent = usageOf(occurrence);
  return {
    kind: "continues",
    occurrence: { ...occurrence, state, code, legs: [], spent, text: undefined, nextAt },
  };
}

type Fetched =
  | { readonly kind: "fetched"; readonly data: string | undefined; readonly hash: string | undefined }
  | { readonly kind: "nothing" }
  | { readonly kind: "failed" };

async function fetchSource(
  { clock, log, name }: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  { source }: Extract<Work, { kind: "prompt" }>,
): Promise<Fetched> {
  if (source === undefined) return { kind: "fetched", data: undefined, hash: undefined };
  try {
    const context = occurrenceFor(name, occurrence, task);
    const value = await withinTime(clock, HANDLER_LIMIT_MS, Promise.resolve(source(context)), "source()");
    if (isNothing(value)) return { kind: "nothing" };
    const data = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
    return { kind: "fetched", data: data.slice(0, MOST_DATA_CHARACTERS), hash: await sha256(data) };
  } catch (error) {
    logBotFailure(log.with({ task: task.id, occurrence: occurrence.key }), "source", error);
    return { kind: "failed" };
  }
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return Array.isArray(value) && value.length === 0;
}

function newLeg({ key }: Occurrence, attempt: number, index: number): Leg {
  return {
    conversation: "",
    recites: false,
    submissionId: `schedule:${key}#${attempt}.${index}`,
    state: "new",
    messageIds: [],
  };
}

function ended(occurrence: Occurrence, end: OccurrenceEnd): StepResult {
  return { kind: "ended", occurrence, end };
}
