import { wait } from "../core/deps.ts";
import type { Deps } from "../core/deps.ts";
import type { TurnStore } from "../turn/turn-store.ts";

export interface ToolGateOptions {
  readonly deps: Deps;
  readonly turns: TurnStore;
  /** How long after a message more of it may come, by the messenger's id, in milliseconds. */
  readonly burstMs: (messengerId: string) => number;
}

/**
 * Stands before every tool. One with an effect does not begin while more of the person's message may come, because then
 * the turn is withdrawn and begun anew.
 */
export class ToolGate {
  readonly #options: ToolGateOptions;
  readonly #waiting = new Map<string, AbortController>();

  constructor(options: ToolGateOptions) {
    this.#options = options;
  }

  /** Resolves when the tool may run, or must not any more. One that may safely run twice is `isRepeatable`. */
  async pass(turnId: string, isRepeatable: boolean): Promise<"run" | "block"> {
    const { burstMs, deps, turns } = this.#options;
    const turn = turns.get(turnId);
    if (turn === undefined || isRepeatable) return "run";
    const delayMs = turn.lastReceivedAt + burstMs(turn.address.messengerId) - deps.clock.now();
    if (!turn.acted && delayMs > 0) {
      const waiting = new AbortController();
      this.#waiting.set(turnId, waiting);
      await wait(deps.clock, delayMs, waiting.signal).catch(() => {
        // Stopped or withdrawn while it waited: the state says so.
      });
      this.#waiting.delete(turnId);
    }
    if (turns.get(turnId)?.state !== "open") return "block";
    turns.markActed(turnId);
    return "run";
  }

  /** The turn has been stopped or withdrawn: what waits need not wait any longer. */
  release(turnId: string): void {
    this.#waiting.get(turnId)?.abort();
  }
}
