import { logBotFailure } from "../../core/time/bot-code.ts";
import type { Log, LogFields } from "../../core/base/log.ts";
import { ActionError } from "./action-errors.ts";

/** A line of the log. */
export interface ActionLogEntry {
  /** @default "info" */
  readonly level?: "info" | "warn" | "error";
  /** A fixed text. Values belong into `meta`. */
  readonly message: string;
  readonly meta?: Readonly<Record<string, string | number | boolean>>;
}

/** Writes the log's line about an action that has failed, or has said no. An `ActionError` is no defect. */
export function logActionFailure(log: Log, action: string, error: unknown): void {
  if (error instanceof ActionError)
    log.info("action.refused", { action, message: log.reveal(error.message) });
  else logBotFailure(log, `action ${action}`, error);
}

/** Writes the line of an action's own code. Its fields never replace those of the log. */
export function logOfAction(
  log: Log,
  action: string,
  { level = "info", message, meta }: ActionLogEntry,
): void {
  const fields = { ...primitives(meta), action, message: message.slice(0, LONGEST) };
  if (level === "error") log.error("action.log", fields);
  else if (level === "warn") log.warn("action.log", fields);
  else log.info("action.log", fields);
}

const LONGEST = 1_000;
/** Names of fields that every line of the log has. */
const OWN = new Set(["time", "level", "event"]);

function primitives(meta: ActionLogEntry["meta"]): LogFields {
  const usable = Object.entries(meta ?? {}).filter(
    ([name, value]) => !OWN.has(name) && ["string", "number", "boolean"].includes(typeof value),
  );
  return Object.fromEntries(
    usable.map(([name, value]) => [name, typeof value === "string" ? value.slice(0, LONGEST) : value]),
  );
}
