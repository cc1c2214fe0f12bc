import type { ChatListener } from "../../src/core/chat/chat-listener.ts";
import type { Log } from "../../src/core/base/log.ts";
import type { Address } from "../../src/core/chat/surface.ts";

export interface MessengerAccessOptions {
  readonly log: Log;
  readonly listener?: Pick<ChatListener, "accessChanged">;
}

/** Tracks whether the platforms accept the credentials of this object's messengers. */
export class MessengerAccess {
  readonly #options: MessengerAccessOptions;
  readonly #refused = new Set<string>();

  constructor(options: MessengerAccessOptions) {
    this.#options = options;
  }

  /** Records that the platform refuses a messenger's credentials. Logged once, until a call succeeds. */
  refused({ messengerId }: Address, code: string): void {
    const { listener, log } = this.#options;
    if (!this.#refused.has(messengerId))
      log.error("delivery.misconfigured", { messenger: messengerId, code });
    this.#refused.add(messengerId);
    listener?.accessChanged(messengerId, code);
  }

  /** Records that a call has succeeded. */
  works({ messengerId }: Address): void {
    if (this.#refused.delete(messengerId)) this.#options.listener?.accessChanged(messengerId, undefined);
  }
}
