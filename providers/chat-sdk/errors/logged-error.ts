import { AsyncLocalStorage } from "node:async_hooks";
import { isRecord } from "../../../src/core/json/is-record.ts";

/** The last error that an adapter has logged during a call. */
export interface LoggedError {
  error: unknown;
}

/**
 * The call that the running code belongs to. An adapter may make several calls at once. A bundle of a bot without
 * adapters leaves it out.
 */
const current = /* @__PURE__ */ new AsyncLocalStorage<LoggedError>();

/** Makes a call of an adapter. The error that the adapter logs meanwhile is kept in `logged`. */
export function loggingTo<Result>(logged: LoggedError, run: () => Promise<Result>): Promise<Result> {
  return current.run(logged, run);
}

/** Keeps the error of a line that an adapter logs. Outside of a call it is dropped. */
export function keepLoggedError(words: readonly unknown[]): void {
  const logged = current.getStore();
  if (logged === undefined) return;
  for (const word of words) {
    const error = isRecord(word) && isRecord(word.error) ? word.error : word;
    if (isRecord(error) && (error instanceof Error || "stack" in error)) logged.error = error;
  }
}
