import type { Deps } from "../../core/deps.ts";
import type { ResponseStatus } from "../../turn/turn-ends.ts";
import type { Turn, TurnStore } from "../../turn/turn-store.ts";

export interface TurnResponsesOptions {
  readonly deps: Pick<Deps, "clock">;
  readonly turns: TurnStore;
  /** Whether the bot wants to know how turns end. */
  readonly isAwaited: () => boolean;
  /** Tells the bot. Resolves when its hook has returned, or failed. */
  readonly tell: (turn: Turn, status: ResponseStatus) => Promise<void>;
  /** Asks for `run` to be called at this time at the latest, even if the object dies meanwhile. */
  readonly wakeAt: (at: number) => void;
}

const RUN_AGAIN_MS = 2500;

/**
 * Tells the bot of turns that have ended, one after the other, beside everything else. What is still to be told is
 * stored with the turn's end, so a crash loses none. The hook may run again for a turn whose process died under it.
 */
export class TurnResponses {
  readonly #options: TurnResponsesOptions;
  #isTelling = false;

  constructor(options: TurnResponsesOptions) {
    this.#options = options;
  }

  /** A turn is about to end, in the same transaction. */
  due(turnId: string, status: ResponseStatus): void {
    if (this.#options.isAwaited()) this.#options.turns.setDueResponse(turnId, status);
  }

  /** Epoch milliseconds at which `run` has to be called again. Undefined when the bot knows all. */
  get runAgainAt(): number | undefined {
    const { deps, turns } = this.#options;
    return this.#isTelling || turns.dueResponses().length > 0 ? deps.clock.now() + RUN_AGAIN_MS : undefined;
  }

  run(): void {
    if (this.#isTelling || this.#options.turns.dueResponses().length === 0) return;
    this.#isTelling = true;
    void this.#tellAll();
  }

  async #tellAll(): Promise<void> {
    const { tell, turns } = this.#options;
    try {
      for (let next = turns.dueResponses()[0]; next !== undefined; next = turns.dueResponses()[0]) {
        if (next.dueResponse !== undefined) await tell(next, next.dueResponse);
        turns.setDueResponse(next.id, undefined);
      }
    } catch {
      // The storage does not take it. It is told again with the next wake.
      this.#options.wakeAt(this.#options.deps.clock.now() + RUN_AGAIN_MS);
    } finally {
      this.#isTelling = false;
    }
  }
}
