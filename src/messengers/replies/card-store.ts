import { z } from "zod";
import type { Json } from "../../core/message/content.ts";
import type { Database } from "../../core/store/database.ts";
import { added, defineTable, flag, integer, json, lazyTable, text } from "../../core/store/table.ts";
import type { RowOf } from "../../core/store/table.ts";

/** A `callback` button as it was posted. */
export interface StoredButton {
  /** The button's part of its token. */
  readonly button: string;
  readonly label: string;
  readonly payload: Json;
}

const buttonsSchema: z.ZodType<readonly StoredButton[]> = z.array(
  z.object({ button: z.string(), label: z.string(), payload: z.json() }),
);

/** Cards that the conversation has posted. Made with the first of them. */
const CARDS = defineTable(
  "card_v1",
  {
    /** Id of the card's reply. */
    id: text("PRIMARY KEY"),
    cardKey: text("NOT NULL UNIQUE"),
    messengerId: text("NOT NULL"),
    /** The chat in which it was posted. */
    chatId: text("NOT NULL"),
    /** In visible order: the first one is option 1. */
    buttons: json(buttonsSchema)("NOT NULL"),
    isRemoved: flag("NOT NULL"),
    createdAt: integer("NOT NULL"),
    /**
     * The feature that has posted it. `""`: the bot's own code. Undefined for cards of earlier releases, which knew no
     * owners.
     */
    owner: added(text()),
  },
  "STRICT",
);
/** Presses whose handler has begun. */
const PRESSES = defineTable("press_v1", {
  eventKey: text("PRIMARY KEY"),
  begunAt: integer("NOT NULL"),
  /** Whether it has certainly done its work. */
  isHandled: added(flag("NOT NULL DEFAULT 0")),
});

export interface StoredCard extends Omit<RowOf<typeof CARDS>, "cardKey" | "createdAt"> {
  readonly key: string;
}

export interface CardStore {
  read(id: string): StoredCard | undefined;
  byKey(key: string): StoredCard | undefined;
  insert(card: StoredCard, createdAt: number): void;
  setButtons(id: string, buttons: readonly StoredButton[]): void;
  setRemoved(id: string): void;
  beginPress(eventKey: string, begunAt: number, isHandled: boolean): void;
  /** Returns a press whose handler has begun but not ended, perhaps in a process that died. */
  begunPress(eventKey: string): { readonly isHandled: boolean } | undefined;
  /** Returns the keys of all presses that have begun and not ended. */
  begunPresses(): string[];
  endPress(eventKey: string): void;
}

export function createCardStore(database: Database): CardStore {
  const cards = lazyTable(database, CARDS);
  const presses = lazyTable(database, PRESSES);
  return {
    read: (id) => cards.all("WHERE id = ?", id).map(cardOf)[0],
    byKey: (key) => cards.all("WHERE card_key = ?", key).map(cardOf)[0],
    insert: ({ key, ...card }, createdAt) => cards.insert({ ...card, cardKey: key, createdAt }),
    setButtons: (id, buttons) => cards.update({ buttons }, "WHERE id = ?", id),
    setRemoved: (id) => cards.update({ buttons: [], isRemoved: true }, "WHERE id = ?", id),
    beginPress: (eventKey, begunAt, isHandled) => presses.insert({ eventKey, begunAt, isHandled }),
    begunPress: (eventKey) => presses.first("WHERE event_key = ?", eventKey),
    begunPresses: () => presses.all("").map(({ eventKey }) => eventKey),
    endPress: (eventKey) => presses.delete("WHERE event_key = ?", eventKey),
  };
}

function cardOf({ cardKey: key, ...card }: RowOf<typeof CARDS>): StoredCard {
  return { ...card, key };
}
