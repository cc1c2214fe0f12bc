import type { Database } from "../core/database.ts";
import { LazyTables } from "../core/lazy-tables.ts";

/**
 * Attachments that actions have added to replies. The tables are created with the first one, because most conversations
 * have none.
 *
 * `is_recorded` is 0 until the ledger has settled the run. Rows of a run that never settles do not count.
 */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS attachment_v1 (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    run_id TEXT NOT NULL,
    ledger_key TEXT NOT NULL,
    is_recorded INTEGER NOT NULL,
    attachment TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX IF NOT EXISTS attachment_v1_owner ON attachment_v1 (owner)`,
];

/** The run that an attachment belongs to. */
export interface AttachmentRun {
  /** The turn or the approval whose reply shows it. */
  readonly owner: string;
  readonly runId: string;
  readonly ledgerKey: string;
}

export class AttachmentStore {
  readonly #database: Database;
  readonly #tables: LazyTables;

  constructor(database: Database) {
    this.#database = database;
    this.#tables = new LazyTables(database, { table: "attachment_v1", schema: SCHEMA });
  }

  /** Adds an attachment that does not count yet. `attachment` is JSON. */
  insert({ ledgerKey, owner, runId }: AttachmentRun, attachment: string, now: number): void {
    this.#tables.make();
    this.#database.run(
      `INSERT INTO attachment_v1 (owner, run_id, ledger_key, is_recorded, attachment, created_at)
       VALUES (?, ?, ?, 0, ?, ?)`,
      owner,
      runId,
      ledgerKey,
      attachment,
      now,
    );
  }

  /** Makes the attachments of an effect count. */
  record(owner: string, ledgerKey: string): void {
    this.#tables.run(
      "UPDATE attachment_v1 SET is_recorded = 1 WHERE owner = ? AND ledger_key = ? AND is_recorded = 0",
      owner,
      ledgerKey,
    );
  }

  /** Deletes the attachments of earlier runs of an effect. Returns the ids of these runs. */
  dropEarlier({ ledgerKey, owner, runId }: AttachmentRun): string[] {
    const runs = this.#tables.all<{ run_id: string }>(
      "SELECT DISTINCT run_id FROM attachment_v1 WHERE owner = ? AND ledger_key = ? AND run_id <> ?",
      owner,
      ledgerKey,
      runId,
    );
    if (runs.length > 0)
      this.#database.run(
        "DELETE FROM attachment_v1 WHERE owner = ? AND ledger_key = ? AND run_id <> ?",
        owner,
        ledgerKey,
        runId,
      );
    return runs.map((row) => row.run_id);
  }

  /** Returns the attachments of an owner that count, in order, as JSON. */
  of(owner: string): string[] {
    return this.#tables
      .all<{ attachment: string }>(
        "SELECT attachment FROM attachment_v1 WHERE owner = ? AND is_recorded = 1 ORDER BY seq",
        owner,
      )
      .map((row) => row.attachment);
  }

  /** Returns the runs of an owner. */
  runsOf(owner: string): string[] {
    return this.#tables
      .all<{ run_id: string }>("SELECT DISTINCT run_id FROM attachment_v1 WHERE owner = ?", owner)
      .map((row) => row.run_id);
  }

  /** Deletes at most `limit` of the oldest rows, if they were made before `before`. Returns their runs. */
  sweep(before: number, limit: number): string[] {
    const old = this.#tables.all<{ seq: number; run_id: string }>(
      "SELECT seq, run_id FROM attachment_v1 WHERE created_at < ? ORDER BY seq LIMIT ?",
      before,
      limit,
    );
    const last = old.at(-1);
    if (last === undefined) return [];
    this.#database.run("DELETE FROM attachment_v1 WHERE created_at < ? AND seq <= ?", before, last.seq);
    return [...new Set(old.map((row) => row.run_id))];
  }
}
