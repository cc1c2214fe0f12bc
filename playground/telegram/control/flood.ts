import type { Clock } from "../clock.ts";
import { tooManyRequests } from "../bot-api/bot-api-error.ts";

/** How many calls a bot may make, and what exceeding costs. Counted: everything that a chat shows. */
export interface FloodRules {
  readonly private: { readonly perSecond: number; readonly burst: number };
  readonly group: { readonly perMinute: number };
  readonly overall: { readonly perSecond: number };
  /** The first penalty, and what each call during a penalty adds, in seconds. */
  readonly penaltySeconds: number;
  readonly growthSeconds: number;
}

/** Telegram's published numbers; burst and penalties are observed, not promised. */
export const realFloodRules: FloodRules = {
  private: { perSecond: 1, burst: 5 },
  group: { perMinute: 20 },
  overall: { perSecond: 30 },
  penaltySeconds: 5,
  growthSeconds: 3,
};

interface ChatFlood {
  /** Calls that may still be made at once, as of `at`. */
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

  /** @throws {BotApiError} 429 while the chat is in a penalty, which this call lengthens, or when it begins one */
  count(chatId: number): void {
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
