import type { IncomingEvent } from "../../core/chat/messenger.ts";
import type { Probing } from "../../core/chat/surface.ts";
import type { RootRuntimeOptions } from "./root-parts.ts";

/**
 * The ids of incoming messages, on platforms that number their messages. A search for a lost post skips them, because
 * they belong to others. In memory only, so a message writes no row for it.
 */
export class IncomingIds {
  readonly #options: RootRuntimeOptions;
  readonly #probing = new Map<string, Probing | undefined>();

  constructor(options: RootRuntimeOptions) {
    this.#options = options;
  }

  note(messengerId: string, events: readonly IncomingEvent[]): void {
    for (const { messageId, thread } of events) {
      if (messageId === undefined) continue;
      const { chatId, id: threadId, isDirectMessage } = thread;
      const box = this.#probingOf(messengerId)?.box({ messengerId, threadId, chatId, isDirectMessage });
      if (box !== undefined) this.#options.observe(messengerId, box, box !== chatId, [Number(messageId)]);
    }
  }

  #probingOf(messengerId: string): Probing | undefined {
    if (!this.#probing.has(messengerId))
      this.#probing.set(messengerId, this.#options.messengers.surface(messengerId).probing);
    return this.#probing.get(messengerId);
  }
}
