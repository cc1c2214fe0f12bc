import type { ChatMove, ChatPlace } from "../../src/core/chat/chat-move.ts";
import type { Database } from "../../src/core/store/database.ts";
import { defineTable, lazyTable, text } from "../../src/core/store/table.ts";
import type { Table } from "../../src/core/store/table.ts";

const MOVES = defineTable(
  "moved_chat_v1",
  {
    messengerId: text("PRIMARY KEY"),
    chatId: text("PRIMARY KEY"),
    toChatId: text("NOT NULL"),
    toThreadId: text("NOT NULL"),
  },
  "WITHOUT ROWID",
);

/** Stores where chats of this object have moved to. Moves are rare, so all of them are kept in memory. */
export class MoveStore {
  readonly #moves: Table<typeof MOVES>;
  readonly #places = new Map<string, ChatPlace>();

  constructor(database: Database) {
    this.#moves = lazyTable(database, MOVES);
    for (const { chatId, messengerId, toChatId, toThreadId } of this.#moves.all(""))
      this.#places.set(keyOf(messengerId, chatId), { chatId: toChatId, threadId: toThreadId });
  }

  placeOf(messengerId: string, chatId: string): ChatPlace | undefined {
    return this.#places.get(keyOf(messengerId, chatId));
  }

  write(messengerId: string, { from, to }: ChatMove): void {
    this.#moves.insert({ messengerId, chatId: from.chatId, toChatId: to.chatId, toThreadId: to.threadId });
  }

  /** Adds a move to memory. Call it after the transaction that stores the move. */
  remember(messengerId: string, { from, to }: ChatMove): void {
    this.#places.set(keyOf(messengerId, from.chatId), to);
  }
}

function keyOf(messengerId: string, chatId: string): string {
  return JSON.stringify([messengerId, chatId]);
}
