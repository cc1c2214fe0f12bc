import type { Database } from "../../src/core/database.ts";
import type { Deps } from "../../src/core/deps.ts";
import type { OutgoingFiles } from "../files/outgoing-files.ts";
import type { OutboxStore } from "./outbox-store.ts";
import type { Reply } from "./reply.ts";
import type { ReplyStore } from "./reply-store.ts";

export interface SweepOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly replies: ReplyStore;
  readonly outbox: OutboxStore;
  readonly files: OutgoingFiles;
  readonly marks: { readonly sweep: (before: number) => void };
  /** The replies in memory, by id. */
  readonly inMemory: Map<string, Reply>;
  /** How long receipts are kept, in milliseconds. @default 30 days */
  readonly keepReceiptsMs?: () => number;
}

const DEFAULT_KEEP_MS = 30 * 24 * 60 * 60 * 1000;
/** Time to keep the rows of cards, in milliseconds. Until then a card can be revised. */
const KEEP_CARDS_MS = 90 * 24 * 60 * 60 * 1000;
const SWEEP_EVERY_MS = 24 * 60 * 60 * 1000;

/** Deletes the rows of old replies and unused files, once a day. */
export class Sweep {
  readonly #options: SweepOptions;
  #sweptAt = -Infinity;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  /** Does nothing if the last sweep was less than a day ago. Open replies are kept. */
  run(): void {
    const { database, deps, files, inMemory, keepReceiptsMs, marks, outbox, replies } = this.#options;
    const now = deps.clock.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    files.sweep();
    const keepMs = keepReceiptsMs?.() ?? DEFAULT_KEEP_MS;
    marks.sweep(now - keepMs);
    for (const id of replies.openedBefore(now - keepMs, now - Math.max(keepMs, KEEP_CARDS_MS))) {
      if (inMemory.get(id)?.isOpen === true) continue;
      database.transaction(() => {
        outbox.deleteOf(id);
        replies.delete(id);
        files.release(id);
      });
      inMemory.delete(id);
    }
  }
}
