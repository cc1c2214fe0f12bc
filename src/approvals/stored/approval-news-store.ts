import { parseReport } from "./stored-report.ts";
import type { Database } from "../../core/store/database.ts";
import { defineTable, encoded, integer, lazyTable } from "../../core/store/table.ts";
import type { ApprovalReport } from "../rules/approval-index.ts";

/** Changed approvals of a conversation that its root does not know yet, in order. */
const NEWS = defineTable(
  "approval_news_v1",
  { seq: integer("PRIMARY KEY AUTOINCREMENT"), entry: encoded(parseReport)("NOT NULL") },
  "STRICT",
);

export interface ApprovalNewsItem {
  readonly seq: number;
  readonly report: ApprovalReport;
}

export interface ApprovalNewsStore {
  add(report: ApprovalReport): void;
  /** Returns the oldest item. */
  next(): ApprovalNewsItem | undefined;
  remove(seq: number): void;
}

/** Creates the store. Its table is made with the first approval. */
export function createApprovalNewsStore(database: Database): ApprovalNewsStore {
  const news = lazyTable(database, NEWS);
  return {
    add: (report) => news.insert({ entry: report }),
    next() {
      const row = news.first("ORDER BY seq LIMIT 1");
      return row && { seq: row.seq, report: row.entry };
    },
    remove(seq) {
      database.run("DELETE FROM approval_news_v1 WHERE seq = ?", seq);
    },
  };
}
