import type { Clock } from "../clock.ts";
import { tooManyRequests } from "../bot-api/bot-api-error.ts";

/** Limits on the calls of a bot. Every call with a visible effect in a chat counts. */
export interface FloodRules {
  readonly private: { readonly perSecond: number; readonly burst: number };
  readonly group: { readonly perMinute: number };
  readonly overall: { readonly perSecond: number };
  /** Length of the first penalty, and the time that each call during a penalty adds, in seconds. */
  readonly penaltySeconds: number;
  readonly growthSeconds: number;
}

/** Telegram's published limits. Burst and penalties are observed; Telegram does not document them. */
export const realFloodRules: FloodRules = {
  private: { perSecond: 1, burst: 5 },
  group: { perMinute: 20 },
  overall: { perSecond: 30 },
  penaltySeconds: 5,
  growthSeconds: 3,
};

interface ChatFlood {
  /** Calls that are left at the time `at`. */
  tokens: number;
  at: number;
  penaltyUntil: number;
}

export class Flood {
  readonly #rules: FloodRules;
  readonly #clock: Clock;
  readonly #chats = new Map<number, ChatFlood>();
  #overall: { tokens: number; at: number };

  constructor(rules: FloodRules, clock: Clock) {
    this.#rules = rules;
    this.#clock = clock;
    this.#overall = { tokens: rules.overall.perSecond, at: clock.now() };
  }

  /**
   * Counts a call. A lookup is refused during a penalty, but does not use up the rate.
   * @throws {BotApiError} 429 when the call starts or meets a penalty; a call during a penalty makes it longer
   */
  count(chatId: number, isLookup = false): void {
    const now = this.#clock.now();
    const { group, overall, penaltySeconds, growthSeconds } = this.#rules;
    const isPrivate = chatId > 0;
    const capacity = isPrivate ? this.#rules.private.burst : group.perMinute;
    const perMs = isPrivate ? this.#rules.private.perSecond / 1000 : group.perMinute / 60_000;
    const chat = this.#chats.get(chatId) ?? { tokens: capacity, at: now, penaltyUntil: 0 };
    this.#chats.set(chatId, chat);
    if (chat.penaltyUntil > now) {
      chat.penaltyUntil += growthSeconds * 1000;
      throw tooManyRequests(Math.ceil((chat.penaltyUntil - now) / 1000));
    }
    if (isLookup) return;
    chat.tokens = Math.min(capacity, chat.tokens + (now - chat.at) * perMs);
    chat.at = now;
    this.#overall = {
      tokens: Math.min(
        overall.perSecond,
        this.#overall.tokens + ((now - this.#overall.at) * overall.perSecond) / 1000,
      ),
      at: now,
    };
    if (chat.tokens < 1) {
      chat.penaltyUntil = now + penaltySeconds * 1000;
      throw tooManyRequests(penaltySeconds);
    }
    if (this.#overall.tokens < 1) throw tooManyRequests(1);
    chat.tokens -= 1;
    this.#overall.tokens -= 1;
  }
}
