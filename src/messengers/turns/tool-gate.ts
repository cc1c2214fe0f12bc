import { wait } from "../../core/deps.ts";
import type { Deps } from "../../core/deps.ts";
import type { Turn, TurnStore } from "../../turn/turn-store.ts";

export interface ToolGateOptions {
  readonly deps: Deps;
  readonly turns: TurnStore;
  /** Until when more of the person's message may come, as far as is known now; epoch milliseconds. */
  readonly burstEnd: (turn: Turn) => number;
}

/**
 * Stands before every tool. A tool that may change something does not begin while more of the person's message may come,
 * because then the turn is withdrawn and starts over. Whether it may run twice makes no difference here.
 */
export class ToolGate {
  readonly #options: ToolGateOptions;
  readonly #waiting = new Set<{ readonly turnId: string; readonly controller: AbortController }>();

  constructor(options: ToolGateOptions) {
    this.#options = options;
  }

  /** Resolves when the tool may run, or must not any more. A tool that changes nothing is `isReadOnly`. */
  async pass(turnId: string, isReadOnly: boolean): Promise<"run" | "block"> {
    const { burstEnd, deps, turns } = this.#options;
    if (isReadOnly || turns.get(turnId) === undefined) return "run";
    for (;;) {
      // Stopped or withdrawn, perhaps while it waited: the state says so.
      const turn = turns.get(turnId);
      if (turn?.state !== "open") return "block";
      const delayMs = turn.acted ? 0 : burstEnd(turn) - deps.clock.now();
      if (delayMs <= 0) {
        turns.markActed(turnId);
        return "run";
      }
      await this.#wait(turnId, delayMs);
    }
  }

  /** The turn has been stopped or withdrawn: what waits need not wait any longer. */
  release(turnId: string): void {
    for (const waiting of this.#waiting) if (waiting.turnId === turnId) waiting.controller.abort();
  }

  async #wait(turnId: string, delayMs: number): Promise<void> {
    const waiting = { turnId, controller: new AbortController() };
    this.#waiting.add(waiting);
    await wait(this.#options.deps.clock, delayMs, waiting.controller.signal).catch(() => {
      // Released: there is nothing left to wait for.
    });
    this.#waiting.delete(waiting);
  }
}
