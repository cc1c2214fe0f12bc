import { z } from "zod";
import type { ChatKey } from "../../src/core/chat/gate.ts";
import type { Database, SqlValue } from "../../src/core/store/database.ts";
import { LazyTables } from "../../src/core/store/lazy-tables.ts";
import { added, defineTable, flag, integer, json, Table, text } from "../../src/core/store/table.ts";
import type { NewRowOf } from "../../src/core/store/table.ts";

/** Cards of the gate's chats, one row each. Made with the first card. */
const CARDS = defineTable(
  "gate_card_v1",
  {
    cardKey: text("PRIMARY KEY"),
    messengerId: text("NOT NULL"),
    chatId: text("NOT NULL"),
    threadId: text("NOT NULL"),
    /** The name of the object that posted the card. */
    speaker: text("NOT NULL"),
    options: integer("NOT NULL"),
    messageIds: json<readonly string[]>(z.array(z.string()))("NOT NULL"),
    sentAt: integer(),
    revision: integer("NOT NULL"),
    notedAt: integer("NOT NULL"),
    asksForWord: added(flag("NOT NULL DEFAULT 0")),
    asksForQuote: added(flag("NOT NULL DEFAULT 0")),
    asksForMessage: added(flag("NOT NULL DEFAULT 0")),
  },
  "WITHOUT ROWID",
);

/** More cards of a thread that ask at once are not looked at. */
const MOST_ASKING = 20;

export interface IndexedCard extends Omit<NewRowOf<typeof CARDS>, "cardKey" | "notedAt"> {
  readonly key: string;
  /** Time at which it was first reported, in epoch milliseconds. Undefined while it is not stored. */
  readonly notedAt?: number;
}

export class CardIndexStore {
  readonly #tables: LazyTables;
  readonly #cards: Table<typeof CARDS>;

  constructor(database: Database) {
    this.#tables = new LazyTables(database, CARDS);
    this.#cards = new Table(this.#tables, CARDS);
  }

  read(key: string): IndexedCard | undefined {
    return this.#read("WHERE card_key = ?", key)[0];
  }

  /** Returns the card of a chat that has this visible message. */
  withMessage(chat: ChatKey, messageId: string): IndexedCard | undefined {
    return this.#newest(chat, "EXISTS (SELECT 1 FROM json_each(message_ids) WHERE value = ?)", messageId);
  }

  /** Returns the newest card of a thread, or of the whole chat, that listens to numbers. */
  numbered(chat: ChatKey, threadId: string | undefined): IndexedCard | undefined {
    return threadId === undefined
      ? this.#newest(chat, "options > 0")
      : this.#newest(chat, "options > 0 AND thread_id = ?", threadId);
  }

  /** Returns the cards of a thread that ask for a word, the newest first. Cards that are not sent yet are left out. */
  asking({ chatId, messengerId }: ChatKey, threadId: string): IndexedCard[] {
    return this.#read(
      `WHERE messenger_id = ? AND chat_id = ? AND thread_id = ? AND asks_for_word = 1 AND sent_at IS NOT NULL
       ORDER BY sent_at DESC, noted_at DESC LIMIT ?`,
      messengerId,
      chatId,
      threadId,
      MOST_ASKING,
    );
  }

  /** Returns the cards that ask for any message, the newest first. Those whose post has no answer yet come first. */
  listening(): IndexedCard[] {
    return this.#read("WHERE asks_for_message = 1 ORDER BY COALESCE(sent_at, 9e15) DESC, noted_at DESC");
  }

  /** Reads the table once. A chat may have thousands of cards, so the database chooses the one. */
  #newest(
    { messengerId, chatId }: ChatKey,
    condition: string,
    ...values: readonly string[]
  ): IndexedCard | undefined {
    return this.#read(
      `WHERE messenger_id = ? AND chat_id = ? AND ${condition}
       ORDER BY COALESCE(sent_at, 9e15) DESC, noted_at DESC LIMIT 1`,
      messengerId,
      chatId,
      ...values,
    )[0];
  }

  /** Stores a card. It counts as noted when it was noted first. */
  write({ key, ...card }: IndexedCard, now: number): void {
    const known = this.#cards.first("WHERE card_key = ?", key);
    const { asksForMessage = false, asksForQuote = false, asksForWord = false, sentAt } = card;
    const asks = { asksForMessage, asksForQuote, asksForWord };
    this.#cards.put({ ...card, ...asks, cardKey: key, sentAt, notedAt: known?.notedAt ?? now });
  }

  #read(rest: string, ...bindings: readonly SqlValue[]): IndexedCard[] {
    return this.#cards.all(rest, ...bindings).map(({ cardKey, ...card }) => ({ ...card, key: cardKey }));
  }
}
