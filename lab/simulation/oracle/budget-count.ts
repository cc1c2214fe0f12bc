import type { CallPurpose, Grant } from "../../../src/core/chat/gate.ts";
import type { Address, Pacing } from "../../../src/core/chat/surface.ts";

interface Bucket {
  tokens: number;
  at: number;
  burst: number;
  everyMs: number;
  /** Unused calls of the past that a search may make. */
  saved: number;
  /** End of a penalty. At least one call is allowed from then on. */
  penaltyUntil: number;
}

/** Calls that a gate grants after a start, when it does not know the earlier ones. */
const FIRST_TOKENS = 2;
const MOST_SAVED = 8;
/** Rounding of times to whole milliseconds, in tokens. */
const TOLERANCE = 0.01;

/** A second, simpler count of the calls granted to every chat, independent of the gate's own count (I7). */
export class BudgetCount {
  readonly #chats = new Map<string, Bucket>();
  readonly #unused = new Map<string, number>();

  /** Returns the problem of a grant, if it has one. */
  count(
    address: Address,
    purpose: CallPurpose,
    pacing: Pacing,
    grant: Grant,
    now: number,
  ): string | undefined {
    if (grant.kind !== "granted" || purpose === "answer") return undefined;
    const { chatId, isDirectMessage } = address;
    const { burst, everyMs } = isDirectMessage ? pacing.direct : pacing.group;
    const bucket = this.#chats.get(chatId) ?? {
      tokens: burst,
      at: now,
      burst,
      everyMs,
      saved: MOST_SAVED,
      penaltyUntil: Infinity,
    };
    this.#chats.set(chatId, bucket);
    fill(bucket, now);
    this.#unused.set(chatId, (this.#unused.get(chatId) ?? 0) + 1);
    if (purpose === "search" && bucket.saved >= 1 - TOLERANCE) {
      bucket.saved -= 1;
      return undefined;
    }
    bucket.tokens -= 1;
    if (purpose === "search") useFractions(bucket);
    if (bucket.tokens < -TOLERANCE) return `${chatId} was granted more than its rate allows (${purpose})`;
    const isCosmetic = purpose === "edit" || purpose === "typing";
    if (isCosmetic && bucket.tokens < 1 - TOLERANCE) {
      return `${chatId}: ${purpose} was granted the slot that is kept for the final text`;
    }
    return undefined;
  }

  /** Uses up a grant for a call. Returns true if there was none. */
  use(chatId: string): boolean {
    const left = this.#unused.get(chatId) ?? 0;
    if (left === 0) return true;
    this.#unused.set(chatId, left - 1);
    return false;
  }

  penalized(chatId: string, until: number): void {
    const bucket = this.#chats.get(chatId);
    if (bucket !== undefined) Object.assign(bucket, { penaltyUntil: until, saved: 0 });
  }

  /** Records a start of the chat's gate, which grants a few calls because it does not know the earlier ones. */
  restarted(chatId: string, now: number): void {
    const bucket = this.#chats.get(chatId);
    if (bucket === undefined) return;
    fill(bucket, now);
    bucket.tokens = Math.max(bucket.tokens, FIRST_TOKENS);
    bucket.saved = MOST_SAVED;
  }
}

/** Rounding may have taken an earlier search from the other account than the gate did. Only their sum counts. */
function useFractions(bucket: Bucket): void {
  const moved = Math.max(0, Math.min(bucket.saved, -bucket.tokens));
  bucket.saved -= moved;
  bucket.tokens += moved;
}

function fill(bucket: Bucket, now: number): void {
  const { penaltyUntil } = bucket;
  if (penaltyUntil <= now) {
    grow(bucket, Math.max(bucket.at, penaltyUntil));
    bucket.tokens = Math.max(bucket.tokens, 1);
    bucket.penaltyUntil = Infinity;
  }
  grow(bucket, now);
}

function grow(bucket: Bucket, now: number): void {
  const tokens = bucket.tokens + (now - bucket.at) / bucket.everyMs;
  bucket.tokens = Math.min(bucket.burst, tokens);
  bucket.saved = Math.min(MOST_SAVED, bucket.saved + tokens - bucket.tokens);
  bucket.at = now;
}
