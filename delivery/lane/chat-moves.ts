import type { ChatListener } from "../../src/core/chat/chat-listener.ts";
import type { ChatMove, ChatPlace } from "../../src/core/chat/chat-move.ts";
import type { Database } from "../../src/core/store/database.ts";
import type { ReplyStart } from "../../src/core/chat/delivery.ts";
import type { Address } from "../../src/core/chat/surface.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import { movedAddress, movedRow, moveEntry } from "../outbox/move-reply.ts";
import { MoveStore } from "../outbox/move-store.ts";
import type { OutboxStore } from "../outbox/outbox-store.ts";
import type { Reply } from "../outbox/reply.ts";
import type { ReplyStore } from "../outbox/reply-store.ts";

export interface ChatMovesOptions {
  readonly database: Database;
  readonly replies: ReplyStore;
  readonly outbox: OutboxStore;
  readonly listener?: Pick<ChatListener, "chatMoved">;
}

/** Moves chats to another id, with their open replies. */
export class ChatMoves {
  readonly #options: ChatMovesOptions;
  readonly #store: MoveStore;

  constructor(options: ChatMovesOptions) {
    this.#options = options;
    this.#store = new MoveStore(options.database);
  }

  placeOf(messengerId: string, chatId: string): ChatPlace | undefined {
    return this.#store.placeOf(messengerId, chatId);
  }

  /**
   * Stores a move. Returns the open replies of the chat, which the caller moves to other lanes. Undefined if the chat has
   * moved already, or would move in a circle.
   */
  move(messengerId: string, move: ChatMove, all: Iterable<Reply>): readonly Reply[] | undefined {
    const { from, to } = move;
    const isKnown = this.#store.placeOf(messengerId, from.chatId) !== undefined;
    const isCircle = from.chatId === to.chatId || this.#store.placeOf(messengerId, to.chatId) !== undefined;
    if (isKnown || isCircle) return undefined;
    const replies = [...all].filter(
      ({ isOpen, record: { address } }) =>
        isOpen && address.messengerId === messengerId && address.chatId === from.chatId,
    );
    const moved = replies.flatMap(({ entries }) =>
      entries.map((entry) => ({ entry, row: movedRow(entry, from.chatId) })),
    );
    this.#options.database.transaction(() => {
      this.#store.write(messengerId, move);
      for (const { record } of replies)
        this.#options.replies.move(record.id, movedAddress(record.address, to));
      for (const { row } of moved) this.#options.outbox.write(row);
      this.#options.listener?.chatMoved(messengerId, move);
    });
    this.#store.remember(messengerId, move);
    for (const { entry, row } of moved) moveEntry(entry, row);
    return replies;
  }

  /**
   * Redirects a new reply for a chat that has moved. It quotes nothing, because the messages that it names stayed
   * behind.
   */
  atCurrentPlace(start: ReplyStart): ReplyStart {
    const address = this.currentAddress(start.address);
    if (address === start.address) return start;
    const { replyTo: _replyTo, seenMessageId: _seenMessageId, ...rest } = start;
    return { ...rest, address };
  }

  /** Returns the address to use now: another one if its chat has moved. */
  currentAddress(address: Address): Address {
    const place = this.#store.placeOf(address.messengerId, address.chatId);
    return place === undefined ? address : movedAddress(address, place);
  }

  /** Moves the messages of an ended reply that is reopened in the new chat. Call it in a transaction. */
  moveEntries(entries: readonly OutboxEntry[], former: Address): void {
    for (const entry of entries) {
      const row = movedRow(entry, former.chatId);
      this.#options.outbox.write(row);
      moveEntry(entry, row);
    }
  }
}
