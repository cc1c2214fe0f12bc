import { z } from "zod";
import type { Json } from "../core/message/content.ts";
import type { Database } from "../core/store/database.ts";
import { checked, defineTable, encoded, flag, integer, lazyTable, text } from "../core/store/table.ts";
import type { RowOf, Table } from "../core/store/table.ts";

/**
 * - `asking`: a person must answer first
 * - `ready`: the answer is stored, and the call has not run again
 * - `running`: it runs
 * - `ended`: `outcome` is its result
 */
const stateSchema = z.enum(["asking", "ready", "running", "ended"]);

const value = encoded<Json>((stored) => JSON.parse(stored) as Json);

/** Calls of actions that were dropped where they asked a person. */
const CALLS = defineTable(
  "parked_call_v1",
  {
    id: text("PRIMARY KEY"),
    seq: integer("NOT NULL"),
    requestId: text("NOT NULL"),
    toolCallId: text("NOT NULL"),
    action: text("NOT NULL"),
    input: value("NOT NULL"),
    inputHash: text("NOT NULL"),
    ledgerKey: text("NOT NULL"),
    /** The run that has asked, as the ledger names it. */
    runId: text("NOT NULL"),
    /** For whom and where it runs, as JSON of the one who parks it. */
    context: value("NOT NULL"),
    state: checked(stateSchema)("NOT NULL"),
    outcome: value(),
    /** Whether the conversation knows the outcome. */
    isTold: flag("NOT NULL"),
    /** Epoch milliseconds. */
    createdAt: integer("NOT NULL"),
    endedAt: integer(),
  },
  "STRICT, WITHOUT ROWID",
  {
    parked_call_v1_open: "(seq) WHERE is_told = 0",
    parked_call_v1_call: "(request_id, tool_call_id)",
  },
);

export type ParkedCall = Omit<RowOf<typeof CALLS>, "seq">;

export class ParkedCallStore {
  readonly #calls: Table<typeof CALLS>;

  constructor(database: Database) {
    this.#calls = lazyTable(database, CALLS);
  }

  get(id: string): ParkedCall | undefined {
    return this.#calls.first("WHERE id = ?", id);
  }

  /** Returns the call that a tool call of a turn has become. */
  ofCall(requestId: string, toolCallId: string): ParkedCall | undefined {
    return this.#calls.first("WHERE request_id = ? AND tool_call_id = ?", requestId, toolCallId);
  }

  /** Returns the calls of a turn that have ever asked a person, oldest first. */
  ofTurn(requestId: string): ParkedCall[] {
    return this.#calls.all("WHERE request_id = ? ORDER BY seq", requestId);
  }

  /** Whether a call of the turn has ever asked a person. */
  hasAsked(requestId: string): boolean {
    return this.#calls.first("WHERE request_id = ?", requestId) !== undefined;
  }

  /** Returns the calls whose outcome the conversation does not know, oldest first. */
  open(): ParkedCall[] {
    return this.#calls.all("WHERE is_told = 0 ORDER BY seq");
  }

  insert(call: ParkedCall): void {
    const [newest] = this.#calls.query<{ seq: number | null }>("SELECT max(seq) AS seq FROM parked_call_v1");
    this.#calls.insert({ ...call, seq: (newest?.seq ?? 0) + 1 });
  }

  change(
    id: string,
    changes: Partial<Pick<ParkedCall, "runId" | "state" | "outcome" | "isTold" | "endedAt">>,
  ): void {
    this.#calls.update(changes, "WHERE id = ?", id);
  }

  /** Makes the table, which most objects never need. Called outside of the transaction of the first row. */
  makeTable(): void {
    this.#calls.make();
  }
}
