import type { Database } from "../../src/core/store/database.ts";
import type { Clock } from "../../src/core/base/deps.ts";
import { LazyTables } from "../../src/core/store/lazy-tables.ts";
import type { Placeholder } from "../../src/core/message/placeholder.ts";
import { defineTable, integer, Table, text } from "../../src/core/store/table.ts";

/** Placeholders that no message has replaced yet. */
export interface PlaceholderStore {
  keep(messengerId: string, placeholder: Placeholder): void;
  /** Returns the placeholder of the message that a reply answers, if it has not expired. */
  find(messengerId: string, messageId: string | undefined): Placeholder | undefined;
  forget(messengerId: string, messageId: string): void;
}

const PLACEHOLDERS = defineTable(
  "placeholder_v1",
  {
    messengerId: text("PRIMARY KEY"),
    messageId: text("PRIMARY KEY"),
    token: text("NOT NULL"),
    shownAt: integer("NOT NULL"),
    expiresAt: integer("NOT NULL"),
  },
  "WITHOUT ROWID",
);

export function createPlaceholderStore(database: Database, clock: Clock): PlaceholderStore {
  const tables = new LazyTables(database, PLACEHOLDERS);
  const placeholders = new Table(tables, PLACEHOLDERS);
  return {
    keep: (messengerId, placeholder) => placeholders.put({ messengerId, ...placeholder }),
    find(messengerId, messageId) {
      if (messageId === undefined || !tables.ready()) return undefined;
      tables.run("DELETE FROM placeholder_v1 WHERE expires_at <= ?", clock.now());
      return placeholders.first("WHERE messenger_id = ? AND message_id = ?", messengerId, messageId);
    },
    forget: (messengerId, messageId) =>
      tables.run(
        "DELETE FROM placeholder_v1 WHERE messenger_id = ? AND message_id = ?",
        messengerId,
        messageId,
      ),
  };
}
