import type { ChatMove, ChatPlace } from "../../src/core/chat-move.ts";
import type { Database } from "../../src/core/database.ts";
import { LazyTables } from "../../src/core/lazy-tables.ts";

const SCHEMA = `CREATE TABLE IF NOT EXISTS moved_chat_v1 (
  messenger_id TEXT NOT NULL,
  chat_id TEXT NOT NULL,
  to_chat_id TEXT NOT NULL,
  to_thread_id TEXT NOT NULL,
  PRIMARY KEY (messenger_id, chat_id)
) WITHOUT ROWID`;

/** Stores where chats of this object have moved to. Moves are rare, so all of them are kept in memory. */
export class MoveStore {
  readonly #database: Database;
  readonly #tables: LazyTables;
  readonly #places = new Map<string, ChatPlace>();

  constructor(database: Database) {
    this.#database = database;
    this.#tables = new LazyTables(database, { table: "moved_chat_v1", schema: [SCHEMA] });
    for (const row of this.#tables.all<{
      messenger_id: string;
      chat_id: string;
      to_chat_id: string;
      to_thread_id: string;
    }>("SELECT * FROM moved_chat_v1")) {
      const place = { chatId: row.to_chat_id, threadId: row.to_thread_id };
      this.#places.set(keyOf(row.messenger_id, row.chat_id), place);
    }
  }

  placeOf(messengerId: string, chatId: string): ChatPlace | undefined {
    return this.#places.get(keyOf(messengerId, chatId));
  }

  write(messengerId: string, { from, to }: ChatMove): void {
    this.#tables.make();
    this.#database.run(
      "INSERT INTO moved_chat_v1 VALUES (?, ?, ?, ?)",
      messengerId,
      from.chatId,
      to.chatId,
      to.threadId,
    );
  }

  /** Adds a move to memory. Call it after the transaction that stores the move. */
  remember(messengerId: string, { from, to }: ChatMove): void {
    this.#places.set(keyOf(messengerId, from.chatId), to);
  }
}

function keyOf(messengerId: string, chatId: string): string {
  return JSON.stringify([messengerId, chatId]);
}
