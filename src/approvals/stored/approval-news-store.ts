import { parseReport } from "./stored-report.ts";
import type { Database } from "../../core/database.ts";
import { LazyTables } from "../../core/lazy-tables.ts";
import type { ApprovalReport } from "../rules/approval-index.ts";

/** Changed approvals of a conversation that its root does not know yet, in order. */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS approval_news_v1 (seq INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL) STRICT`;

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
  const tables = new LazyTables(database, { table: "approval_news_v1", schema: [SCHEMA] });
  return {
    add(report) {
      tables.make();
      database.run("INSERT INTO approval_news_v1 (entry) VALUES (?)", JSON.stringify(report));
    },
    next() {
      const [row] = tables.all<{ seq: number; entry: string }>(
        "SELECT seq, entry FROM approval_news_v1 ORDER BY seq LIMIT 1",
      );
      return row && { seq: row.seq, report: parseReport(row.entry) };
    },
    remove(seq) {
      database.run("DELETE FROM approval_news_v1 WHERE seq = ?", seq);
    },
  };
}
