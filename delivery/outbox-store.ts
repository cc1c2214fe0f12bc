import type { Database } from "../src/core/database.ts";
import type { OutboxState } from "../src/core/delivery.ts";

const SCHEMA = `CREATE TABLE IF NOT EXISTS outbox_v1 (
  reply_id TEXT NOT NULL,
  part INTEGER NOT NULL,
  state TEXT NOT NULL,
  message_id TEXT,
  shown_hash TEXT,
  is_marked INTEGER NOT NULL,
  is_replacement INTEGER NOT NULL,
  doubts INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  code TEXT,
  failing_since INTEGER,
  retry_at INTEGER,
  PRIMARY KEY (reply_id, part)
) WITHOUT ROWID`;

/** One message of a reply, as stored. Holds no text. */
export interface OutboxRow {
  readonly replyId: string;
  /** Place in the reply, from 0. Negative: a known duplicate, which is taken away again. */
  readonly part: number;
  readonly state: OutboxState;
  readonly messageId?: string | undefined;
  /** Hash of the last content that is known to be visible and need not be sent again. */
  readonly shownHash?: string | undefined;
  /** Posted again after an unknown outcome: its text begins with the mark. */
  readonly isMarked: boolean;
  /** Posted again because a person deleted the message before it was whole. */
  readonly isReplacement: boolean;
  /** How many posts of this row ended without an answer. */
  readonly doubts: number;
  /** Posts begun, and other calls that failed. */
  readonly attempts: number;
  readonly code?: string | undefined;
  /** Epoch milliseconds of the first failure of the call that is being retried. */
  readonly failingSince?: number | undefined;
  /** Epoch milliseconds before which the row is not tried again. */
  readonly retryAt?: number | undefined;
}

type Stored = {
  reply_id: string;
  part: number;
  state: string;
  message_id: string | null;
  shown_hash: string | null;
  is_marked: number;
  is_replacement: number;
  doubts: number;
  attempts: number;
  code: string | null;
  failing_since: number | null;
  retry_at: number | null;
};

export class OutboxStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.run(SCHEMA);
  }

  rowsOf(replyId: string): OutboxRow[] {
    return this.#database
      .all<Stored>("SELECT * FROM outbox_v1 WHERE reply_id = ? ORDER BY part", replyId)
      .map(rowOf);
  }

  write(row: OutboxRow): void {
    this.#database.run(
      `INSERT INTO outbox_v1 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (reply_id, part) DO UPDATE SET state = excluded.state, message_id = excluded.message_id,
         shown_hash = excluded.shown_hash, is_marked = excluded.is_marked,
         is_replacement = excluded.is_replacement, doubts = excluded.doubts, attempts = excluded.attempts,
         code = excluded.code, failing_since = excluded.failing_since, retry_at = excluded.retry_at`,
      row.replyId,
      row.part,
      row.state,
      row.messageId ?? null,
      row.shownHash ?? null,
      row.isMarked ? 1 : 0,
      row.isReplacement ? 1 : 0,
      row.doubts,
      row.attempts,
      row.code ?? null,
      row.failingSince ?? null,
      row.retryAt ?? null,
    );
  }

  delete(row: OutboxRow): void {
    this.#database.run("DELETE FROM outbox_v1 WHERE reply_id = ? AND part = ?", row.replyId, row.part);
  }

  deleteOf(replyId: string): void {
    this.#database.run("DELETE FROM outbox_v1 WHERE reply_id = ?", replyId);
  }
}

function rowOf(stored: Stored): OutboxRow {
  return {
    replyId: stored.reply_id,
    part: stored.part,
    state: stored.state as OutboxState,
    messageId: stored.message_id ?? undefined,
    shownHash: stored.shown_hash ?? undefined,
    isMarked: stored.is_marked === 1,
    isReplacement: stored.is_replacement === 1,
    doubts: stored.doubts,
    attempts: stored.attempts,
    code: stored.code ?? undefined,
    failingSince: stored.failing_since ?? undefined,
    retryAt: stored.retry_at ?? undefined,
  };
}
