import { isThenable } from "../base/is-thenable.ts";

/**
 * Resolves with the outcome of `work`, or rejects with the reason as soon as the signal aborts. It does not end the work
 * itself, whose later outcome is ignored.
 */
export function untilAborted<T>(
  signal: AbortSignal | undefined,
  work: T,
  reason: () => Error,
): T | Promise<Awaited<T>> {
  if (signal === undefined || !isThenable(work)) return work;
  return new Promise<Awaited<T>>((resolve, reject) => {
    const abort = () => reject(reason());
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", abort));
  });
}

/** The error that a call rejects with when its signal aborts, as that of `fetch`. */
export function abortError(): DOMException {
  return new DOMException("timed out", "AbortError");
}
