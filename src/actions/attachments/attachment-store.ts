import type { Database } from "../../core/database.ts";
import { LazyTables } from "../../core/lazy-tables.ts";
import { defineTable, flag, integer, Table, text } from "../../core/table.ts";
import type { RowOf } from "../../core/table.ts";

/**
 * Attachments that actions have added to replies. The tables are created with the first one, because most conversations
 * have none.
 */
const ATTACHMENTS = defineTable(
  "attachment_v1",
  {
    seq: integer("PRIMARY KEY AUTOINCREMENT"),
    /** The turn or the approval whose reply shows it. */
    owner: text("NOT NULL"),
    runId: text("NOT NULL"),
    ledgerKey: text("NOT NULL"),
    /** False until the ledger has settled the run. Rows of a run that never settles do not count. */
    isRecorded: flag("NOT NULL"),
    attachment: text("NOT NULL"),
    createdAt: integer("NOT NULL"),
  },
  "STRICT",
  { attachment_v1_owner: "(owner)" },
);

/** The run that an attachment belongs to. */
export type AttachmentRun = Pick<RowOf<typeof ATTACHMENTS>, "owner" | "runId" | "ledgerKey">;

export class AttachmentStore {
  readonly #database: Database;
  readonly #tables: LazyTables;
  readonly #attachments: Table<typeof ATTACHMENTS>;

  constructor(database: Database) {
    this.#database = database;
    this.#tables = new LazyTables(database, ATTACHMENTS);
    this.#attachments = new Table(this.#tables, ATTACHMENTS);
  }

  /** Adds an attachment that does not count yet. `attachment` is JSON. */
  insert({ ledgerKey, owner, runId }: AttachmentRun, attachment: string, now: number): void {
    this.#attachments.insert({ owner, runId, ledgerKey, isRecorded: false, attachment, createdAt: now });
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
    const recorded = this.#attachments.all("WHERE owner = ? AND is_recorded = 1 ORDER BY seq", owner);
    return recorded.map(({ attachment }) => attachment);
  }

  /** Returns the runs of an owner. */
  runsOf(owner: string): string[] {
    return this.#tables
      .all<{ run_id: string }>("SELECT DISTINCT run_id FROM attachment_v1 WHERE owner = ?", owner)
      .map((row) => row.run_id);
  }

  /** Deletes at most `limit` of the oldest rows, if they were made before `before`. Returns their runs. */
  sweep(before: number, limit: number): string[] {
    const old = this.#attachments.all("WHERE created_at < ? ORDER BY seq LIMIT ?", before, limit);
    const last = old.at(-1);
    if (last === undefined) return [];
    this.#database.run("DELETE FROM attachment_v1 WHERE created_at < ? AND seq <= ?", before, last.seq);
    return [...new Set(old.map(({ runId }) => runId))];
  }
}
