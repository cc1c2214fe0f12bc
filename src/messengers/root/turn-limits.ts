import type { Database } from "../../core/store/database.ts";
import type { MessengerLimits } from "../../core/chat/messenger.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { createUsageStore } from "./usage-store.ts";
import type { TokenUsageStore } from "./token-usage-store.ts";
import type { Question, UsageStore } from "./usage-store.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Quick lines count as one question only within this time, because each of them restarts the model. */
const LONGEST_QUESTION_MS = 10_000;

/** A person's question, for the root, which counts questions in all conversations. Plain JSON. */
export interface AskedQuestion {
  readonly messengerId: string;
  readonly userId: string;
  readonly threadId: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly albumId: string | undefined;
  readonly burstMs: number;
  readonly limits: MessengerLimits;
}

/** Counts each person's questions to this bot. Stores nothing if no messenger has limits. */
export class TurnLimits {
  readonly #store: UsageStore;
  readonly #tokens: Pick<TokenUsageStore, "tokensSince">;

  constructor(database: Database, tokens: Pick<TokenUsageStore, "tokensSince">) {
    this.#store = createUsageStore(database);
    this.#tokens = tokens;
  }

  /** Tells whether the person may ask this. If so, it is counted. The same question again counts once. */
  take(asked: AskedQuestion): boolean {
    const { albumId, at, limits, messengerId, threadId, userId } = asked;
    const windowMs = limits.turnsPerPersonPerDay === undefined ? MINUTE_MS : DAY_MS;
    const questions = this.#store.since(messengerId, userId, at - windowMs);
    const last = questions.findLast((question) => question.threadId === threadId);
    if (last !== undefined && continues(last, asked)) {
      this.#store.extend(last.id, at);
      return true;
    }
    const ofMinute = questions.filter(({ beganAt }) => beganAt > at - MINUTE_MS);
    const mostTokens = limits.tokensPerPersonPerDay;
    const isAllowed =
      (mostTokens === undefined || this.#tokens.tokensSince(messengerId, userId, at - DAY_MS) < mostTokens) &&
      questions.length < (limits.turnsPerPersonPerDay ?? Infinity) &&
      ofMinute.length < (limits.turnsPerPersonPerMinute ?? Infinity);
    if (!isAllowed) return false;
    this.#store.forget(at - DAY_MS);
    this.#store.begin({ messengerId, userId, threadId, beganAt: at, lastAt: at, album: albumId });
    return true;
  }
}

/** Returns the id to count for. In a channel this is the channel itself. */
export function personOf({ author, thread }: MessengerEvent): string {
  return author?.userId ?? thread.id;
}

function continues(last: Question, { albumId, at, burstMs }: AskedQuestion): boolean {
  if (last.album !== undefined && last.album === albumId) return true;
  return at - last.lastAt <= burstMs && at - last.beganAt <= LONGEST_QUESTION_MS;
}
