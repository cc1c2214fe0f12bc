import type { Database } from "../../src/core/store/database.ts";
import { LazyTables } from "../../src/core/store/lazy-tables.ts";
import { defineTable, integer, Table, text } from "../../src/core/store/table.ts";
import type { SentFile } from "./sent-file.ts";

/** The platform's ids of files that were sent, so that the same file is not uploaded twice to the same bot. */
const SENT = defineTable("sent_file_v1", {
  messengerId: text("PRIMARY KEY"),
  kind: text("PRIMARY KEY"),
  hash: text("PRIMARY KEY"),
  fileId: text("NOT NULL"),
  sentAt: integer("NOT NULL"),
});

/**
 * Time to keep an id, in milliseconds. Platforms do not promise how long an id is valid. A refused id is forgotten at
 * once.
 */
const KEEP_MS = 90 * 24 * 60 * 60 * 1000;

export class SentFileStore {
  readonly #tables: LazyTables;
  readonly #sent: Table<typeof SENT>;

  constructor(database: Database) {
    this.#tables = new LazyTables(database, SENT);
    this.#sent = new Table(this.#tables, SENT);
  }

  find({ hash, kind, messengerId }: SentFile): string | undefined {
    return this.#sent.first("WHERE messenger_id = ? AND kind = ? AND hash = ?", messengerId, kind, hash)
      ?.fileId;
  }

  remember({ hash, kind, messengerId }: SentFile, fileId: string, now: number): void {
    this.#tables.run("DELETE FROM sent_file_v1 WHERE sent_at < ?", now - KEEP_MS);
    this.#sent.put({ messengerId, kind, hash, fileId, sentAt: now });
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
