import { z } from "zod";
import type { Json } from "../core/message/content.ts";
import type { Database } from "../core/store/database.ts";
import { LazyTables } from "../core/store/lazy-tables.ts";
import { added, checked, defineTable, encoded, integer, Table, text } from "../core/store/table.ts";
import type { RowOf } from "../core/store/table.ts";

/**
 * - `open`: people can undo it
 * - `undone`: somebody has
 * - `over`: the time is over
 */
const state = z.enum(["open", "undone", "over"]);

const value = encoded<Json>((stored) => JSON.parse(stored) as Json);

/** How a call could not be undone. */
export interface UndoFailure {
  readonly end: "failed" | "unknown";
  /** Words for people. */
  readonly why: string;
}

/** Calls of actions that can be undone. */
const CALLS = defineTable(
  "undo_v1",
  {
    /** The key of the call in the ledger. */
    id: text("PRIMARY KEY"),
    seq: integer("NOT NULL"),
    /** Calls of one answer are undone together. The id of their card. */
    card: text("NOT NULL"),
    action: text("NOT NULL"),
    /** The call in words. */
    summary: text("NOT NULL"),
    input: value("NOT NULL"),
    inputHash: text("NOT NULL"),
    requestId: text("NOT NULL"),
    messengerId: text("NOT NULL"),
    /** Those who may undo it: the person who asked, and the one who agreed. */
    requester: text(),
    approver: text(),
    /** For whom and where it ran. */
    facts: value("NOT NULL"),
    state: checked(state)("NOT NULL"),
    /** The last try to undo it. */
    failure: added(encoded<UndoFailure>((stored) => JSON.parse(stored) as UndoFailure)()),
    /** The time of the call, or of the end of its run of code. */
    createdAt: integer("NOT NULL"),
  },
  "STRICT, WITHOUT ROWID",
  { undo_v1_card: "(card)", undo_v1_open: "(created_at) WHERE state = 'open'" },
);

export type UndoCall = Omit<RowOf<typeof CALLS>, "seq">;

export class UndoStore {
  readonly #tables: LazyTables;
  readonly #calls: Table<typeof CALLS>;

  constructor(database: Database) {
    this.#tables = new LazyTables(database, CALLS);
    this.#calls = new Table(this.#tables, CALLS);
  }

  /** Adds a call. Returns `false` if it is known. */
  add(call: UndoCall): boolean {
    this.#tables.make();
    const [newest] = this.#tables.all<{ seq: number | null }>("SELECT max(seq) AS seq FROM undo_v1");
    return this.#calls.insertNew({ ...call, seq: (newest?.seq ?? 0) + 1 }) !== undefined;
  }

  /** Returns the calls of a card, the newest first. */
  ofCard(card: string): UndoCall[] {
    return this.#calls.all("WHERE card = ? ORDER BY seq DESC", card);
  }

  /** Returns the calls that can be undone, the newest first. */
  open(): UndoCall[] {
    return this.#calls.all("WHERE state = 'open' ORDER BY seq DESC");
  }

  /** Lets the time of the open calls of a card begin. */
  begin(card: string, now: number): void {
    this.#calls.update({ createdAt: now }, "WHERE card = ? AND state = 'open'", card);
  }

  change(id: string, changes: Partial<Pick<UndoCall, "state" | "failure">>): void {
    this.#calls.update(changes, "WHERE id = ?", id);
  }
}
