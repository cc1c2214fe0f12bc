import { z } from "zod";
import type { CardNews, ChatKey } from "../../src/core/gate.ts";
import type { Database } from "../../src/core/database.ts";
import { LazyTables } from "../../src/core/lazy-tables.ts";

/** Cards of the gate's chats, one row each. Made with the first card. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS gate_card_v1 (
  card_key TEXT PRIMARY KEY,
  messenger_id TEXT NOT NULL,
  chat_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  speaker TEXT NOT NULL,
  options INTEGER NOT NULL,
  message_ids TEXT NOT NULL,
  sent_at INTEGER,
  revision INTEGER NOT NULL,
  noted_at INTEGER NOT NULL,
  asks_for_word INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID`;

const ADDED = { asks_for_word: "INTEGER NOT NULL DEFAULT 0" };

/** More cards of a thread that ask at once are not looked at. */
const MOST_ASKING = 20;

const idsSchema = z.array(z.string());

export interface IndexedCard extends CardNews, ChatKey {
  readonly threadId: string;
  /** The name of the object that posted the card. */
  readonly speaker: string;
}

type Stored = {
  card_key: string;
  messenger_id: string;
  chat_id: string;
  thread_id: string;
  speaker: string;
  options: number;
  message_ids: string;
  sent_at: number | null;
  revision: number;
  asks_for_word: number;
};

export class CardIndexStore {
  readonly #database: Database;
  readonly #tables: LazyTables;

  constructor(database: Database) {
    this.#database = database;
    this.#tables = new LazyTables(database, { table: "gate_card_v1", schema: [SCHEMA], added: ADDED });
  }

  read(key: string): IndexedCard | undefined {
    return this.#tables.all<Stored>("SELECT * FROM gate_card_v1 WHERE card_key = ?", key).map(cardOf)[0];
  }

  /** Returns the card of a chat that has this visible message. */
  withMessage(chat: ChatKey, messageId: string): IndexedCard | undefined {
    return this.#newest(chat, "EXISTS (SELECT 1 FROM json_each(message_ids) WHERE value = ?)", messageId);
  }

  /** Returns the newest card of a thread that listens to numbers. */
  numbered(chat: ChatKey, threadId: string): IndexedCard | undefined {
    return this.#newest(chat, "options > 0 AND thread_id = ?", threadId);
  }

  /** Returns the cards of a thread that ask for a word, the newest first. Cards that are not sent yet are left out. */
  asking({ chatId, messengerId }: ChatKey, threadId: string): IndexedCard[] {
    return this.#tables
      .all<Stored>(
        `SELECT * FROM gate_card_v1 WHERE messenger_id = ? AND chat_id = ? AND thread_id = ?
           AND asks_for_word = 1 AND sent_at IS NOT NULL
         ORDER BY sent_at DESC, noted_at DESC LIMIT ?`,
        messengerId,
        chatId,
        threadId,
        MOST_ASKING,
      )
      .map(cardOf);
  }

  /** Reads the table once. A chat may have thousands of cards, so the database chooses the one. */
  #newest({ messengerId, chatId }: ChatKey, condition: string, value: string): IndexedCard | undefined {
    return this.#tables
      .all<Stored>(
        `SELECT * FROM gate_card_v1 WHERE messenger_id = ? AND chat_id = ? AND ${condition}
         ORDER BY COALESCE(sent_at, 9e15) DESC, noted_at DESC LIMIT 1`,
        messengerId,
        chatId,
        value,
      )
      .map(cardOf)[0];
  }

  write(card: IndexedCard, notedAt: number): void {
    this.#tables.make();
    this.#database.run(
      `INSERT INTO gate_card_v1 (card_key, messenger_id, chat_id, thread_id, speaker, options, message_ids, sent_at,
         revision, noted_at, asks_for_word) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET chat_id = excluded.chat_id, thread_id = excluded.thread_id,
         speaker = excluded.speaker, options = excluded.options, message_ids = excluded.message_ids,
         sent_at = excluded.sent_at, revision = excluded.revision, asks_for_word = excluded.asks_for_word`,
      card.key,
      card.messengerId,
      card.chatId,
      card.threadId,
      card.speaker,
      card.options,
      JSON.stringify(card.messageIds),
      card.sentAt ?? null,
      card.revision,
      notedAt,
      card.asksForWord === true ? 1 : 0,
    );
  }
}

function cardOf(stored: Stored): IndexedCard {
  return {
    key: stored.card_key,
    messengerId: stored.messenger_id,
    chatId: stored.chat_id,
    threadId: stored.thread_id,
    speaker: stored.speaker,
    options: stored.options,
    revision: stored.revision,
    messageIds: idsSchema.parse(JSON.parse(stored.message_ids)),
    ...(stored.sent_at !== null && { sentAt: stored.sent_at }),
    ...(stored.asks_for_word === 1 && { asksForWord: true }),
  };
}
