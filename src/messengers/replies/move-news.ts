import type { Deps } from "../../core/deps.ts";
import { failureCode } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { RootLink } from "../root/root-link.ts";
import type { ThreadMemory, UntoldMove } from "./thread-memory.ts";

export interface MoveNewsOptions {
  readonly deps: Deps;
  readonly log: Log;
  readonly memory: Pick<ThreadMemory, "untoldMoves" | "forgetUntoldMove">;
  readonly root: Pick<RootLink, "chatMoved">;
  /** Asks for `tell` to be called at this time at the latest, even if the object dies meanwhile. */
  readonly wakeAt: (at: number) => void;
}

const TELL_AGAIN_MS = 5000;

/**
 * Tells the root of moves that refused calls have shown, until it knows: it routes the events of the new chat. Beside
 * everything else.
 */
export class MoveNews {
  readonly #options: MoveNewsOptions;
  #isTelling = false;

  constructor(options: MoveNewsOptions) {
    this.#options = options;
  }

  /** Epoch milliseconds at which `tell` has to be called again; nothing when the root knows all. */
  get tellAgainAt(): number | undefined {
    const { deps, memory } = this.#options;
    return memory.untoldMoves().length === 0 ? undefined : deps.clock.now() + TELL_AGAIN_MS;
  }

  tell(): void {
    const [untold] = this.#options.memory.untoldMoves();
    if (untold === undefined || this.#isTelling) return;
    this.#isTelling = true;
    void this.#tellAll();
  }

  async #tellAll(): Promise<void> {
    const { deps, log, memory, root, wakeAt } = this.#options;
    try {
      for (let next = memory.untoldMoves()[0]; next !== undefined; next = memory.untoldMoves()[0]) {
        const { messengerId, move }: UntoldMove = next;
        await root.chatMoved(messengerId, move);
        memory.forgetUntoldMove(next);
      }
    } catch (error) {
      log.warn("chat.move-not-told", { code: failureCode(error) });
      wakeAt(deps.clock.now() + TELL_AGAIN_MS);
    } finally {
      this.#isTelling = false;
    }
  }
}
