import type { ChatKey } from "../../src/core/chat/gate.ts";
import type { Address } from "../../src/core/chat/surface.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import { isSearchable } from "../outbox/doubt.ts";
import type { Reply } from "../outbox/reply.ts";

interface OpenDoubt {
  readonly entry: OutboxEntry;
  readonly address: Address;
}

/** The posts of this object's open replies whose outcome is not known. */
export class OpenDoubts {
  readonly #replies: ReadonlyMap<string, Reply>;

  constructor(replies: ReadonlyMap<string, Reply>) {
    this.#replies = replies;
  }

  /** Whether a post of this thread is in doubt, and can be searched for. */
  isIn(address: Address): boolean {
    return this.#of(address).some((doubt) => doubt.address.threadId === address.threadId);
  }

  /** Whether a post of another thread into the chat is in doubt, and can be searched for. */
  isBeside(chat: ChatKey, exceptThreadId: string): boolean {
    return this.#of(chat).some(({ address }) => address.threadId !== exceptThreadId);
  }

  hasOther(entry: OutboxEntry | undefined, chat: ChatKey): boolean {
    return this.#of(chat).some((doubt) => doubt.entry !== entry);
  }

  /** Whether the outcome of a post into a chat, or into one thread of it, cannot be found out. */
  isUnresolved(chat: ChatKey, threadId?: string): boolean {
    return this.#in(chat).some(
      ({ entries, isOpen, record }) =>
        isOpen &&
        (threadId === undefined || record.address.threadId === threadId) &&
        entries.some(({ row }) => row.state === "unknown" && !isSearchable(row.doubt)),
    );
  }

  #of(chat: ChatKey): readonly OpenDoubt[] {
    return this.#in(chat).flatMap(({ entries, isOpen, record: { address } }) =>
      entries
        .filter(
          ({ row: { doubt, state } }) =>
            state === "sending" || (isOpen && state === "unknown" && isSearchable(doubt)),
        )
        .map((entry) => ({ entry, address })),
    );
  }

  #in({ chatId, messengerId }: ChatKey): Reply[] {
    return [...this.#replies.values()].filter(
      ({ record: { address } }) => address.chatId === chatId && address.messengerId === messengerId,
    );
  }
}
