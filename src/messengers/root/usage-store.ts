import type { Database } from "../../core/store/database.ts";
import { defineTable, integer, lazyTable, text } from "../../core/store/table.ts";
import type { NewRowOf, RowOf } from "../../core/store/table.ts";

/** Each person's questions to this bot, one row for each question that counts against a limit. */
const QUESTIONS = defineTable(
  "usage_v2",
  {
    id: integer("PRIMARY KEY AUTOINCREMENT"),
    messengerId: text("NOT NULL"),
    userId: text("NOT NULL"),
    threadId: text("NOT NULL"),
    /** Epoch milliseconds. */
    beganAt: integer("NOT NULL"),
    lastAt: integer("NOT NULL"),
    album: text(),
  },
  "STRICT",
);

/** A question: its first message, and the messages that belong to it. */
export type Question = RowOf<typeof QUESTIONS>;

export interface UsageStore {
  /** Returns the questions of a person after `after`, oldest first. */
  since(messengerId: string, userId: string, after: number): Question[];
  begin(question: NewRowOf<typeof QUESTIONS>): void;
  extend(id: number, at: number): void;
  /** Deletes all questions that began at `until` or before. */
  forget(until: number): void;
}

/** Creates the store. The table is made with the first question, so bots without limits have none. */
export function createUsageStore(database: Database): UsageStore {
  const questions = lazyTable(database, QUESTIONS);
  return {
    since: (messengerId, userId, after) =>
      questions.all(
        "WHERE messenger_id = ? AND user_id = ? AND began_at > ? ORDER BY id",
        messengerId,
        userId,
        after,
      ),
    begin: (question) => questions.insert(question),
    extend: (id, at) => questions.update({ lastAt: at }, "WHERE id = ?", id),
    forget: (until) => questions.delete("WHERE began_at <= ?", until),
  };
}
