import type { Database } from "../../core/store/database.ts";
import { defineTable, openTable, text } from "../../core/store/table.ts";
import type { RowOf } from "../../core/store/table.ts";

/** Small facts of a conversation, by key. */
const FACTS = defineTable("thread_v1", { key: text("PRIMARY KEY"), value: text("NOT NULL") });

export interface ThreadMemoryStore {
  read(key: string): string | undefined;
  write(key: string, value: string): void;
  remove(key: string): void;
  /** Returns the facts whose keys begin with this word and a colon. */
  list(word: string): readonly RowOf<typeof FACTS>[];
}

export function createThreadMemoryStore(database: Database): ThreadMemoryStore {
  const facts = openTable(database, FACTS);
  return {
    read: (key) => facts.first("WHERE key = ?", key)?.value,
    write: (key, value) => facts.put({ key, value }),
    remove: (key) => facts.delete("WHERE key = ?", key),
    list: (word) => facts.all("WHERE key GLOB ?", `${word}:*`),
  };
}
