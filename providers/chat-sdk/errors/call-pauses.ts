import { AsyncLocalStorage } from "node:async_hooks";

/** Returns a header of an answer. */
export type ReadHeader = (name: string) => string | null | undefined;

/** The last answer that a call of an adapter got. */
interface CallAnswer {
  header: ReadHeader | undefined;
}

/** The call that the running code belongs to. A bundle of a bot without adapters leaves it out. */
const current = /* @__PURE__ */ new AsyncLocalStorage<CallAnswer>();

/** Keeps the headers of an answer that the running call got. */
export function keepHeaders(header: ReadHeader): void {
  const answer = current.getStore();
  if (answer !== undefined) answer.header = header;
}

/**
 * The pauses of accounts whose calls are used up, as the headers of their last answers say. No call is made that would
 * certainly be refused. Lost when the process ends: the next call is then refused, or tells it again.
 */
export class CallPauses {
  readonly #pauseOf: (header: ReadHeader, now: number) => number | undefined;
  readonly #ends = new Map<string, number>();

  /** @param pauseOf returns the time until the account may call again, in milliseconds. Undefined: now */
  constructor(pauseOf: (header: ReadHeader, now: number) => number | undefined) {
    this.#pauseOf = pauseOf;
  }

  /** Returns how long the account must not call, in milliseconds. */
  left(account: string, now: number): number {
    return Math.max(0, (this.#ends.get(account) ?? 0) - now);
  }

  /** Makes a call of an account, and reads its answer. `now` is asked after the call. */
  async watch<Result>(account: string, now: () => number, call: () => Promise<Result>): Promise<Result> {
    const answer: CallAnswer = { header: undefined };
    try {
      return await current.run(answer, call);
    } finally {
      const at = now();
      const pauseMs = answer.header && this.#pauseOf(answer.header, at);
      if (pauseMs === undefined) this.#ends.delete(account);
      else this.#ends.set(account, at + pauseMs);
    }
  }
}
