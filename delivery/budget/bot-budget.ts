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

/** The budget where it is held, with the memory of message ids. */
export interface RootBudget extends BotBudget {
  /** Ids of messages that have come by webhook. Costs no row in a box that one chat has for itself. */
  noteIncoming(messengerId: string, box: string, isShared: boolean, ids: readonly number[]): void;
}

/**
 * The rate of a bot as a whole: one token bucket for each messenger. What belongs to one chat is the matter of that
 * chat's gate.
 *
 * 1. A loan is taken out of the bucket at once, so that no more calls leave than the rate allows, however many gates
 *    hold loans. Unused slots lapse.
 * 2. Cosmetic calls leave a share of the rate to the others.
 * 3. A chat that was told to wait keeps its place: each is told a time of its own, so that not all ask again at once.
 * 4. After a start the bucket holds two tokens, because nobody knows what was sent before.
 */
export function createBotBudget(options: {
  readonly database: Database;
  readonly deps: Pick<Deps, "clock">;
}): RootBudget {
  return new LendingBudget(options.database, options.deps);
}

const FIRST_TOKENS = 2;
/** Of the bot's whole rate, these shares are kept from cosmetic calls. */
const EDIT_RESERVE_SHARE = 0.2;
/** Many chats that begin to write at once would otherwise wait for their first text behind the typing indicators. */
const TYPING_RESERVE_SHARE = 0.6;
/** A loan of more than one call is for a bot that has enough for all. */
const LOAN_RESERVE_SHARE = 0.5;
const MOST_EXTRA_SLOTS = 3;
const LOAN_MS = 3_000;
/** How long past its time a waiting chat keeps its place. */
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
    // Whoever waits was told a time that counts on what is left.
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

/** What a call of this kind leaves to more valuable ones. */
function reserveFor(purpose: CallPurpose, { burst }: Rate): number {
  if (purpose === "typing") return Math.floor(burst * TYPING_RESERVE_SHARE);
  return purpose === "edit" ? Math.floor(burst * EDIT_RESERVE_SHARE) : 0;
}
