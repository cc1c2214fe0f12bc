import { logBotFailure } from "../../core/time/bot-code.ts";
import { sha256 } from "../../core/bytes/sha256.ts";
import { withinTime } from "../../core/time/within-time.ts";
import { newLeg } from "./advance-leg.ts";
import type { CheckedTask, Work } from "../rules/check-tasks.ts";
import { continuePrompt } from "./continue-prompt.ts";
import { HANDLER_LIMIT_MS, occurrenceFor } from "../rules/handler-context.ts";
import type { Leg, Occurrence } from "../rules/occurrence.ts";
import type { OccurrenceHost } from "./occurrence-host.ts";
import { quietUntil } from "../../scheduled-runs/quiet-hours.ts";
import type { StoredTask } from "../stored/schedule-store.ts";
import { ended, NO_TARGETS, retried } from "./step-result.ts";
import type { LimitCode, StepResult } from "./step-result.ts";

const MOST_DATA_CHARACTERS = 100_000;
/** Codes of targets that the bot could write to once. */
const GONE_CODES: ReadonlySet<string> = new Set(["chat-gone", "window-closed", "person-not-reachable"]);

/** Reads the source of a prompt, finds its chats, and stores the turns that it needs before the first of them exists. */
export async function beginPrompt(
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
  if (found.kind === "none") return ended(running, { state: "skipped", code: NO_TARGETS });
  if (found.kind === "refused") {
    const { code } = found;
    return ended(running, { state: "failed", code, isGone: GONE_CODES.has(code) });
  }
  const attempts = running.attempts + 1;
  const isMany = found.kind === "many";
  const targets = isMany ? [] : found.targets;
  const begun: Occurrence = {
    ...running,
    attempts,
    targets,
    isMany,
    legs: legsOf(host, { ...running, attempts, targets, isMany }, task, work),
    prompt: host.promptOf(task, running, fetched.data),
    sourceHash: fetched.hash,
  };
  // All names are stored before the first turn exists.
  host.save(begun);
  return continuePrompt(host, begun, task);
}

/**
 * The turns with which a prompt begins: one alone, whose text goes to the chats afterwards; one in each conversation of
 * its chats; or one in the conversation whose own schedule it is.
 */
function legsOf(
  host: Pick<OccurrenceHost, "runsIn">,
  occurrence: Occurrence,
  { id, requester, scope }: CheckedTask,
  { deliverTo, fanOut }: Extract<Work, { kind: "prompt" }>,
): Leg[] {
  const { attempts, isMany, targets } = occurrence;
  const leg = newLeg(occurrence, attempts, 0);
  const hasChats = isMany || targets.length > 0;
  if (!hasChats || (fanOut === "once" && scope === "root"))
    return [{ ...leg, conversation: host.runsIn(id) }];
  const isOwn = scope === "conversation" && (deliverTo === undefined || requester !== undefined);
  if (!isOwn) return [{ ...leg, isBroadcast: true }];
  return targets.map((target, index) => ({ ...newLeg(occurrence, attempts, index), ...target }));
}

function limitReached(
  { mostCostPerDay = Infinity, mostTokensPerDay = Infinity }: Extract<Work, { kind: "prompt" }>,
  host: Pick<OccurrenceHost, "usedToday">,
  { id }: CheckedTask,
): LimitCode | undefined {
  if (mostCostPerDay === Infinity && mostTokensPerDay === Infinity) return undefined;
  const { cost, tokens } = host.usedToday(id);
  if (tokens >= mostTokensPerDay) return "token-limit";
  return cost >= mostCostPerDay ? "cost-limit" : undefined;
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
