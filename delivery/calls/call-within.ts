import type { Clock } from "../../src/core/deps.ts";

export type CallOutcome<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "failed"; readonly error: unknown }
  /** The time limit has passed. `late` resolves with the outcome of the call, if it is ever known. */
  | { readonly kind: "timed-out"; readonly late: Promise<LateOutcome<Value>> };

export type LateOutcome<Value> = Exclude<CallOutcome<Value>, { kind: "timed-out" }>;

/**
 * Runs one call with a time limit. At the limit the signal aborts and the result comes, even if the callee ignores the
 * signal. Never rejects.
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
