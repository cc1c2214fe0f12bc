import type { Invariant } from "./contract.ts";
import type { Life } from "../machine/life.ts";

interface Press {
  readonly threadId: string;
  /** The process that has stored it, and the time. */
  stored: { readonly at: number; readonly by: Life | undefined } | undefined;
  readonly calls: { readonly at: number; readonly by: Life; isAnswered: boolean; hasFailed: boolean }[];
}

/** Longest time from a stored press to its answer. */
const AT_ONCE_MS = 50;

/** Checks that every press of a button is answered once, and at once, even without budget (I7). */
export class PressWatch {
  /** Presses that were answered while their chat was in a penalty. */
  inPenalty = 0;
  answered = 0;
  readonly #now: () => number;
  readonly #fail: (invariant: Invariant, message: string) => void;
  readonly #presses = new Map<string, Press>();

  constructor(now: () => number, fail: (invariant: Invariant, message: string) => void) {
    this.#now = now;
    this.#fail = fail;
  }

  pressed(actionId: string, threadId: string): void {
    this.#presses.set(actionId, { threadId, stored: undefined, calls: [] });
  }

  stored(actionId: string, by: Life | undefined): void {
    const press = this.#presses.get(actionId);
    if (press !== undefined) press.stored ??= { at: this.#now(), by };
  }

  onCall(actionId: string, by: Life, isInPenalty: boolean): void {
    const press = this.#presses.get(actionId);
    if (press === undefined) {
      this.#fail("I7", `a press ${actionId} is answered that nobody has made`);
      return;
    }
    if (isInPenalty) this.inPenalty += 1;
    const lateMs = press.stored?.by === by ? this.#now() - press.stored.at : 0;
    if (press.calls.length === 0 && lateMs > AT_ONCE_MS) {
      this.#fail("I7", `the press ${actionId} is answered ${lateMs} ms after it was stored`);
    }
    // A process that died during the answer could not store it.
    const isRepeated = press.calls.some(
      (call) => !call.hasFailed && (!call.by.isDead || call.by.diedAt > call.at + AT_ONCE_MS),
    );
    if (isRepeated) this.#fail("I2", `the press ${actionId} is answered twice`);
    press.calls.push({ at: this.#now(), by, isAnswered: false, hasFailed: false });
  }

  onAnswer(actionId: string, by: Life, error: unknown): void {
    const call = this.#presses.get(actionId)?.calls.findLast((candidate) => candidate.by === by);
    if (call === undefined) return;
    call.isAnswered = error === undefined;
    call.hasFailed = error !== undefined;
    if (call.isAnswered) this.answered += 1;
  }

  checkThread(threadId: string): void {
    for (const [actionId, press] of this.#presses) {
      if (press.threadId !== threadId || press.stored === undefined || press.calls.length > 0) continue;
      this.#fail("I7", `the press ${actionId} was never answered`);
    }
  }
}
