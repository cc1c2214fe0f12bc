import { outcomeUnknown } from "../actions/declare/action-errors.ts";
import type { AskedCall } from "../messengers/tools/action-consent.ts";
import { KEEP_CALLS_MS } from "./call-store.ts";
import type { CallRow } from "./call-store.ts";
import type { CallTask } from "./mcp-calls.ts";
import { resultOf } from "./tool-result.ts";

function newTask({ createdAt, id }: CallRow): CallTask {
  const ttlMs = KEEP_CALLS_MS;
  return { id, createdAt, changedAt: createdAt, ttlMs, status: "working", isWaiting: false };
}

/** The task of a call that takes long. If its process has died, its outcome is as unknown as that of any such run. */
export function longTaskOf(row: CallRow, isRunning: boolean, hasSchema = false): CallTask {
  const task = newTask(row);
  if (isRunning) return task;
  const result = resultOf(row.endedAt === undefined ? outcomeUnknown() : (row.output ?? null), hasSchema);
  return { ...task, changedAt: row.endedAt ?? row.createdAt, status: "completed", result };
}

/** The task of a call about which people are asked. */
export function taskOf(row: CallRow, state: AskedCall | undefined, hasSchema = false): CallTask {
  const task = newTask(row);
  if (state?.kind === "waiting") return { ...task, isWaiting: true, hasBegun: state.hasBegun };
  if (state?.kind !== "ended") return task;
  const { endedAt: changedAt, isWithdrawn, output } = state;
  return isWithdrawn
    ? { ...task, changedAt, status: "cancelled" }
    : { ...task, changedAt, status: "completed", result: resultOf(output, hasSchema) };
}
