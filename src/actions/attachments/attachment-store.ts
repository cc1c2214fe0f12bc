import type { Database } from "../../core/store/database.ts";
import { defineTable, flag, integer, lazyTable, text } from "../../core/store/table.ts";
import type { RowOf, Table } from "../../core/store/table.ts";

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
  readonly #attachments: Table<typeof ATTACHMENTS>;

  constructor(database: Database) {
    this.#attachments = lazyTable(database, ATTACHMENTS);
  }

  /** Adds an attachment that does not count yet. `attachment` is JSON. */
  insert({ ledgerKey, owner, runId }: AttachmentRun, attachment: string, now: number): void {
    this.#attachments.insert({ owner, runId, ledgerKey, isRecorded: false, attachment, createdAt: now });
  }

  /** Makes the attachments of an effect count. */
  record(owner: string, ledgerKey: string): void {
    const where = "WHERE owner = ? AND ledger_key = ? AND is_recorded = 0";
    this.#attachments.update({ isRecorded: true }, where, owner, ledgerKey);
  }

  /** Deletes the attachments of earlier runs of an effect. Returns the ids of these runs. */
  dropEarlier({ ledgerKey, owner, runId }: AttachmentRun): string[] {
    const earlier = ["WHERE owner = ? AND ledger_key = ? AND run_id <> ?", owner, ledgerKey, runId] as const;
    const runs = this.#attachments.all(...earlier).map((row) => row.runId);
    if (runs.length > 0) this.#attachments.delete(...earlier);
    return [...new Set(runs)];
  }

  /** Returns the attachments of an owner that count, in order, as JSON. */
  of(owner: string): string[] {
    const recorded = this.#attachments.all("WHERE owner = ? AND is_recorded = 1 ORDER BY seq", owner);
    return recorded.map(({ attachment }) => attachment);
  }

  /** Returns the runs of an owner. */
  runsOf(owner: string): string[] {
    const runs = this.#attachments.all("WHERE owner = ?", owner).map(({ runId }) => runId);
    return [...new Set(runs)];
  }

  /** Deletes at most `limit` of the oldest rows, if they were made before `before`. Returns their runs. */
  sweep(before: number, limit: number): string[] {
    const old = this.#attachments.all("WHERE created_at < ? ORDER BY seq LIMIT ?", before, limit);
    const last = old.at(-1);
    if (last === undefined) return [];
    this.#attachments.delete("WHERE created_at < ? AND seq <= ?", before, last.seq);
    return [...new Set(old.map(({ runId }) => runId))];
  }
}
