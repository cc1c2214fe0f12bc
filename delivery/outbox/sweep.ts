import type { Database } from "../../src/core/store/database.ts";
import type { Deps } from "../../src/core/base/deps.ts";
import { Sweep } from "../../src/core/store/sweep-store.ts";
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
  /** The replies in memory, by id. */
  readonly inMemory: Map<string, Reply>;
  /** How long receipts are kept, in milliseconds. @default 30 days */
  readonly keepReceiptsMs?: () => number;
}

const DEFAULT_KEEP_MS = 30 * 24 * 60 * 60 * 1000;
/** Time to keep the rows of cards, in milliseconds. Until then a card can be revised. */
const KEEP_CARDS_MS = 90 * 24 * 60 * 60 * 1000;

/** Deletes the rows of old replies and marks, and unused files, once a day. */
export class ReplySweep {
  readonly #options: SweepOptions;
  readonly #keepMs: () => number;
  readonly #marks: Sweep;

  constructor(options: SweepOptions) {
    this.#options = options;
    const { database, deps, keepReceiptsMs = () => DEFAULT_KEEP_MS } = options;
    this.#keepMs = keepReceiptsMs;
    const marks = { table: "mark_v1", since: "ended_at", keepMs: keepReceiptsMs };
    this.#marks = new Sweep(database, deps.clock, [marks]);
  }

  /** Does nothing if the last sweep was less than a day ago. Open replies are kept. */
  run(): void {
    const { database, deps, files, inMemory, outbox, replies } = this.#options;
    if (!this.#marks.run()) return;
    files.sweep();
    const now = deps.clock.now();
    const keepMs = this.#keepMs();
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
