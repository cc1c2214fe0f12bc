import { parseIndexed } from "./stored-report.ts";
import { firstRow } from "../../core/database.ts";
import type { Database } from "../../core/database.ts";
import { LazyTables } from "../../core/lazy-tables.ts";
import type { ApprovalFilter } from "./approval-store.ts";
import type { ApprovalReport, IndexedApproval } from "../rules/approval-index.ts";
import type { WantedKeys } from "./index-keys.ts";

/** The root's index of the approvals of all conversations. Only those that wait have keys and a place in the order. */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS approval_index_v1 (
    id TEXT PRIMARY KEY, state TEXT NOT NULL, entry TEXT NOT NULL, created_at INTEGER NOT NULL, ended_at INTEGER
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX IF NOT EXISTS approval_index_waiting_v1 ON approval_index_v1 (created_at, id) WHERE state = 'waiting'`,
  "CREATE INDEX IF NOT EXISTS approval_index_order_v1 ON approval_index_v1 (created_at, id)",
  `CREATE TABLE IF NOT EXISTS approval_key_v1 (
    key TEXT NOT NULL, created_at INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (key, created_at, id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX IF NOT EXISTS approval_key_id_v1 ON approval_key_v1 (id)`,
  `CREATE TABLE IF NOT EXISTS grant_key_v1 (
    key TEXT NOT NULL, conversation TEXT NOT NULL, PRIMARY KEY (key, conversation)
  ) STRICT, WITHOUT ROWID`,
];

/** Place of an approval in the order of pages. */
export interface ApprovalPlace {
  readonly createdAt: number;
  readonly id: string;
}

export interface ApprovalIndexStore {
  /** Stores the newest state of an approval. A report about an earlier state changes nothing. */
  put(report: ApprovalReport): void;
  get(id: string): IndexedApproval | undefined;
  /** Returns those that wait, the oldest first. */
  waiting(after: ApprovalPlace | undefined, limit: number): IndexedApproval[];
  /** Returns those of any state, the newest first. */
  list(filter: ApprovalFilter, limit: number): IndexedApproval[];
  /** Returns those that wait and have the person's or the chat's key, the oldest first. */
  named(wanted: WantedKeys, limit: number): IndexedApproval[];
  /** Returns those that wait in the messenger without names of people who may decide, the oldest first. */
  unnamed(wanted: WantedKeys, limit: number): IndexedApproval[];
  /** Returns the conversations that have had grants with this key. */
  grantPlaces(key: string, limit: number): string[];
}

/** Creates the store. Its tables are made with the first approval. */
export function createApprovalIndexStore(database: Database): ApprovalIndexStore {
  const tables = new LazyTables(database, { table: "grant_key_v1", schema: SCHEMA });
  const read = (where: string, ...bindings: (string | number | null)[]): IndexedApproval[] =>
    tables
      .all<{ entry: string }>(`SELECT entry FROM approval_index_v1 ${where}`, ...bindings)
      .map(({ entry }) => parseIndexed(entry));
  return {
    put({ approval, grantKeys = [], keys }) {
      tables.make();
      const { createdAt, endedAt, executionId, state } = approval;
      database.transaction(() => {
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
        for (const key of grantKeys)
          database.run(
            "INSERT OR IGNORE INTO grant_key_v1 (key, conversation) VALUES (?, ?)",
            key,
            approval.conversation,
          );
        const [stored] = database.all<{ state: string }>(
          "SELECT state FROM approval_index_v1 WHERE id = ?",
          executionId,
        );
        if (stored?.state !== "waiting") {
          database.run("DELETE FROM approval_key_v1 WHERE id = ?", executionId);
          return;
        }
        for (const key of keys)
          database.run(
            "INSERT OR IGNORE INTO approval_key_v1 (key, created_at, id) VALUES (?, ?, ?)",
            key,
            createdAt,
            executionId,
          );
      });
    },
    get: (id) => firstRow(read("WHERE id = ?", id)),
    waiting: (after, limit) =>
      read(
        "WHERE state = 'waiting' AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?",
        after?.createdAt ?? 0,
        after?.id ?? "",
        limit,
      ),
    list: ({ before, person, since = 0, state }, limit) =>
      read(
        `WHERE created_at >= ?1 AND (?2 IS NULL OR state = ?2)
           AND (?3 IS NULL OR json_extract(entry, '$.requestedBy.userId') = ?3
             OR json_extract(entry, '$.decidedByUserId') = ?3)
           AND (?4 IS NULL OR (created_at, id) < (SELECT created_at, id FROM approval_index_v1 WHERE id = ?4))
         ORDER BY created_at DESC, id DESC LIMIT ?5`,
        since,
        state ?? null,
        person ?? null,
        before ?? null,
        limit,
      ),
    named: ({ person, thread }, limit) =>
      read(
        `WHERE id IN (SELECT id FROM approval_key_v1 WHERE key IN (?, ?) ORDER BY created_at LIMIT ?)
         ORDER BY created_at, id`,
        person ?? null,
        thread,
        limit,
      ),
    unnamed: ({ unnamed }, limit) =>
      read(
        `WHERE id IN (SELECT id FROM approval_key_v1 WHERE key = ? ORDER BY created_at LIMIT ?)
         ORDER BY created_at, id`,
        unnamed,
        limit,
      ),
    grantPlaces: (key, limit) =>
      tables
        .all<{ conversation: string }>(
          "SELECT conversation FROM grant_key_v1 WHERE key = ? LIMIT ?",
          key,
          limit,
        )
        .map(({ conversation }) => conversation),
  };
}
