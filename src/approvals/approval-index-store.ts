import { firstRow } from "../core/database.ts";
import type { Database } from "../core/database.ts";
import type { IndexedApproval } from "./approval-index.ts";

/** The root's index of the approvals of all conversations. Only those that wait are in the index of the table. */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS approval_index_v1 (
    id TEXT PRIMARY KEY, state TEXT NOT NULL, entry TEXT NOT NULL, created_at INTEGER NOT NULL, ended_at INTEGER
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX IF NOT EXISTS approval_index_waiting_v1 ON approval_index_v1 (created_at, id) WHERE state = 'waiting'`,
];

/** Place of an approval in the order of pages. */
export interface ApprovalPlace {
  readonly createdAt: number;
  readonly id: string;
}

export interface ApprovalIndexStore {
  /** Stores the newest state of an approval. A report about an earlier state changes nothing. */
  put(approval: IndexedApproval): void;
  get(id: string): IndexedApproval | undefined;
  /** Returns those that wait, the oldest first. */
  waiting(after: ApprovalPlace | undefined, limit: number): IndexedApproval[];
  /** Forgets approvals that ended before `before`. */
  sweep(before: number): void;
}

/** Creates the store. Its table is made with the first approval. */
export function createApprovalIndexStore(database: Database): ApprovalIndexStore {
  let hasTable: boolean | undefined;
  const isThere = (): boolean => {
    hasTable ??=
      database.all("SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'approval_index_v1'")
        .length > 0;
    return hasTable;
  };
  const read = (where: string, ...bindings: (string | number)[]): IndexedApproval[] =>
    isThere()
      ? database
          .all<{ entry: string }>(`SELECT entry FROM approval_index_v1 ${where}`, ...bindings)
          .map(({ entry }) => JSON.parse(entry) as IndexedApproval)
      : [];
  return {
    put(approval) {
      for (const statement of SCHEMA) database.run(statement);
      hasTable = true;
      const { createdAt, endedAt, executionId, state } = approval;
      // An ended approval never waits again.
      database.run(
        `INSERT INTO approval_index_v1 (id, state, entry, created_at, ended_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET state = excluded.state, entry = excluded.entry, ended_at = excluded.ended_at
         WHERE excluded.state <> 'waiting' AND ended_at IS NULL`,
        executionId,
        state,
        JSON.stringify(approval),
        createdAt,
        endedAt ?? null,
      );
    },
    get: (id) => firstRow(read("WHERE id = ?", id)),
    waiting: (after, limit) =>
      read(
        "WHERE state = 'waiting' AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?",
        after?.createdAt ?? 0,
        after?.id ?? "",
        limit,
      ),
    sweep(before) {
      if (isThere()) database.run("DELETE FROM approval_index_v1 WHERE ended_at < ?", before);
    },
  };
}
