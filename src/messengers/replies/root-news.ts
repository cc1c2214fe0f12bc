import type { Deps } from "../../core/base/deps.ts";
import { failureCode } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import type { Wake } from "../declare/wake.ts";
import type { RootLink } from "../root/root-link.ts";
import type { ThreadMemory, Untold } from "./thread-memory.ts";

export interface RootNewsOptions {
  readonly deps: Deps;
  readonly log: Log;
  readonly memory: Pick<ThreadMemory, "untold" | "forgetUntold">;
  readonly root: Pick<RootLink, "chatGone" | "chatMoved" | "noteUsage">;
  readonly wake: Pick<Wake, "at">;
}

const TELL_AGAIN_MS = 5000;

/**
 * Reports moved and gone chats, as refused calls show them, and the tokens of turns to the root until the root has
 * stored them. Runs beside everything else.
 */
export class RootNews {
  readonly #options: RootNewsOptions;
  #isTelling = false;

  constructor(options: RootNewsOptions) {
    this.#options = options;
  }

  /** Time for the next call of `tell`, in epoch milliseconds. Undefined if the root knows everything. */
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
    const { deps, log, memory, wake } = this.#options;
    try {
      for (let next = memory.untold()[0]; next !== undefined; next = memory.untold()[0]) {
        await this.#tellOne(next);
        memory.forgetUntold(next);
      }
    } catch (error) {
      log.warn("chat.news-not-told", { code: failureCode(error) });
      wake.at(deps.clock.now() + TELL_AGAIN_MS);
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
      case "used":
        await root.noteUsage(untold.used, untold.keepMs);
        return;
      default:
        untold satisfies never;
    }
  }
}
