import { wait } from "../../core/deps.ts";
import type { Deps } from "../../core/deps.ts";
import type { Turn, TurnStore } from "../../turn/turn-store.ts";

export interface ToolGateOptions {
  readonly deps: Deps;
  readonly turns: TurnStore;
  /** Returns until when more of the person's message may arrive (epoch milliseconds), as far as is known now. */
  readonly burstEnd: (turn: Turn) => number;
}

/**
 * Decides when a tool may run. A tool with an effect does not begin while more of the person's message may arrive,
 * because the turn would then be withdrawn and start over. Tools that may run twice wait as well.
 */
export class ToolGate {
  readonly #options: ToolGateOptions;
  readonly #waiting = new Set<{ readonly turnId: string; readonly controller: AbortController }>();

  constructor(options: ToolGateOptions) {
    this.#options = options;
  }

  /** Resolves when the tool may run, or must not run any more. `isReadOnly` is true for a tool that changes nothing. */
  async pass(turnId: string, isReadOnly: boolean): Promise<"run" | "block"> {
    const { burstEnd, deps, turns } = this.#options;
    if (isReadOnly || turns.get(turnId) === undefined) return "run";
    for (;;) {
      // The turn may have been stopped or withdrawn during the wait. Its state tells.
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

  /** Ends the waits of a turn that has been stopped or withdrawn. */
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
