import type { Clock } from "../../core/deps.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { NoteStore } from "../../inbox/note-store.ts";
import type { Prompts } from "../turns/prompts.ts";

export interface ThreadSweepOptions {
  readonly clock: Clock;
  readonly inbox: Pick<InboxStore, "sweep">;
  readonly prompts: Pick<Prompts, "sweep">;
  readonly notes: Pick<NoteStore, "sweep">;
}

/** Known keys are kept this long, so that a late redelivery starts nothing (I2). */
const KEEP_KEYS_MS = 7 * 24 * 60 * 60 * 1000;
/** Ended prompts are kept this long, so that bot code can ask for their outcome. */
const KEEP_PROMPTS_MS = 30 * 24 * 60 * 60 * 1000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;

/** Deletes old rows of a conversation, at most once an hour. */
export class ThreadSweep {
  readonly #options: ThreadSweepOptions;
  #sweptAt = 0;

  constructor(options: ThreadSweepOptions) {
    this.#options = options;
  }

  run(): void {
    const { clock, inbox, notes, prompts } = this.#options;
    const now = clock.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    inbox.sweep(now - KEEP_KEYS_MS);
    prompts.sweep(now - KEEP_PROMPTS_MS);
    notes.sweep(now - KEEP_PROMPTS_MS);
  }
}
