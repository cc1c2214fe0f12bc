import { z } from "zod";
import type { Json } from "../../core/content.ts";
import type { Database } from "../../core/database.ts";
import { firstRow } from "../../core/database.ts";
import { LazyTables } from "../../core/lazy-tables.ts";

/** Cards that the conversation has posted, and presses whose handler has begun. Made with the first of them. */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS card_v1 (
    id TEXT PRIMARY KEY, card_key TEXT NOT NULL UNIQUE, messenger_id TEXT NOT NULL, chat_id TEXT NOT NULL,
    buttons TEXT NOT NULL, is_removed INTEGER NOT NULL, created_at INTEGER NOT NULL, owner TEXT
  ) STRICT`,
  "CREATE TABLE IF NOT EXISTS press_v1 (event_key TEXT PRIMARY KEY, begun_at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
];

/** Columns of `card_v1` that earlier releases do not have. */
const ADDED = { owner: "TEXT" };

/** A `callback` button as it was posted. */
export interface StoredButton {
  /** The button's part of its token. */
  readonly button: string;
  readonly label: string;
  readonly payload: Json;
}

export interface StoredCard {
  /** Id of the card's reply. */
  readonly id: string;
  readonly key: string;
  readonly messengerId: string;
  /** The chat in which it was posted. */
  readonly chatId: string;
  /** In visible order: the first one is option 1. */
  readonly buttons: readonly StoredButton[];
  readonly isRemoved: boolean;
  /**
   * The feature that has posted it. `""`: the bot's own code. Undefined for cards of earlier releases, which knew no
   * owners.
   */
  readonly owner: string | undefined;
}

const storedButtons: z.ZodType<readonly StoredButton[]> = z.array(
  z.object({ button: z.string(), label: z.string(), payload: z.json() }),
);

type Stored = {
  id: string;
  card_key: string;
  messenger_id: string;
  chat_id: string;
  buttons: string;
  is_removed: number;
  owner: string | null;
};

export interface CardStore {
  read(id: string): StoredCard | undefined;
  byKey(key: string): StoredCard | undefined;
  insert(card: StoredCard, createdAt: number): void;
  setButtons(id: string, buttons: readonly StoredButton[]): void;
  setRemoved(id: string): void;
  beginPress(eventKey: string, begunAt: number): void;
  /** Whether the handler of this press has begun but not ended, perhaps in a process that died. */
  hasBegunPress(eventKey: string): boolean;
  endPress(eventKey: string): void;
}

export function createCardStore(database: Database): CardStore {
  const tables = new LazyTables(database, { table: "press_v1", schema: SCHEMA });
  const cards = new LazyTables(database, { table: "card_v1", schema: SCHEMA, added: ADDED });
  const read = (column: "id" | "card_key", value: string): StoredCard | undefined => {
    const row = firstRow(cards.all<Stored>(`SELECT * FROM card_v1 WHERE ${column} = ?`, value));
    return row === undefined ? undefined : cardOf(row);
  };
  return {
    read: (id) => read("id", id),
    byKey: (key) => read("card_key", key),
    insert({ buttons, chatId, id, isRemoved, key, messengerId, owner }, createdAt) {
      cards.make();
      database.run(
        "INSERT INTO card_v1 (id, card_key, messenger_id, chat_id, buttons, is_removed, created_at, owner) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        id,
        key,
        messengerId,
        chatId,
        JSON.stringify(buttons),
        isRemoved ? 1 : 0,
        createdAt,
        owner ?? null,
      );
    },
    setButtons(id, buttons) {
      tables.run("UPDATE card_v1 SET buttons = ? WHERE id = ?", JSON.stringify(buttons), id);
    },
    setRemoved(id) {
      tables.run("UPDATE card_v1 SET buttons = '[]', is_removed = 1 WHERE id = ?", id);
    },
    beginPress(eventKey, begunAt) {
      tables.make();
      database.run("INSERT INTO press_v1 VALUES (?, ?)", eventKey, begunAt);
    },
    hasBegunPress: (eventKey) =>
      tables.all("SELECT 1 AS one FROM press_v1 WHERE event_key = ?", eventKey).length > 0,
    endPress(eventKey) {
      tables.run("DELETE FROM press_v1 WHERE event_key = ?", eventKey);
    },
  };
}

function cardOf(row: Stored): StoredCard {
  return {
    id: row.id,
    key: row.card_key,
    messengerId: row.messenger_id,
    chatId: row.chat_id,
    buttons: storedButtons.parse(JSON.parse(row.buttons)),
    isRemoved: row.is_removed === 1,
    owner: row.owner ?? undefined,
  };
}
