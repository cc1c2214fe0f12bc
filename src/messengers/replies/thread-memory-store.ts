import type { Database } from "../../core/database.ts";
import { firstRow } from "../../core/database.ts";

/** Small facts of a conversation, by key. */
const SCHEMA =
  "CREATE TABLE IF NOT EXISTS thread_v1 (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID";

export interface ThreadMemoryStore {
  read(key: string): string | undefined;
  write(key: string, value: string): void;
  remove(key: string): void;
  /** Returns the facts whose keys begin with this word and a colon. */
  list(word: string): readonly { readonly key: string; readonly value: string }[];
}

export function createThreadMemoryStore(database: Database): ThreadMemoryStore {
  database.run(SCHEMA);
  return {
    read: (key) =>
      firstRow(database.all<{ value: string }>("SELECT value FROM thread_v1 WHERE key = ?", key))?.value,
    write(key, value) {
      database.run("INSERT OR REPLACE INTO thread_v1 (key, value) VALUES (?, ?)", key, value);
    },
    remove(key) {
      database.run("DELETE FROM thread_v1 WHERE key = ?", key);
    },
    list: (word) =>
      database.all<{ key: string; value: string }>(
        "SELECT key, value FROM thread_v1 WHERE key GLOB ?",
        `${word}:*`,
      ),
  };
}
