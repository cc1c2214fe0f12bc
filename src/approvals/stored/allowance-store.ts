import type { Database } from "../../core/store/database.ts";
import { defineTable, flag, integer, lazyTable, text } from "../../core/store/table.ts";
import type { Table } from "../../core/store/table.ts";
import type { AllowanceClaim } from "../rules/allowance.ts";

/** Calls that limited grants cover in all conversations. They count for as long as a grant may hold: forever. */
const ALLOWANCES = defineTable(
  "allowance_v1",
  {
    id: text("PRIMARY KEY"),
    budget: text("NOT NULL"),
    currency: text(),
    units: integer("NOT NULL"),
    /** The call had no effect. The row stays, so that a late claim does not count. */
    isGivenBack: flag("NOT NULL"),
  },
  "STRICT, WITHOUT ROWID",
  { allowance_budget_v1: "(budget) WHERE is_given_back = 0" },
);

/** What limited grants have used: the one count for all conversations. Only at the root. */
export class AllowanceStore {
  readonly #database: Database;
  readonly #rows: Table<typeof ALLOWANCES>;

  constructor(database: Database) {
    this.#database = database;
    this.#rows = lazyTable(database, ALLOWANCES);
  }

  /** Claims a call, once. Compares and stores in one step. Returns `false` if not enough is left, or it was given back. */
  claim({ budget, id, mostCalls = Infinity, sum }: AllowanceClaim): boolean {
    this.#rows.make();
    return this.#database.transaction(() => {
      const known = this.#rows.first("WHERE id = ?", id);
      const { currency = null, mostUnits = Infinity, units = 0 } = sum ?? {};
      // A new version of the bot may say another amount of the same call.
      if (known !== undefined) return !known.isGivenBack && known.units === units;
      const used = this.#database.all<{ calls: number; units: number }>(
        `SELECT count(*) AS calls, COALESCE(sum(CASE WHEN currency IS ?2 THEN units END), 0) AS units
           FROM allowance_v1 WHERE budget = ?1 AND is_given_back = 0`,
        budget,
        currency,
      )[0] ?? { calls: 0, units: 0 };
      if (used.calls + 1 > mostCalls || used.units + units > mostUnits) return false;
      this.#rows.insert({ id, budget, currency: currency ?? undefined, units, isGivenBack: false });
      return true;
    });
  }

  /** Gives back the claim of a call that had no effect. A claim that comes later does not count. */
  giveBack(id: string): void {
    this.#rows.make();
    const isKnown = this.#rows.first("WHERE id = ?", id) !== undefined;
    if (isKnown) this.#database.run("UPDATE allowance_v1 SET is_given_back = 1 WHERE id = ?", id);
    else this.#rows.insert({ id, budget: "", units: 0, isGivenBack: true });
  }
}
