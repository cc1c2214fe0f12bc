import { logBotFailure } from "../core/bot-code.ts";
import type { Log } from "../core/log.ts";
import { ActionError } from "./action-errors.ts";

/** Writes the log's line about an action that has failed, or has said no. An `ActionError` is no defect. */
export function logActionFailure(log: Log, action: string, error: unknown): void {
  if (error instanceof ActionError)
    log.info("action.refused", { action, message: log.reveal(error.message) });
  else logBotFailure(log, `action ${action}`, error);
}
