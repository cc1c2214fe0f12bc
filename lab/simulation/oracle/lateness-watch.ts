import type { DeliveryReceipt } from "../../../src/core/delivery.ts";
import type { Invariant, SaidReply } from "./contract.ts";

/** Longest time without any call to a chat that has something to show, and what a process that died adds to it. */
const BASE_MS = 20_000;
const CRASH_MS = 60_000;
/** So long after a death what it left may still hold up the chat. */
const AFTERMATH_MS = 60_000;

/** A chat that has no trouble of its own is served in time, whatever other chats of the same conversation have. */
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

  /** A call to the chat left. Whoever waits for its chat's rate sees others being served. */
  call(chatId: string): void {
    this.#calls.set(chatId, [...(this.#calls.get(chatId) ?? []), this.#now()]);
  }

  /** A process died. */
  death(): void {
    this.#deaths.push(this.#now());
  }

  /** A call to the chat was faulty or refused. */
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
