import type { Deps } from "../../core/deps.ts";
import { failureCode } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { RootLink } from "../root/root-link.ts";
import type { ThreadMemory, Untold } from "./thread-memory.ts";

export interface RootNewsOptions {
  readonly deps: Deps;
  readonly log: Log;
  readonly memory: Pick<ThreadMemory, "untold" | "forgetUntold">;
  readonly root: Pick<RootLink, "chatGone" | "chatMoved">;
  /** Asks for `tell` to be called at this time at the latest, even if the object dies meanwhile. */
  readonly wakeAt: (at: number) => void;
}

const TELL_AGAIN_MS = 5000;

/**
 * Tells the root what refused calls have shown of chats, until it knows: that a chat has moved, or takes nothing any
 * more. Beside everything else.
 */
export class RootNews {
  readonly #options: RootNewsOptions;
  #isTelling = false;

  constructor(options: RootNewsOptions) {
    this.#options = options;
  }

  /** Epoch milliseconds at which `tell` has to be called again. Undefined if the root knows everything. */
  get tellAgainAt(): number | undefined {
    const { deps, memory } = this.#options;
    return memory.untold().length === 0 ? undefined : deps.clock.now() + TELL_AGAIN_MS;
  }

  tell(): void {
    if (this.#options.memory.untold().length === 0 || this.#isTelling) return;
    this.#isTelling = true;
    void this.#tellAll();
  }

  async #tellAll(): Promise<void> {
    const { deps, log, memory, wakeAt } = this.#options;
    try {
      for (let next = memory.untold()[0]; next !== undefined; next = memory.untold()[0]) {
        await this.#tellOne(next);
        memory.forgetUntold(next);
      }
    } catch (error) {
      log.warn("chat.news-not-told", { code: failureCode(error) });
      wakeAt(deps.clock.now() + TELL_AGAIN_MS);
    } finally {
      this.#isTelling = false;
    }
  }

  async #tellOne(untold: Untold): Promise<void> {
    const { root } = this.#options;
    switch (untold.kind) {
      case "moved":
        await root.chatMoved(untold.messengerId, untold.move);
        return;
      case "gone":
        await root.chatGone(untold.messengerId, untold.chatId, untold.code, untold.at);
        return;
      default:
        untold satisfies never;
    }
  }
}
