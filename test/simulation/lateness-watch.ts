import type { DeliveryReceipt } from "../../src/core/delivery.ts";
import type { Invariant } from "./oracle.ts";
import type { SaidReply } from "./said.ts";

/** Time for a whole text, for each call that its chat has meanwhile, and for a process that died. */
const BASE_MS = 20_000;
const CALL_MS = 4_000;
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
    const lateMs = endedAt - reply.finalAt;
    const crashes = this.#deaths.filter((at) => at < endedAt && at > reply.finalAt - AFTERMATH_MS).length;
    const served = (this.#calls.get(reply.chatId) ?? []).filter((at) => at > reply.finalAt && at <= endedAt);
    const limitMs = BASE_MS + CALL_MS * served.length + CRASH_MS * crashes;
    if (lateMs > limitMs) {
      this.#fail(
        "I8",
        `${reply.id} was shown ${lateMs} ms late, and nothing went wrong in ${reply.threadId}`,
      );
    }
  }
}
