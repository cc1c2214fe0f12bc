import type { Database } from "../src/core/database.ts";

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS budget_v1 (
  messenger_id TEXT NOT NULL,
  chat_id TEXT NOT NULL,
  until INTEGER NOT NULL,
  strikes INTEGER NOT NULL,
  widened_until INTEGER NOT NULL,
  PRIMARY KEY (messenger_id, chat_id)
) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS speaker_v1 (
  messenger_id TEXT NOT NULL,
  chat_id TEXT NOT NULL,
  speaker TEXT NOT NULL,
  PRIMARY KEY (messenger_id, chat_id, speaker)
) WITHOUT ROWID`,
];

/** In a chat of more nobody is asked: it is simply shared. */
export const MOST_SPEAKERS = 20;

/** What a chat's refusals leave behind. */
export interface Penalty {
  /** Nothing is sent before this time, in epoch milliseconds. */
  readonly until: number;
  /** Penalties that followed each other, without those that were forgiven before the last one. */
  readonly strikes: number;
  /** Until then the chat's calls are spaced wider, less and less. */
  readonly widenedUntil: number;
}

export class BudgetStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    for (const statement of SCHEMA) database.run(statement);
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

  /** Who has posted into the chat, up to `MOST_SPEAKERS`. */
  speakers(messengerId: string, chatId: string): string[] {
    return this.#database
      .all<{ speaker: string }>(
        "SELECT speaker FROM speaker_v1 WHERE messenger_id = ? AND chat_id = ? LIMIT ?",
        messengerId,
        chatId,
        MOST_SPEAKERS,
      )
      .map(({ speaker }) => speaker);
  }

  addSpeaker(messengerId: string, chatId: string, speaker: string): void {
    this.#database.run("INSERT OR IGNORE INTO speaker_v1 VALUES (?, ?, ?)", messengerId, chatId, speaker);
  }

  deleteExpired(now: number): void {
    this.#database.run("DELETE FROM budget_v1 WHERE widened_until < ?", now);
  }
}
