import type { ChatListener } from "../../src/core/chat-listener.ts";
import type { ChatMove, ChatPlace } from "../../src/core/chat-move.ts";
import type { Database } from "../../src/core/database.ts";
import type { ReplyStart } from "../../src/core/delivery.ts";
import type { Address } from "../../src/core/surface.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { Lanes } from "./lanes.ts";
import { laneKey } from "../outbox/lane-key.ts";
import { movedAddress, movedRow, moveEntry } from "../outbox/move-reply.ts";
import { MoveStore } from "../outbox/move-store.ts";
import type { OutboxStore } from "../outbox/outbox-store.ts";
import type { Reply } from "../outbox/reply.ts";
import type { ReplyStore } from "../outbox/reply-store.ts";

export interface ChatMovesOptions {
  readonly database: Database;
  readonly replies: ReplyStore;
  readonly outbox: OutboxStore;
  readonly lanes: Lanes;
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

  /** Returns false if the chat has moved already, or would move in a circle. */
  move(messengerId: string, move: ChatMove, all: Iterable<Reply>): boolean {
    const { from, to } = move;
    const isKnown = this.#store.placeOf(messengerId, from.chatId) !== undefined;
    const isCircle = from.chatId === to.chatId || this.#store.placeOf(messengerId, to.chatId) !== undefined;
    if (isKnown || isCircle) return false;
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
    this.#moveLanes(replies, to);
    return true;
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

  /** Moves the lanes of these replies, and ends their typing indicators. */
  #moveLanes(replies: readonly Reply[], to: ChatPlace): void {
    const { lanes } = this.#options;
    const keys = new Map<string, string>();
    for (const reply of replies) {
      const address = movedAddress(reply.record.address, to);
      const key = keys.get(reply.laneKey) ?? lanes.rekey(reply.laneKey, laneKey(address));
      keys.set(reply.laneKey, key);
      reply.stopTyping();
      reply.move(address, key);
    }
    for (const key of new Set(keys.values())) lanes.of(key).forgetWaits();
  }
}
