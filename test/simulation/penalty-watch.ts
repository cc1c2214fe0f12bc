import type { Address } from "../../src/core/surface.ts";
import type { SurfaceCall } from "./contract.ts";
import type { Life } from "./life.ts";

interface Penalty {
  readonly until: number;
  /** Since when the root knows. */
  readonly since: number;
  /** Threads that have met it themselves. */
  readonly metBy: Set<string>;
}

/** A penalty that the platform spoke and that the root must learn of. */
interface Spoken {
  readonly chatId: string;
  readonly threadId: string;
  readonly until: number;
  readonly at: number;
  /** The process that was told. */
  readonly life: Life;
}

/** How long a call may be under way between the root's grant and its leaving. */
const NEWS_MS = 15;
/** How much later the root may be told of a penalty when it cannot be reached at once. */
const ROOT_TOLD_MS = 6_000;
/** How much later a thread may know of a penalty that another thread has met: so long it may hold a lease. */
const LEASE_MS = 1_000;

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

  /** The root is told. Returns until when it must keep the chat silent. */
  told({ chatId, threadId }: Address, retryAfterMs: number): number {
    const now = this.#now();
    const known = this.#known.get(chatId);
    const until = Math.max(now + retryAfterMs, known?.until ?? 0);
    const isOn = known !== undefined && known.until > now;
    // Who heard of a shorter penalty before may not call either.
    const since = isOn ? known.since : now;
    const metBy = isOn ? known.metBy : new Set<string>();
    metBy.add(threadId);
    this.#known.set(chatId, { until, since, metBy });
    return until;
  }

  /** Whether the chat is in a penalty that the bot knows of. */
  isSilent(chatId: string): boolean {
    return (this.#known.get(chatId)?.until ?? 0) > this.#now();
  }

  /** Returns what is wrong with a call that leaves now. */
  check({ address, method, number }: SurfaceCall): string | undefined {
    const now = this.#now();
    const { chatId, threadId } = address;
    const penalty = this.#known.get(chatId);
    const newsMs = penalty?.metBy.has(threadId) === true ? NEWS_MS : LEASE_MS + NEWS_MS;
    if (penalty !== undefined && now < penalty.until && now > penalty.since + newsMs) {
      return `call #${number} (${method}) left ${penalty.until - now} ms before the end of a penalty`;
    }
    const isUntold = this.#spoken.some((spoken) => {
      if (spoken.chatId !== chatId || spoken.life.isDead || now >= spoken.until) return false;
      const lateMs = spoken.threadId === threadId ? NEWS_MS : ROOT_TOLD_MS;
      return now > spoken.at + lateMs && (penalty?.until ?? 0) < spoken.until - NEWS_MS;
    });
    return isUntold
      ? `call #${number} (${method}) left in a penalty that the root was not told of`
      : undefined;
  }
}
