import type { ToolSet } from "ai";

/**
 * Copies of the bot's tools that run inside their turn's context and end as soon as the turn is aborted, also when the
 * tool itself does not look at its signal. An error's text goes to the model only, never to the chat.
 */
export function interruptibleTools(tools: ToolSet, inTurn: <T>(body: () => T) => T): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => {
      const { execute } = tool;
      if (execute === undefined) return [name, tool];
      const interruptible: typeof execute = (input, options) =>
        untilAborted(
          options.abortSignal,
          inTurn(() => execute(input, options)),
          "The turn was stopped before the tool had finished.",
        );
      return [name, { ...tool, execute: interruptible }];
    }),
  );
}

/** The outcome of `work`, or a rejection as soon as the signal aborts; the work itself is not ended by it. */
export function untilAborted<T>(
  signal: AbortSignal | undefined,
  work: T,
  message: string,
): T | Promise<Awaited<T>> {
  if (signal === undefined || !isPromise(work)) return work;
  return new Promise<Awaited<T>>((resolve, reject) => {
    const abort = () => reject(new Error(message));
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function isPromise<T>(value: T): value is T & Promise<Awaited<T>> {
  return value instanceof Promise;
}
