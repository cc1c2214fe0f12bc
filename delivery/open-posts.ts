import type { Address } from "../src/core/surface.ts";

/** A post that is open for longer holds nobody: it may hang until its time limit. */
const HOLD_MS = 5_000;
/** Who is held asks again after this time. */
const ASK_AGAIN_MS = 250;
/** After a start the threads that miss a message say so within this time. */
const START_MS = 500;
const MOST_CHATS = 1_000;

/**
 * Which threads may have a message whose id nobody has been told, by chat. In a chat of several threads one of them
 * posts at a time: if the machine dies then, no two of them miss a message, and whose it is that is found there is
 * certain.
 */
export class OpenPosts {
  readonly #startedAt: number;
  readonly #chats = new Map<string, Map<string, number>>();

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** A thread posts, or looks for what it has posted. */
  begin(address: Address, now: number): void {
    const key = keyOf(address);
    if (this.#chats.size >= MOST_CHATS && !this.#chats.has(key)) this.#forget(now);
    const chat = this.#chats.get(key) ?? new Map<string, number>();
    this.#chats.set(key, chat.set(address.threadId, now));
  }

  /** It is known what became of it. */
  end(address: Address): void {
    const key = keyOf(address);
    const chat = this.#chats.get(key);
    chat?.delete(address.threadId);
    if (chat?.size === 0) this.#chats.delete(key);
  }

  isOpen(address: Address): boolean {
    return this.#chats.get(keyOf(address))?.has(address.threadId) === true;
  }

  /** Epoch milliseconds before which a thread of a chat with others does not post. */
  heldUntil(address: Address, now: number): number {
    let until = this.#startedAt + START_MS;
    for (const [thread, at] of this.#chats.get(keyOf(address)) ?? []) {
      if (thread !== address.threadId) until = Math.max(until, Math.min(at + HOLD_MS, now + ASK_AGAIN_MS));
    }
    return until;
  }

  #forget(now: number): void {
    for (const [key, chat] of this.#chats) {
      for (const [thread, at] of chat) if (now - at > HOLD_MS) chat.delete(thread);
      if (chat.size === 0) this.#chats.delete(key);
    }
  }
}

function keyOf({ messengerId, chatId }: Address): string {
  return JSON.stringify([messengerId, chatId]);
}
