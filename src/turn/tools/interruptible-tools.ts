import type { ToolSet } from "ai";
import type { Clock } from "../../core/base/deps.ts";
import { SwitchboardError } from "../../core/base/errors.ts";
import { isThenable } from "../../core/base/is-thenable.ts";
import { untilAborted } from "../../core/time/until-aborted.ts";

/** A signal that aborts with the turn, or when a tool has had its time. */
interface LimitedSignal {
  readonly signal: AbortSignal | undefined;
  /** Whether the time is over. */
  readonly isOver: () => boolean;
  /** Frees the timer. */
  readonly end: () => void;
}

export interface ToolGuard {
  readonly clock: Clock;
  /** Returns the longest time of a call that begins now, in milliseconds. Undefined for no limit. */
  readonly limitMs: (toolName: string) => number | undefined;
  /** Runs bot code inside the turn's context. */
  readonly inTurn: <T>(body: () => T) => T;
  /** Called with the error of a tool, for the log. Must not throw. */
  readonly onFailure: (toolName: string, error: unknown) => void;
  readonly onBegin: (toolCallId: string) => void;
  /**
   * Called at the end of a tool, with the value that it threw, if it did. Not called for a tool that continues after
   * its turn was aborted.
   */
  readonly onEnd: (toolCallId: string, thrown?: { readonly error: unknown }) => void;
}

/**
 * Returns copies of the bot's tools for the turn engine. All of them may be restarted after a crash, because
 * `ToolCalls` decides whether they are. They run inside their turn's context and end when the turn is aborted, even if
 * the tool ignores its signal. The model learns that a tool has failed, but nothing about its exception, because a
 * model may repeat it (I10).
 */
export function interruptibleTools(
  tools: ToolSet,
  { clock, inTurn, limitMs, onBegin, onEnd, onFailure }: ToolGuard,
): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => {
      const { execute } = tool;
      if (execute === undefined) return [name, tool];
      const interruptible: typeof execute = (input, options) => {
        const { abortSignal, toolCallId } = options;
        let isReported = false;
        const limit = limitedSignal(clock, limitMs(name), abortSignal);
        const failed = (error: unknown): Error => {
          limit.end();
          onEnd(toolCallId, { error });
          if (abortSignal?.aborted === true) return stopped();
          const isTooLong = limit.isOver();
          if (!isReported) onFailure(name, isTooLong ? tookTooLong(name) : error);
          isReported = true;
          return new Error(isTooLong ? TOO_LONG : FAILED);
        };
        const ended = <T>(output: T): T => {
          limit.end();
          onEnd(toolCallId);
          return output;
        };
        onBegin(toolCallId);
        try {
          const work: unknown = inTurn(() => execute(input, { ...options, abortSignal: limit.signal }));
          if (isThenable(work)) {
            const end = Promise.resolve(work).then(ended, (error: unknown) => Promise.reject(failed(error)));
            return Promise.resolve(untilAborted(limit.signal, end, stopped)).catch((error: unknown) => {
              throw limit.isOver() ? failed(error) : error;
            });
          }
          return isAsyncIterable(work) ? interruptiblePieces(work, limit.signal, failed, ended) : ended(work);
        } catch (error) {
          throw failed(error);
        }
      };
      return [name, { ...tool, execute: interruptible, recovery: "rerun" }];
    }),
  );
}

const stopped = (): Error => new Error("The turn was stopped before the tool had finished.");
const FAILED = "The tool failed. Its log says why.";
const TOO_LONG = "The tool took too long and was stopped. It may or may not have taken effect.";

function tookTooLong(toolName: string): SwitchboardError {
  return new SwitchboardError(
    "tool-timeout",
    `The tool ${toolName} took longer than \`timeout\` of beforeTurn() allows. Raise \`toolMs\` or \`tools\`, or make it faster.`,
  );
}

/** Runs a tool that returns its result in pieces. */
async function* interruptiblePieces(
  pieces: AsyncIterable<unknown>,
  signal: AbortSignal | undefined,
  failed: (error: unknown) => Error,
  ended: (output: undefined) => void,
): AsyncIterable<unknown> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await untilAborted(signal, iterator.next(), stopped);
      if (next.done === true) {
        ended(undefined);
        return;
      }
      yield next.value;
    }
  } catch (error) {
    throw failed(error);
  } finally {
    // Not awaited, because a hanging tool may never end.
    void Promise.resolve()
      .then(() => iterator.return?.())
      .catch(() => {
        // The tool has been told to end. Its result no longer matters.
      });
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** @param limitMs longest time of the tool, in milliseconds; undefined for no limit */
function limitedSignal(
  clock: Clock,
  limitMs: number | undefined,
  signal: AbortSignal | undefined,
): LimitedSignal {
  if (limitMs === undefined) return { signal, isOver: () => false, end: () => {} };
  const limit = new AbortController();
  const timer = clock.setTimeout(() => limit.abort(), limitMs);
  return {
    signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
    isOver: () => limit.signal.aborted,
    end: () => clock.clearTimeout(timer),
  };
}
