import type { Database } from "../core/store/database.ts";
import { added, defineTable, flag, integer, lazyTable, text } from "../core/store/table.ts";
import type { RowOf } from "../core/store/table.ts";

/** The waiting times of operations. Most objects never have one, so the table is made with the first. */
const WAITS = defineTable("model_wait_v1", {
  operation: text("PRIMARY KEY"),
  /** Total of the waits that have ended, in milliseconds. */
  waitedMs: integer("NOT NULL"),
  /** Start of the current wait, in epoch milliseconds. */
  waitingSince: integer(),
  /** True if the operation has waited long enough. */
  isOver: flag("NOT NULL"),
  changedAt: integer("NOT NULL"),
  /** When a repeated call must have begun to answer, in epoch milliseconds. Undefined for no limit. */
  answersBy: added(integer()),
});

const KEEP_MS = 24 * 60 * 60 * 1000;

export type ModelWait = Omit<RowOf<typeof WAITS>, "operation" | "changedAt">;

export interface WaitStore {
  read(operationId: string): ModelWait | undefined;
  /** Stores a waiting time. Deletes those that have not changed for a day. */
  write(operationId: string, wait: ModelWait, now: number): void;
}

export function createWaitStore(database: Database): WaitStore {
  const waits = lazyTable(database, WAITS);
  return {
    read: (operationId) => waits.first("WHERE operation = ?", operationId),
    write(operationId, wait, now) {
      waits.delete("WHERE changed_at < ?", now - KEEP_MS);
      waits.put({ ...wait, operation: operationId, changedAt: now });
    },
  };
}
