import type { Address } from "../../../src/core/surface.ts";
import type { SurfaceCall } from "./contract.ts";
import type { Life } from "../machine/life.ts";

interface Penalty {
  readonly until: number;
  /** Since when the gate knows. */
  readonly since: number;
}

/** A penalty that the platform spoke and that the chat's gate must learn of. */
interface Spoken {
  readonly chatId: string;
  readonly threadId: string;
  readonly until: number;
  readonly at: number;
  /** The process that was told. */
  readonly life: Life;
}

/** How long a call may be under way between the gate's grant and its leaving. */
const NEWS_MS = 15;
/** How much later a gate may be told of a penalty when it cannot be reached at once. */
const GATE_TOLD_MS = 6_000;
/** How much longer than it was spoken a penalty may be kept, by the way to the gate and its being told again. */
const KEPT_MS = 2_000;

/** Knows every penalty, and from when on the bot can know of it (I8). */
export class PenaltyWatch {
  readonly #now: () => number;
  readonly #known = new Map<string, Penalty>();
  readonly #spoken: Spoken[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A process hears from the platform that it must wait. */
  spoken({ chatId, threadId }: Address, retryAfterMs: number, life: Life): void {
    const at = this.#now();
    this.#spoken.push({ chatId, threadId, until: at + retryAfterMs, at, life });
  }

  /** The chat's gate is told. Returns until when it must keep the chat silent. */
  told({ chatId }: Pick<Address, "chatId">, retryAfterMs: number): number {
    const now = this.#now();
    const known = this.#known.get(chatId);
    const until = Math.max(now + retryAfterMs, known?.until ?? 0);
    const isOn = known !== undefined && known.until > now;
    // Who heard of a shorter penalty before may not call either.
    const since = isOn ? known.since : now;
    this.#known.set(chatId, { until, since });
    return until;
  }

  /** Whether the chat is in a penalty that the bot knows of. */
  isSilent(chatId: string): boolean {
    return (this.#known.get(chatId)?.until ?? 0) > this.#now();
  }

  /** Whether the platform has told the bot of a penalty of this chat that may still be kept. */
  isSpoken(chatId: string): boolean {
    return this.#spoken.some((spoken) => spoken.chatId === chatId && this.#now() < spoken.until + KEPT_MS);
  }

  /** Returns what is wrong with a call of a process that leaves now. */
  check({ address, method, number }: SurfaceCall, by: Life): string | undefined {
    const now = this.#now();
    const { chatId, threadId } = address;
    const penalty = this.#known.get(chatId);
    if (penalty !== undefined && now < penalty.until && now > penalty.since + NEWS_MS) {
      return `call #${number} (${method}) left ${penalty.until - now} ms before the end of a penalty`;
    }
    const isUntold = this.#spoken.some((spoken) => {
      if (spoken.chatId !== chatId || spoken.life.isDead || now >= spoken.until) return false;
      const isKnown = spoken.life === by || spoken.threadId === threadId;
      const lateMs = isKnown ? NEWS_MS : GATE_TOLD_MS;
      return now > spoken.at + lateMs && (penalty?.until ?? 0) < spoken.until - NEWS_MS;
    });
    return isUntold
      ? `call #${number} (${method}) left in a penalty that the gate was not told of`
      : undefined;
  }
}
