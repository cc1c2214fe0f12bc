import type { Clock } from "../../src/core/deps.ts";

export type CallOutcome<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "failed"; readonly error: unknown }
  /** The limit has passed. `late` tells what became of the call, if that is ever known. */
  | { readonly kind: "timed-out"; readonly late: Promise<LateOutcome<Value>> };

export type LateOutcome<Value> = Exclude<CallOutcome<Value>, { kind: "timed-out" }>;

/**
 * Runs one call with a time limit. The signal aborts at the limit, and the result comes then even from a callee that
 * ignores its signal. Never rejects.
 */
export function callWithin<Value>(
  clock: Clock,
  limitMs: number,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<CallOutcome<Value>> {
  const controller = new AbortController();
  const settled = settle(call, controller.signal);
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => {
      resolve({ kind: "timed-out", late: settled });
      controller.abort(new DOMException("The time limit of the call has passed.", "TimeoutError"));
    }, limitMs);
    void settled.then((outcome) => {
      clock.clearTimeout(timer);
      resolve(outcome);
    });
  });
}

async function settle<Value>(
  call: (signal: AbortSignal) => Promise<Value>,
  signal: AbortSignal,
): Promise<LateOutcome<Value>> {
  try {
    return { kind: "done", value: await call(signal) };
  } catch (error) {
    return { kind: "failed", error };
  }
}
