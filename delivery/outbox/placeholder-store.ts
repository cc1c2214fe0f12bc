import type { Database } from "../../src/core/store/database.ts";
import type { Clock } from "../../src/core/base/deps.ts";
import { LazyTables } from "../../src/core/store/lazy-tables.ts";
import type { Placeholder } from "../../src/core/message/placeholder.ts";
import { added, defineTable, flag, integer, Table, text } from "../../src/core/store/table.ts";
import type { RowOf } from "../../src/core/store/table.ts";

/** Placeholders that no message has replaced yet. Those that have expired are forgotten. */
export interface PlaceholderStore {
  keep(messengerId: string, placeholder: Placeholder, eventSeq: number): void;
  /** Returns the placeholder of the message that a reply answers, if it is not given up. */
  find(messengerId: string, messageId: string | undefined): Placeholder | undefined;
  all(): readonly KeptPlaceholder[];
  /** Notes that no reply may replace it any more. */
  giveUp(messengerId: string, messageId: string): void;
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
    eventSeq: added(integer()),
    isGivenUp: added(flag()),
  },
  "WITHOUT ROWID",
);

export type KeptPlaceholder = RowOf<typeof PLACEHOLDERS>;

const ONE = "WHERE messenger_id = ? AND message_id = ?";

export function createPlaceholderStore(database: Database, clock: Clock): PlaceholderStore {
  const tables = new LazyTables(database, PLACEHOLDERS);
  const placeholders = new Table(tables, PLACEHOLDERS);
  const isEmpty = (): boolean => {
    if (!tables.ready()) return true;
    placeholders.delete("WHERE expires_at <= ?", clock.now());
    return false;
  };
  return {
    keep: (messengerId, placeholder, eventSeq) => placeholders.put({ messengerId, ...placeholder, eventSeq }),
    find: (messengerId, messageId) =>
      messageId === undefined || isEmpty()
        ? undefined
        : placeholders.first(`${ONE} AND is_given_up IS NULL`, messengerId, messageId),
    all: () => (isEmpty() ? [] : placeholders.all("")),
    giveUp: (...key) => placeholders.update({ isGivenUp: true }, ONE, ...key),
    forget: (...key) => placeholders.delete(ONE, ...key),
  };
}
