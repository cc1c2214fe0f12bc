import type { Database } from "../core/database.ts";
import { firstRow } from "../core/database.ts";
import { LazyTables } from "../core/lazy-tables.ts";

/** The waiting times of operations. Most objects never have one, so the table is made with the first. */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS model_wait_v1 (
  operation TEXT PRIMARY KEY,
  waited_ms INTEGER NOT NULL,
  waiting_since INTEGER,
  is_over INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  answers_by INTEGER
) STRICT, WITHOUT ROWID`;

/** Columns that earlier releases did not have. */
const ADDED = { answers_by: "INTEGER" };

const KEEP_MS = 24 * 60 * 60 * 1000;

export interface ModelWait {
  /** Total of the waits that have ended, in milliseconds. */
  readonly waitedMs: number;
  /** Start of the current wait, in epoch milliseconds. */
  readonly since: number | undefined;
  /** True if the operation has waited long enough. */
  readonly isOver: boolean;
  /** When a repeated call must have begun to answer, in epoch milliseconds. Undefined for no limit. */
  readonly answersBy: number | undefined;
}

export interface WaitStore {
  read(operationId: string): ModelWait | undefined;
  /** Stores a waiting time. Deletes those that have not changed for a day. */
  write(operationId: string, wait: ModelWait, now: number): void;
}

type StoredWait = {
  waited_ms: number;
  waiting_since: number | null;
  is_over: number;
  answers_by: number | null;
};

export function createWaitStore(database: Database): WaitStore {
  const tables = new LazyTables(database, { table: "model_wait_v1", schema: [SCHEMA], added: ADDED });
  return {
    read(operationId) {
      const row = firstRow(
        tables.all<StoredWait>(
          "SELECT waited_ms, waiting_since, is_over, answers_by FROM model_wait_v1 WHERE operation = ?",
          operationId,
        ),
      );
      return row === undefined
        ? undefined
        : {
            waitedMs: row.waited_ms,
            since: row.waiting_since ?? undefined,
            isOver: row.is_over === 1,
            answersBy: row.answers_by ?? undefined,
          };
    },
    write(operationId, { answersBy, isOver, since, waitedMs }, now) {
      tables.make();
      database.run("DELETE FROM model_wait_v1 WHERE changed_at < ?", now - KEEP_MS);
      database.run(
        `INSERT OR REPLACE INTO model_wait_v1 (operation, waited_ms, waiting_since, is_over, changed_at, answers_by)
         VALUES (?, ?, ?, ?, ?, ?)`,
        operationId,
        waitedMs,
        since ?? null,
        isOver ? 1 : 0,
        now,
        answersBy ?? null,
      );
    },
  };
}
