import type { Database } from "../../src/core/store/database.ts";
import { defineTable, integer, lazyTable, text } from "../../src/core/store/table.ts";
import type { Table } from "../../src/core/store/table.ts";

/** The account of a bot on a platform that limits chats. */
export const ONLY_ACCOUNT = "";

const ENDS = defineTable(
  "account_penalty_v1",
  { messengerId: text("PRIMARY KEY"), account: text("PRIMARY KEY"), until: integer("NOT NULL") },
  "WITHOUT ROWID",
);

/** The penalties of accounts: on platforms that limit an account and not its chats, and of a whole bot. Durable. */
export class AccountPenalties {
  readonly #ends: Table<typeof ENDS>;
  /** Ends in epoch milliseconds, as far as they were read. */
  readonly #known = new Map<string, number>();

  constructor(database: Database) {
    this.#ends = lazyTable(database, ENDS);
  }

  /** Returns the end of the account's penalty, in epoch milliseconds. 0 if there was none. */
  until(messengerId: string, account: string): number {
    const key = JSON.stringify([messengerId, account]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const row = this.#ends.first("WHERE messenger_id = ? AND account = ?", messengerId, account);
    const until = row?.until ?? 0;
    this.#known.set(key, until);
    return until;
  }

  add(messengerId: string, account: string, until: number): void {
    if (until <= this.until(messengerId, account)) return;
    this.#ends.put({ messengerId, account, until });
    this.#known.set(JSON.stringify([messengerId, account]), until);
  }
}
