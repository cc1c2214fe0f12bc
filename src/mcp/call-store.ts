import { z } from "zod";
import { DAY_MS } from "../core/time/civil-time.ts";
import type { Json } from "../core/message/content.ts";
import type { Database } from "../core/store/database.ts";
import type { Clock } from "../core/base/deps.ts";
import { Sweep } from "../core/store/sweep-store.ts";
import { added, defineTable, flag, integer, json, lazyTable, text } from "../core/store/table.ts";
import type { RowOf, Table } from "../core/store/table.ts";

/** Calls of tools. A row never holds the input. */
const CALLS = defineTable("mcp_call_v1", {
  id: text("PRIMARY KEY"),
  /** The same for a request that is sent again. NULL: a newer call has it. */
  retryKey: text("UNIQUE"),
  action: text("NOT NULL"),
  inputHash: text("NOT NULL"),
  /** The question to people, if there is one. */
  approvalId: text(),
  /** Whether the client has got an answer. */
  isAnswered: flag("NOT NULL"),
  createdAt: integer("NOT NULL"),
  /** Whether it is a task because it takes long. Then its end is stored, too: the output, or `{ error }`. */
  isLong: flag("NOT NULL"),
  endedAt: integer(),
  output: json<Json>(z.json())(),
  /** The call as those know it who keep its questions from inside the action, if there are any. */
  parkedId: added(text()),
});

export type CallRow = RowOf<typeof CALLS>;

/** How long a call is kept: longer than any question waits for people. */
export const KEEP_CALLS_MS = 120 * DAY_MS;

/** The calls of one token, in its conversation. */
export class CallStore {
  readonly #database: Database;
  readonly #rows: Table<typeof CALLS>;
  readonly #sweep: Sweep;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#rows = lazyTable(database, CALLS);
    this.#sweep = new Sweep(database, clock, [
      { table: "mcp_call_v1", key: "id", since: "created_at", keepMs: KEEP_CALLS_MS },
    ]);
  }

  get(id: string): CallRow | undefined {
    return this.#rows.first("WHERE id = ?", id);
  }

  ofRetry(retryKey: string): CallRow | undefined {
    return this.#rows.first("WHERE retry_key = ?", retryKey);
  }

  /** Returns the calls about which people were asked. */
  asked(): CallRow[] {
    return this.#rows.all("WHERE approval_id IS NOT NULL OR parked_id IS NOT NULL");
  }

  /** Stores a new call. It takes its key from an earlier one. */
  insert(row: CallRow): void {
    this.#sweep.run();
    this.#database.transaction(() => {
      this.#rows.update({ retryKey: undefined }, "WHERE retry_key = ?", row.retryKey ?? "");
      this.#rows.insert(row);
    });
  }

  change(
    id: string,
    changes: Partial<
      Pick<CallRow, "approvalId" | "parkedId" | "isAnswered" | "isLong" | "endedAt" | "output">
    >,
  ): void {
    this.#rows.update(changes, "WHERE id = ?", id);
  }
}
