import { wait } from "../../core/base/deps.ts";
import type { FollowUps } from "./follow-ups.ts";
import type { TurnParts } from "./turn-parts.ts";

/**
 * Decides when a tool may run. A tool with an effect does not begin while more of the person's message may arrive,
 * because the turn would then be withdrawn and start over. Tools that may run twice wait as well.
 */
export class ToolGate {
  readonly #options: TurnParts;
  readonly #followUps: FollowUps;
  readonly #waiting = new Set<{ readonly turnId: string; readonly controller: AbortController }>();

  constructor(options: TurnParts, followUps: FollowUps) {
    this.#options = options;
    this.#followUps = followUps;
  }

  /**
   * Resolves with `"run"` when no more of the person's message is expected, and with `"block"` if the turn must not go
   * on.
   */
  async pass(turnId: string): Promise<"run" | "block"> {
    const { deps, turns } = this.#options;
    for (;;) {
      // The turn may have been stopped or withdrawn during the wait. Its state tells.
      const turn = turns.get(turnId);
      if (turn?.state !== "open") return "block";
      const end = turn.acted || turn.kind !== "messages" ? undefined : this.#followUps.burstEnd(turn);
      const delayMs = end === undefined ? 0 : end - deps.clock.now();
      if (delayMs <= 0) return "run";
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
      // The wait was aborted: there is nothing left to wait for.
    });
    this.#waiting.delete(waiting);
  }
}
