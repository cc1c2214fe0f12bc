import type { Delivery } from "../../core/chat/delivery.ts";
import { isAskedByCaller } from "../../core/action/outside-call.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { replyPolicy } from "../declare/texts.ts";

export interface RunProgressOptions {
  readonly messengers: Pick<DeclaredMessengers, "find">;
  readonly thread: { readonly delivery: Pick<Delivery, "open" | "progress" | "finish" | "receipt"> };
}

/** A run outside of a turn. */
export interface ShownRun {
  /** Names the run, and begins the ids of its messages. */
  readonly owner: string;
  readonly requestId: string;
  readonly address: Address | undefined;
}

/**
 * Progress of runs outside of turns: a message of its own in the chat, which holds up no answer. It goes when the run
 * ends or asks somebody, also if a crash came in between.
 */
export class RunProgress {
  readonly #options: RunProgressOptions;
  /** The messages of this process, by owner. */
  readonly #shown = new Map<string, string>();
  /** The newest lines of the runs of this process, by owner. */
  readonly #lines = new Map<string, string>();

  constructor(options: RunProgressOptions) {
    this.#options = options;
  }

  /** Shows a line of a run, or takes it away. If another agent has asked its person itself, no chat knows of the run. */
  show(run: ShownRun, line: string | undefined): void {
    const { address, owner, requestId } = run;
    if (line === undefined) {
      this.end(run);
      return;
    }
    this.#lines.set(owner, line);
    if (address === undefined || isAskedByCaller(requestId)) return;
    const { messengers, thread } = this.#options;
    const definition = messengers.find(address.messengerId);
    if (definition === undefined) return;
    const id = this.#shown.get(owner) ?? this.#newest(owner).id;
    if (!this.#shown.has(owner))
      thread.delivery.open({ id, address, policy: replyPolicy(definition.delivery), isAside: true });
    this.#shown.set(owner, id);
    thread.delivery.progress(id, line);
  }

  /** Returns how far a run is. Undefined if it has not said that, or has ended. */
  lineOf(owner: string): string | undefined {
    return this.#lines.get(owner);
  }

  end({ owner }: Pick<ShownRun, "owner">): void {
    this.#shown.delete(owner);
    this.#lines.delete(owner);
    const { id, state } = this.#newest(owner);
    if (state === "streaming") this.#options.thread.delivery.finish(id, "");
  }

  /** Returns the message of the run that has not ended, or else its next one. */
  #newest(owner: string): { readonly id: string; readonly state: "streaming" | undefined } {
    for (let count = 0; ; count += 1) {
      const id = `${owner}:progress:${count}`;
      const state = this.#options.thread.delivery.receipt(id)?.state;
      if (state === undefined || state === "streaming") return { id, state };
    }
  }
}
