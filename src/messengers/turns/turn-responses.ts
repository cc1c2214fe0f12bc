import type { Deps } from "../../core/base/deps.ts";
import type { ResponseStatus } from "../../turn/turn-ends.ts";
import type { Turn, TurnStore } from "../../turn/turn-store.ts";
import type { Wake } from "../declare/wake.ts";

export interface TurnResponsesOptions {
  readonly deps: Pick<Deps, "clock">;
  readonly turns: TurnStore;
  /** Whether the bot has a hook for the end of turns. */
  readonly isAwaited: () => boolean;
  /** Calls the bot's hook. Resolves when it has returned or failed. */
  readonly tell: (turn: Turn, status: ResponseStatus) => Promise<void>;
  readonly wake: Pick<Wake, "at">;
}

const RUN_AGAIN_MS = 2500;

/**
 * Reports ended turns to the bot's hook, one after the other, beside everything else. The open report is stored with
 * the turn's end, so a crash loses none. The hook may run again if the process died while it ran.
 */
export class TurnResponses {
  readonly #options: TurnResponsesOptions;
  #isTelling = false;
  /** False once no report is open that an earlier process, or this one, has stored. */
  #mayBeDue = true;

  constructor(options: TurnResponsesOptions) {
    this.#options = options;
  }

  /** Stores that the bot must be told. Call it in the transaction that ends the turn. */
  due(turnId: string, status: ResponseStatus): void {
    if (!this.#options.isAwaited()) return;
    this.#options.turns.setDueResponse(turnId, status);
    this.#mayBeDue = true;
  }

  /**
   * Time at which `run` must be called again, in epoch milliseconds. Undefined if the bot has been told of every end.
   */
  get runAgainAt(): number | undefined {
    return this.#isTelling || this.#isDue() ? this.#options.deps.clock.now() + RUN_AGAIN_MS : undefined;
  }

  run(): void {
    if (this.#isTelling || !this.#isDue()) return;
    this.#isTelling = true;
    void this.#tellAll();
  }

  /** A report that its transaction took back only costs a look. */
  #isDue(): boolean {
    this.#mayBeDue &&= this.#options.turns.dueResponses().length > 0;
    return this.#mayBeDue;
  }

  async #tellAll(): Promise<void> {
    const { tell, turns } = this.#options;
    try {
      for (let next = turns.dueResponses()[0]; next !== undefined; next = turns.dueResponses()[0]) {
        if (next.dueResponse !== undefined) await tell(next, next.dueResponse);
        turns.setDueResponse(next.id, undefined);
      }
    } catch {
      // The storage refused the write. The next wake-up repeats the report.
      this.#options.wake.at(this.#options.deps.clock.now() + RUN_AGAIN_MS);
    } finally {
      this.#isTelling = false;
    }
  }
}
