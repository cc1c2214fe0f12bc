import type { Database } from "../../src/core/database.ts";
import { LazyTables } from "../../src/core/lazy-tables.ts";
import type { SentFile } from "../../src/core/sent-file.ts";

/** The platform's ids of files that were sent, so that the same file is not uploaded twice to the same bot. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS sent_file_v1 (
  messenger_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  hash TEXT NOT NULL,
  file_id TEXT NOT NULL,
  sent_at INTEGER NOT NULL,
  PRIMARY KEY (messenger_id, kind, hash)
) STRICT, WITHOUT ROWID`;

/**
 * Time to keep an id, in milliseconds. Platforms do not promise how long an id is valid. A refused id is forgotten at
 * once.
 */
const KEEP_MS = 90 * 24 * 60 * 60 * 1000;

export class SentFileStore {
  readonly #database: Database;
  readonly #tables: LazyTables;

  constructor(database: Database) {
    this.#database = database;
    this.#tables = new LazyTables(database, { table: "sent_file_v1", schema: [SCHEMA] });
  }

  find({ hash, kind, messengerId }: SentFile): string | undefined {
    return this.#tables.all<{ file_id: string }>(
      "SELECT file_id FROM sent_file_v1 WHERE messenger_id = ? AND kind = ? AND hash = ?",
      messengerId,
      kind,
      hash,
    )[0]?.file_id;
  }

  remember({ hash, kind, messengerId }: SentFile, fileId: string, now: number): void {
    this.#tables.make();
    this.#database.run("DELETE FROM sent_file_v1 WHERE sent_at < ?", now - KEEP_MS);
    this.#database.run(
      "INSERT OR REPLACE INTO sent_file_v1 (messenger_id, kind, hash, file_id, sent_at) VALUES (?, ?, ?, ?, ?)",
      messengerId,
      kind,
      hash,
      fileId,
      now,
    );
  }

  /** Forgets an id, unless a newer one is stored. */
  forget({ hash, kind, messengerId }: SentFile, fileId: string): void {
    this.#tables.run(
      "DELETE FROM sent_file_v1 WHERE messenger_id = ? AND kind = ? AND hash = ? AND file_id = ?",
      messengerId,
      kind,
      hash,
      fileId,
    );
  }
}
