import type { Database } from "../../core/database.ts";
import { LazyTables } from "../../core/lazy-tables.ts";

/** Each person's questions to this bot, one row for each question that counts against a limit. */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS usage_v2 (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  messenger_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  album TEXT
) STRICT`;

/** A question: its first message, and the messages that belong to it. */
export interface Question {
  readonly id: number;
  readonly threadId: string;
  /** Epoch milliseconds. */
  readonly beganAt: number;
  readonly lastAt: number;
  readonly albumId: string | undefined;
}

export interface UsageStore {
  /** Returns the questions of a person after `after`, oldest first. */
  since(messengerId: string, userId: string, after: number): Question[];
  begin(question: {
    readonly messengerId: string;
    readonly userId: string;
    readonly threadId: string;
    readonly at: number;
    readonly albumId: string | undefined;
  }): void;
  extend(id: number, at: number): void;
  /** Deletes all questions that began at `until` or before. */
  forget(until: number): void;
}

/** Creates the store. The table is made with the first question, so bots without limits have none. */
export function createUsageStore(database: Database): UsageStore {
  const tables = new LazyTables(database, { table: "usage_v2", schema: [SCHEMA] });
  return {
    since: (messengerId, userId, after) =>
      tables
        .all<{ id: number; thread_id: string; began_at: number; last_at: number; album: string | null }>(
          `SELECT id, thread_id, began_at, last_at, album FROM usage_v2
           WHERE messenger_id = ? AND user_id = ? AND began_at > ? ORDER BY id`,
          messengerId,
          userId,
          after,
        )
        .map((row) => ({
          id: row.id,
          threadId: row.thread_id,
          beganAt: row.began_at,
          lastAt: row.last_at,
          albumId: row.album ?? undefined,
        })),
    begin({ albumId, at, messengerId, threadId, userId }) {
      tables.make();
      database.run(
        `INSERT INTO usage_v2 (messenger_id, user_id, thread_id, began_at, last_at, album)
         VALUES (?, ?, ?, ?, ?, ?)`,
        messengerId,
        userId,
        threadId,
        at,
        at,
        albumId ?? null,
      );
    },
    extend(id, at) {
      tables.run("UPDATE usage_v2 SET last_at = ? WHERE id = ?", at, id);
    },
    forget(until) {
      tables.run("DELETE FROM usage_v2 WHERE began_at <= ?", until);
    },
  };
}
