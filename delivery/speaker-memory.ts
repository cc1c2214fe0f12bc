import type { Address } from "../src/core/surface.ts";
import { MOST_SPEAKERS } from "./budget-store.ts";
import type { BudgetStore } from "./budget-store.ts";
import type { Speakers } from "./message-boxes.ts";

/** Above this many chats in memory all are read again. */
const MOST_CHATS = 1_000;

/** Who posts into each chat, as stored, with what was read kept in memory. */
export class SpeakerMemory implements Speakers {
  readonly #store: BudgetStore;
  readonly #chats = new Map<string, Set<string>>();

  constructor(store: BudgetStore) {
    this.#store = store;
  }

  add(address: Address): void {
    const speakers = this.#of(address);
    if (speakers.size >= MOST_SPEAKERS || speakers.has(address.threadId)) return;
    this.#store.addSpeaker(address.messengerId, address.chatId, address.threadId);
    speakers.add(address.threadId);
  }

  others(address: Address): readonly string[] | undefined {
    const speakers = this.#of(address);
    if (speakers.size >= MOST_SPEAKERS) return undefined;
    return [...speakers].filter((speaker) => speaker !== address.threadId);
  }

  isAlone(address: Address): boolean {
    const speakers = this.#of(address);
    return speakers.size === 0 || (speakers.size === 1 && speakers.has(address.threadId));
  }

  #of({ messengerId, chatId }: Address): Set<string> {
    const key = JSON.stringify([messengerId, chatId]);
    const known = this.#chats.get(key);
    if (known !== undefined) return known;
    if (this.#chats.size >= MOST_CHATS) this.#chats.clear();
    const read = new Set(this.#store.speakers(messengerId, chatId));
    this.#chats.set(key, read);
    return read;
  }
}
