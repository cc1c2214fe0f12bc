import type { Database } from "../src/core/database.ts";

const SCHEMA = `CREATE TABLE IF NOT EXISTS budget_v1 (
  messenger_id TEXT NOT NULL,
  chat_id TEXT NOT NULL,
  until INTEGER NOT NULL,
  strikes INTEGER NOT NULL,
  widened_until INTEGER NOT NULL,
  PRIMARY KEY (messenger_id, chat_id)
) WITHOUT ROWID`;

/** What a chat's refusals leave behind. */
export interface Penalty {
  /** Nothing is sent before this time, in epoch milliseconds. */
  readonly until: number;
  /** Penalties that followed each other. */
  readonly strikes: number;
  /** Until then the chat's calls are spaced wider. */
  readonly widenedUntil: number;
}

export class BudgetStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.run(SCHEMA);
  }

  read(messengerId: string, chatId: string): Penalty | undefined {
    return this.#database
      .all<{ until: number; strikes: number; widened_until: number }>(
        "SELECT until, strikes, widened_until FROM budget_v1 WHERE messenger_id = ? AND chat_id = ?",
        messengerId,
        chatId,
      )
      .map(({ until, strikes, widened_until: widenedUntil }) => ({ until, strikes, widenedUntil }))[0];
  }

  write(messengerId: string, chatId: string, penalty: Penalty): void {
    this.#database.run(
      "INSERT OR REPLACE INTO budget_v1 VALUES (?, ?, ?, ?, ?)",
      messengerId,
      chatId,
      penalty.until,
      penalty.strikes,
      penalty.widenedUntil,
    );
  }

  deleteExpired(now: number): void {
    this.#database.run("DELETE FROM budget_v1 WHERE widened_until < ?", now);
  }
}
