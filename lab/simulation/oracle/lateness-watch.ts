import type { DeliveryReceipt } from "../../../src/core/chat/delivery.ts";
import type { Invariant, SaidReply } from "./contract.ts";

/** Longest time without a call to a chat that has something to show, and the additional time after a crash. */
const BASE_MS = 20_000;
const CRASH_MS = 60_000;
/** Time after a crash in which its consequences may still hold up the chat. */
const AFTERMATH_MS = 60_000;

/**
 * Checks that a chat without trouble of its own is served in time, whatever happens in other chats of the conversation.
 */
export class LatenessWatch {
  readonly #fail: (invariant: Invariant, message: string) => void;
  readonly #now: () => number;
  readonly #troubled = new Set<string>();
  readonly #calls = new Map<string, readonly number[]>();
  readonly #deaths: number[] = [];

  constructor(now: () => number, fail: (invariant: Invariant, message: string) => void) {
    this.#now = now;
    this.#fail = fail;
  }

  /** Records a call to the chat. If a reply waits for its chat's rate, others in the chat are being served. */
  call(chatId: string): void {
    this.#calls.set(chatId, [...(this.#calls.get(chatId) ?? []), this.#now()]);
  }

  /** Records a crash. */
  death(): void {
    this.#deaths.push(this.#now());
  }

  /** Records a faulty or refused call to the chat. */
  trouble(chatId: string): void {
    this.#troubled.add(chatId);
  }

  check(reply: SaidReply, receipt: DeliveryReceipt): void {
    if (this.#troubled.has(reply.chatId) || receipt.state !== "delivered") return;
    const { endedAt = 0 } = receipt;
    const calls = (this.#calls.get(reply.chatId) ?? []).filter((at) => at > reply.finalAt && at < endedAt);
    let since = reply.finalAt;
    for (const at of [...calls, endedAt]) {
      const waitMs = at - since;
      const crashes = this.#deaths.filter((death) => death < at && death > since - AFTERMATH_MS).length;
      if (waitMs > BASE_MS + CRASH_MS * crashes) {
        const what = `${reply.id} waits ${waitMs} ms for a call`;
        this.#fail("I8", `${what}, and nothing is wrong in ${reply.threadId}`);
      }
      since = at;
    }
  }
}
