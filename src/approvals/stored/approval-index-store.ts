import { parseIndexed } from "./stored-report.ts";
import type { Database } from "../../core/store/database.ts";
import { LazyTables } from "../../core/store/lazy-tables.ts";
import { defineTable, encoded, integer, Table, text } from "../../core/store/table.ts";
import type { ApprovalFilter } from "./approval-store.ts";
import type { ApprovalReport, IndexedApproval } from "../rules/approval-index.ts";
import type { WantedKeys } from "./index-keys.ts";

/** The root's index of the approvals of all conversations. Only those that wait have keys and a place in the order. */
const ENTRIES = defineTable(
  "approval_index_v1",
  {
    id: text("PRIMARY KEY"),
    state: text("NOT NULL"),
    entry: encoded(parseIndexed)("NOT NULL"),
    createdAt: integer("NOT NULL"),
    endedAt: integer(),
  },
  "STRICT, WITHOUT ROWID",
  {
    approval_index_waiting_v1: "(created_at, id) WHERE state = 'waiting'",
    approval_index_order_v1: "(created_at, id)",
  },
);
const KEYS = defineTable(
  "approval_key_v1",
  { key: text("PRIMARY KEY"), createdAt: integer("PRIMARY KEY"), id: text("PRIMARY KEY") },
  "STRICT, WITHOUT ROWID",
  { approval_key_id_v1: "(id)" },
);
const GRANT_KEYS = defineTable("grant_key_v1", {
  key: text("PRIMARY KEY"),
  conversation: text("PRIMARY KEY"),
});

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
  const tables = new LazyTables(database, ENTRIES, KEYS, GRANT_KEYS);
  const entries = new Table(tables, ENTRIES);
  const keyRows = new Table(tables, KEYS);
  const grantRows = new Table(tables, GRANT_KEYS);
  const read = (where: string, ...bindings: (string | number | null)[]): IndexedApproval[] =>
    entries.all(where, ...bindings).map(({ entry }) => entry);
  return {
    put({ approval, grantKeys = [], keys }) {
      tables.make();
      const { createdAt, endedAt, executionId, state } = approval;
      database.transaction(() => {
        const row = { id: executionId, state, entry: approval, createdAt, endedAt };
        // An ended approval never waits again.
        if (entries.insertNew(row) === undefined && state !== "waiting")
          entries.update(
            { state, entry: approval, endedAt },
            "WHERE id = ? AND ended_at IS NULL",
            executionId,
          );
        for (const key of grantKeys) grantRows.insertNew({ key, conversation: approval.conversation });
        const [stored] = database.all<{ state: string }>(
          "SELECT state FROM approval_index_v1 WHERE id = ?",
          executionId,
        );
        if (stored?.state !== "waiting") {
          database.run("DELETE FROM approval_key_v1 WHERE id = ?", executionId);
          return;
        }
        for (const key of keys) keyRows.insertNew({ key, createdAt, id: executionId });
      });
    },
    get: (id) => read("WHERE id = ?", id)[0],
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
      grantRows.all("WHERE key = ? LIMIT ?", key, limit).map(({ conversation }) => conversation),
  };
}
