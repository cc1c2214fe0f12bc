import type {
  BotBudget,
  BoxIds,
  CallPurpose,
  Loan,
  LoanRequest,
  SeenIds,
  SeenQuestion,
} from "../../src/core/gate.ts";
import type { Database } from "../../src/core/database.ts";
import type { Deps } from "../../src/core/deps.ts";
import type { Rate } from "../../src/core/surface.ts";
import { BoxStore } from "./box-store.ts";
import { Places } from "./places.ts";
import { SeenMessages } from "./seen-messages.ts";
import { TokenBucket } from "./token-bucket.ts";

/** The budget at the root, with the memory of message ids. */
export interface RootBudget extends BotBudget {
  /** Adds ids of messages that arrived by webhook. In a box of a single chat this writes no row. */
  noteIncoming(messengerId: string, box: string, isShared: boolean, ids: readonly number[]): void;
}

/**
 * The rate of a bot over all its chats: one token bucket for each messenger. It ends where a chat begins: the rate of
 * one chat is kept by that chat's gate.
 *
 * 1. A loan leaves the bucket at once. So no more calls are sent than the rate allows, however many gates hold loans.
 *    Unused calls expire.
 * 2. Cosmetic calls must leave a share of the rate to the others.
 * 3. A chat that was told to wait keeps its place. Each gets its own time, so not all of them ask again at once.
 * 4. After a start the bucket holds two tokens, because earlier calls are not known.
 */
export function createBotBudget(options: {
  readonly database: Database;
  readonly deps: Pick<Deps, "clock">;
}): RootBudget {
  return new LendingBudget(options.database, options.deps);
}

const FIRST_TOKENS = 2;
/** Share of the bot's rate that interim edits must leave free. */
const EDIT_RESERVE_SHARE = 0.2;
/**
 * Share that typing indicators must leave free. Otherwise, if many chats begin at once, their first texts wait behind
 * typing.
 */
const TYPING_RESERVE_SHARE = 0.6;
/** A loan has more than one call only while more than this share of the rate is free. */
const LOAN_RESERVE_SHARE = 0.5;
const MOST_EXTRA_SLOTS = 3;
const LOAN_MS = 3_000;
/** A waiting chat loses its place if it does not ask within this time after its turn. */
const PLACE_GRACE_MS = 1_500;

interface Bot {
  readonly bucket: TokenBucket;
  readonly places: Places;
}

class LendingBudget implements RootBudget {
  readonly #clock: Deps["clock"];
  readonly #startedAt: number;
  readonly #seen: SeenMessages;
  readonly #bots = new Map<string, Bot>();

  constructor(database: Database, { clock }: Pick<Deps, "clock">) {
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#seen = new SeenMessages(clock, new BoxStore(database));
  }

  lend({ messengerId, chatId, speaker, purpose, rate, sent }: LoanRequest): Promise<Loan> {
    const now = this.#clock.now();
    if (sent !== undefined) this.#seen.note(messengerId, sent.box, sent.box !== chatId, sent.ids);
    const bot = this.#bot(messengerId, rate, now);
    const caller = JSON.stringify([chatId, speaker]);
    const rank = purpose === "edit" || purpose === "typing" ? 1 : 0;
    const ahead = bot.places.ahead(caller, rank, now);
    const readyAt = bot.bucket.readyAt(now, 1 + reserveFor(purpose, rate), rate, 1, ahead);
    if (readyAt > now) {
      if (purpose !== "typing") bot.places.keep(caller, rank, readyAt + PLACE_GRACE_MS);
      return Promise.resolve({ kind: "wait", retryAt: readyAt });
    }
    bot.bucket.take(now, rate, 1);
    if (purpose !== "typing") bot.places.leave(caller);
    const until = now + LOAN_MS;
    // The times of waiting chats rely on the remaining tokens, so no extra calls are lent while one waits.
    const isAnyWaiting = bot.places.ahead("", 1, now) > 0;
    const extra = isAnyWaiting ? 0 : extraSlots(bot.bucket.level(now, rate, 1), rate);
    if (extra > 0) bot.bucket.lease(now, { slots: extra, until }, rate, 1);
    const newestId = sent === undefined ? undefined : this.#seen.newest(messengerId, sent.box);
    return Promise.resolve({
      kind: "lent",
      slots: 1 + extra,
      until,
      ...(newestId === undefined ? {} : { newestId }),
    });
  }

  tellSent({ messengerId, box, ids }: BoxIds): Promise<void> {
    this.#seen.note(messengerId, box, true, ids);
    return Promise.resolve();
  }

  seenIds(question: SeenQuestion): Promise<SeenIds> {
    return Promise.resolve(this.#seen.after(question));
  }

  noteIncoming(messengerId: string, box: string, isShared: boolean, ids: readonly number[]): void {
    this.#seen.note(messengerId, box, isShared, ids);
  }

  #bot(messengerId: string, rate: Rate, now: number): Bot {
    const known = this.#bots.get(messengerId);
    if (known !== undefined) return known;
    const bucket = new TokenBucket(Math.min(FIRST_TOKENS, rate.burst), Math.min(this.#startedAt, now));
    const bot = { bucket, places: new Places() };
    this.#bots.set(messengerId, bot);
    return bot;
  }
}

function extraSlots(level: number, { burst }: Rate): number {
  const left = Math.floor(level) - Math.ceil(burst * LOAN_RESERVE_SHARE);
  return Math.max(0, Math.min(MOST_EXTRA_SLOTS, left));
}

/** Number of tokens that a call of this kind must leave for more valuable calls. */
function reserveFor(purpose: CallPurpose, { burst }: Rate): number {
  if (purpose === "typing") return Math.floor(burst * TYPING_RESERVE_SHARE);
  return purpose === "edit" ? Math.floor(burst * EDIT_RESERVE_SHARE) : 0;
}
