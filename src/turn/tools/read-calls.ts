import type { Clock } from "../../core/base/deps.ts";

/** Most calls of read-only tools that run at once in one turn. */
export const MOST_READS = 4;
const KEEP_MS = 30_000;

interface TurnReads {
  running: number;
  /** Calls that wait for another one to end, in their order. */
  readonly waiting: Set<() => void>;
  /** Counts the begins and ends of effects. A result counts only if nothing happened since its call began. */
  effects: number;
  readonly results: Map<string, { readonly output: unknown; readonly at: number }>;
}

/** Calls of read-only tools: a few at once, and some of their results for a while. Kept in memory, for running turns. */
export class ReadCalls {
  readonly #clock: Pick<Clock, "now">;
  readonly #turns = new Map<string, TurnReads>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /**
   * Waits until a call may begin. Returns the function that ends it.
   *
   * @throws the signal's reason if it aborts first
   */
  async begin(operationId: string, signal: AbortSignal | undefined): Promise<() => void> {
    const turn = this.#of(operationId);
    if (turn.running >= MOST_READS) await turnOf(turn.waiting, signal);
    else turn.running += 1;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      const [next] = turn.waiting;
      // The place goes to the next call.
      if (next === undefined) turn.running -= 1;
      else next();
    };
  }

  /** Returns a function that keeps the result of a call that begins now. */
  keeper(operationId: string, toolName: string, input: unknown): (output: unknown) => void {
    const turn = this.#of(operationId);
    const { effects } = turn;
    return (output) => {
      if (turn.effects !== effects) return;
      turn.results.set(keyOf(toolName, input), { output, at: this.#clock.now() });
    };
  }

  /** Returns the result of an equal call that still counts. */
  known(operationId: string, toolName: string, input: unknown): { readonly output: unknown } | undefined {
    const found = this.#turns.get(operationId)?.results.get(keyOf(toolName, input));
    return found === undefined || this.#clock.now() - found.at >= KEEP_MS ? undefined : found;
  }

  /** Called when a call with an effect begins or ends. */
  effect(operationId: string): void {
    const turn = this.#turns.get(operationId);
    if (turn === undefined) return;
    turn.effects += 1;
    turn.results.clear();
  }

  forget(operationId: string): void {
    this.#turns.delete(operationId);
  }

  #of(operationId: string): TurnReads {
    const known = this.#turns.get(operationId);
    if (known !== undefined) return known;
    const turn = { running: 0, waiting: new Set<() => void>(), effects: 0, results: new Map() };
    this.#turns.set(operationId, turn);
    return turn;
  }
}

function turnOf(waiting: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      waiting.delete(begin);
      signal?.removeEventListener("abort", abort);
    };
    const begin = (): void => {
      leave();
      resolve();
    };
    const abort = (): void => {
      leave();
      reject(signal?.reason);
    };
    if (signal?.aborted === true) return reject(signal.reason);
    waiting.add(begin);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

function keyOf(toolName: string, input: unknown): string {
  return `${toolName} ${JSON.stringify(input)}`;
}
