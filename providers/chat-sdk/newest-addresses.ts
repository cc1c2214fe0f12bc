import type { DurableState } from "./state/durable-state.ts";

/** The service address of an event. */
export interface ServiceAddress {
  readonly address: string;
  /** When the event happened, in epoch milliseconds. */
  readonly sentAt: number;
}

/** How a platform whose thread ids contain the address of its service, which may change, writes them. */
export interface AddressRules {
  /**
   * Returns the beginning that all ids of a thread's chat share, whatever the address, and the address in this one.
   * Undefined for an id of another form.
   */
  readonly read: (threadId: string) => { readonly chat: string; readonly address: string } | undefined;
  readonly withAddress: (threadId: string, address: string) => string;
  /** Reads the platform's object of an event. */
  readonly ofEvent: (raw: unknown) => ServiceAddress | undefined;
}

/** Returns the id of the chat whose id begins with this text, the last seen one of several. */
export type FindChat = (beginning: string) => string | undefined;

interface StoredPlaces {
  readonly state: DurableState;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Until then no other object of the bot is asked for the address of a later event. */
const NEW_MS = 60_000;
const MOST_REMEMBERED = 1000;

const keyOf = (chat: string): string => `switchboard:address:${chat}`;

/**
 * Keeps a chat together when the address of its service changes. The chat and its threads keep the ids that they had
 * first; calls go to the address of the newest event.
 *
 * - The bot's directory of chats tells the first id, so only chats whose address has changed have a row.
 * - An event that comes late with an older address changes nothing.
 * - An object that hears an event uses its address at once, any other one within a minute.
 */
export class NewestAddresses {
  readonly #rules: AddressRules;
  readonly #heard = new Map<string, ServiceAddress>();

  constructor(rules: AddressRules) {
    this.#rules = rules;
  }

  /** Returns the id that a thread had first, and stores the address of a verified event. For the root. */
  async firstId(
    threadId: string,
    raw: unknown,
    { findChat, now, state }: StoredPlaces & { readonly findChat: FindChat },
  ): Promise<string> {
    const event = this.#rules.read(threadId);
    const first = event && this.#rules.read(findChat(event.chat) ?? threadId);
    if (event === undefined || first === undefined) return threadId;
    const { chat, address } = event;
    const known = await stored(state, chat);
    const sentAt = this.#rules.ofEvent(raw)?.sentAt ?? now;
    if (address !== (known?.address ?? first.address) && sentAt > (known?.sentAt ?? 0))
      await state.set(keyOf(chat), [{ address, sentAt }]);
    return this.#rules.withAddress(threadId, first.address);
  }

  /** Notes the address of an event that this object handles. */
  hear(threadId: string, raw: unknown): void {
    const chat = this.#rules.read(threadId)?.chat;
    const event = this.#rules.ofEvent(raw);
    if (chat === undefined || event === undefined) return;
    if (event.sentAt <= (this.#heard.get(chat)?.sentAt ?? 0)) return;
    const [oldest] = this.#heard.keys();
    if (oldest !== undefined && this.#heard.size >= MOST_REMEMBERED) this.#heard.delete(oldest);
    this.#heard.delete(chat);
    this.#heard.set(chat, event);
  }

  /** Returns the id of a thread for calls. Rejects if the stored address cannot be read. */
  async newestId(threadId: string, { now, state }: StoredPlaces): Promise<string> {
    const chat = this.#rules.read(threadId)?.chat;
    if (chat === undefined) return threadId;
    const heard = this.#heard.get(chat);
    const isNew = heard !== undefined && heard.sentAt + NEW_MS > now;
    const known = isNew ? undefined : await stored(state, chat);
    const newest = (known?.sentAt ?? 0) > (heard?.sentAt ?? 0) ? known : heard;
    return newest === undefined ? threadId : this.#rules.withAddress(threadId, newest.address);
  }
}

/** A list, because an object remembers a list also if it is missing. */
async function stored(state: DurableState, chat: string): Promise<ServiceAddress | undefined> {
  const [known] = await state.getList<ServiceAddress>(keyOf(chat));
  return known;
}
