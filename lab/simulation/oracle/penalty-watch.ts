import type { Address } from "../../../src/core/chat/surface.ts";
import type { SurfaceCall } from "./contract.ts";
import type { Life } from "../machine/life.ts";

interface Penalty {
  readonly until: number;
  /** Time at which the gate learned of it. */
  readonly since: number;
}

/** A penalty that the platform has announced, and that the chat's gate must learn of. */
interface Spoken {
  readonly chatId: string;
  readonly until: number;
  readonly at: number;
  /** The process that got the answer. */
  readonly life: Life;
}

/** Longest time between the gate's grant and the call, in milliseconds. */
const NEWS_MS = 15;
/** Longest delay of a report to a gate that cannot be reached at once, in milliseconds. */
const GATE_TOLD_MS = 6_000;
/** Time by which a gate may keep a penalty longer than announced, because of travel time and repeated reports. */
const KEPT_MS = 2_000;

/** Knows every penalty, and the time from which the bot can know it (I8). */
export class PenaltyWatch {
  readonly #now: () => number;
  readonly #known = new Map<string, Penalty>();
  readonly #spoken: Spoken[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Records that the platform has announced a penalty to a process. */
  spoken({ chatId }: Pick<Address, "chatId">, retryAfterMs: number, life: Life): void {
    const at = this.#now();
    this.#spoken.push({ chatId, until: at + retryAfterMs, at, life });
  }

  /** Records that the chat's gate was told. Returns the time until which the gate must keep the chat silent. */
  told({ chatId }: Pick<Address, "chatId">, retryAfterMs: number): number {
    const now = this.#now();
    const known = this.#known.get(chatId);
    const until = Math.max(now + retryAfterMs, known?.until ?? 0);
    const isOn = known !== undefined && known.until > now;
    // A process that knows only an earlier, shorter penalty must not call either.
    const since = isOn ? known.since : now;
    this.#known.set(chatId, { until, since });
    return until;
  }

  /** Whether the chat is in a penalty that the bot knows of. */
  isSilent(chatId: string): boolean {
    return (this.#known.get(chatId)?.until ?? 0) > this.#now();
  }

  /** Whether the platform has announced a penalty of this chat that may still be in force. */
  isSpoken(chatId: string): boolean {
    return this.#spoken.some((spoken) => spoken.chatId === chatId && this.#now() < spoken.until + KEPT_MS);
  }

  /** Returns the problem of a call that leaves a process now, if it has one. */
  check({ address, method, number }: SurfaceCall, by: Life): string | undefined {
    const now = this.#now();
    const { chatId } = address;
    const penalty = this.#known.get(chatId);
    if (penalty !== undefined && now < penalty.until && now > penalty.since + NEWS_MS) {
      return `call #${number} (${method}) left ${penalty.until - now} ms before the end of a penalty`;
    }
    const isUntold = this.#spoken.some((spoken) => {
      if (spoken.chatId !== chatId || spoken.life.isDead || now >= spoken.until) return false;
      // Other processes know it from the gate, also those that post in the same topic.
      const lateMs = spoken.life === by ? NEWS_MS : GATE_TOLD_MS;
      return now > spoken.at + lateMs && (penalty?.until ?? 0) < spoken.until - NEWS_MS;
    });
    return isUntold
      ? `call #${number} (${method}) left in a penalty that the gate was not told of`
      : undefined;
  }
}
