import type { Clock } from "../../src/core/base/deps.ts";

export type CallOutcome<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "failed"; readonly error: unknown }
  /** The time limit has passed. `late` resolves with the outcome of the call, if it is ever known. */
  | { readonly kind: "timed-out"; readonly late: Promise<LateOutcome<Value>> };

export type LateOutcome<Value> = Exclude<CallOutcome<Value>, { kind: "timed-out" }>;

/** Ends a call that goes on for this long (in milliseconds) from now. Its whole time limit stays. */
export type EndWithin = (limitMs: number) => void;

/**
 * Runs one call with a time limit. At the limit the signal aborts and the result comes, even if the callee ignores the
 * signal. Never rejects.
 */
export function callWithin<Value>(
  clock: Clock,
  limitMs: number,
  call: (signal: AbortSignal, endWithin: EndWithin) => Promise<Value>,
): Promise<CallOutcome<Value>> {
  const controller = new AbortController();
  return new Promise((resolve) => {
    const latest = clock.now() + limitMs;
    const expire = (): void => {
      isOver = true;
      resolve({ kind: "timed-out", late: settled });
      controller.abort(new DOMException("The time limit of the call has passed.", "TimeoutError"));
    };
    let isOver = false;
    let timer = clock.setTimeout(expire, limitMs);
    const endWithin = (stepMs: number): void => {
      if (isOver) return;
      clock.clearTimeout(timer);
      timer = clock.setTimeout(expire, Math.min(stepMs, latest - clock.now()));
    };
    const settled = settle(() => call(controller.signal, endWithin));
    void settled.then((outcome) => {
      isOver = true;
      clock.clearTimeout(timer);
      resolve(outcome);
    });
  });
}

async function settle<Value>(call: () => Promise<Value>): Promise<LateOutcome<Value>> {
  try {
    return { kind: "done", value: await call() };
  } catch (error) {
    return { kind: "failed", error };
  }
}
