import type { Database, SqlValue } from "../../core/store/database.ts";
import { defineTable, integer, lazyTable, real, text } from "../../core/store/table.ts";
import type { TokenUsageEntry, UsageFilter, UsedTokens } from "../../core/turn/used-tokens.ts";

/** One row for each turn, so that a report that comes again counts once. */
const USED = defineTable(
  "token_usage_v1",
  {
    turnId: text("PRIMARY KEY"),
    messengerId: text("NOT NULL"),
    chatId: text("NOT NULL"),
    userId: text("NOT NULL"),
    at: integer("NOT NULL"),
    inputTokens: integer("NOT NULL"),
    outputTokens: integer("NOT NULL"),
    cost: real("NOT NULL"),
  },
  "STRICT, WITHOUT ROWID",
  { token_usage_v1_person: "(messenger_id, user_id, at)", token_usage_v1_at: "(at)" },
);

export interface TokenUsageStore {
  /** Stores the tokens of a turn, and deletes turns that ended before `keepFrom`. */
  add(used: UsedTokens, keepFrom: number): void;
  /** Returns the tokens of a person since a time, input and output together. */
  tokensSince(messengerId: string, userId: string, since: number): number;
  sum(filter: UsageFilter): TokenUsageEntry[];
}

/** Creates the store. The tables are made with the first turn that is counted. */
export function createTokenUsageStore(database: Database): TokenUsageStore {
  const turns = lazyTable(database, USED);
  return {
    add(used, keepFrom) {
      turns.insertNew(used);
      turns.delete("WHERE at < ?", keepFrom);
    },
    tokensSince: (messengerId, userId, since) =>
      turns.query<{ tokens: number }>(
        `SELECT COALESCE(SUM(input_tokens + output_tokens), 0) AS tokens FROM token_usage_v1
           WHERE messenger_id = ? AND user_id = ? AND at > ?`,
        messengerId,
        userId,
        since,
      )[0]?.tokens ?? 0,
    sum({ by = ["day", "chat", "person"], chatId, messengerId, since, until, userId }) {
      const groups = [
        "messenger_id",
        ...(by.includes("day") ? ["date(at / 1000, 'unixepoch')"] : []),
        ...(by.includes("chat") ? ["chat_id"] : []),
        ...(by.includes("person") ? ["user_id"] : []),
      ];
      const column = (group: string, name: string): string =>
        groups.includes(group) ? `${group} AS ${name}` : `NULL AS ${name}`;
      const conditions: readonly (readonly [sql: string, value: SqlValue | undefined])[] = [
        ["at >= ?", since],
        ["at < ?", until],
        ["messenger_id = ?", messengerId],
        ["chat_id = ?", chatId],
        ["user_id = ?", userId],
      ];
      const used = conditions.filter(([, value]) => value !== undefined);
      const where = used.length === 0 ? "" : `WHERE ${used.map(([sql]) => sql).join(" AND ")}`;
      const rows = turns.query<{
        day: string | null;
        messenger: string;
        chat: string | null;
        person: string | null;
        turns: number;
        input: number;
        output: number;
        cost: number;
      }>(
        `SELECT ${column("date(at / 1000, 'unixepoch')", "day")}, messenger_id AS messenger,
           ${column("chat_id", "chat")}, ${column("user_id", "person")}, COUNT(*) AS turns,
           SUM(input_tokens) AS input, SUM(output_tokens) AS output, SUM(cost) AS cost
         FROM token_usage_v1 ${where} GROUP BY ${groups.join(", ")} ORDER BY ${groups.join(", ")}`,
        ...used.map(([, value]) => value ?? null),
      );
      return rows.map((row) => ({
        ...(row.day !== null && { day: row.day }),
        messengerId: row.messenger,
        ...(row.chat !== null && { chatId: row.chat }),
        ...(row.person !== null && { userId: row.person }),
        turns: row.turns,
        inputTokens: row.input,
        outputTokens: row.output,
        cost: row.cost,
      }));
    },
  };
}
