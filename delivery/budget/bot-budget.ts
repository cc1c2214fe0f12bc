import type {
  AccountPenalty,
  BotBudget,
  BoxIds,
  CallPurpose,
  Loan,
  LoanRequest,
  SeenIds,
  SeenQuestion,
} from "../../src/core/chat/gate.ts";
import type { Database } from "../../src/core/store/database.ts";
import type { Deps } from "../../src/core/base/deps.ts";
import type { Rate } from "../../src/core/chat/surface.ts";
import { AccountPenalties, ONLY_ACCOUNT } from "./account-penalties.ts";
import { BoxStore } from "./box-store.ts";
import { Places } from "./places.ts";
import { SeenMessages } from "./seen-messages.ts";
import { TokenBucket } from "./token-bucket.ts";

export interface PrepayRequest {
  readonly messengerId: string;
  readonly chatId: string;
  /** See `LoanRequest.account`. */
  readonly account?: string | undefined;
  /** Number of calls. */
  readonly calls: number;
  readonly rate: Rate;
}

const FIRST_TOKENS = 2;
/** Share of the bot's rate that interim edits must leave free. */
const EDIT_RESERVE_SHARE = 0.2;
/**
 * Share that typing indicators must leave free. Otherwise, if many chats begin at once, their first texts wait behind
 * typing.
 */
const TYPING_RESERVE_SHARE = 0.6;
/** Share that broadcasts must leave free, and the most calls that this is. */
const BROADCAST_RESERVE_SHARE = 0.5;
const MOST_BROADCAST_RESERVE = 30;
/** Paid calls of a chat are kept this long. */
const PAID_MS = 2_000;
/** A loan has more than one call only while more than this share of the rate is free. */
const LOAN_RESERVE_SHARE = 0.5;
const MOST_EXTRA_SLOTS = 3;
const LOAN_MS = 3_000;
/** Others no longer wait behind a chat that does not ask within this time after its turn. */
const PLACE_GRACE_MS = 1_500;

interface Bot {
  readonly bucket: TokenBucket;
  readonly places: Places;
  /** Calls that broadcasts have paid, by chat. */
  readonly paid: Map<string, Paid>;
}

interface Paid {
  readonly calls: number;
  readonly until: number;
}

/**
 * The rate of a bot over all its chats: one token bucket for each messenger. It ends where a chat begins: the rate of
 * one chat is kept by that chat's gate. It also remembers message ids.
 *
 * 1. A loan leaves the bucket at once. So no more calls are sent than the rate allows, however many gates hold loans.
 *    Unused calls expire.
 * 2. Cosmetic calls must leave a share of the rate to the others.
 * 3. A chat that was told to wait keeps its place, even if it asks again late. Each gets its own time, so not all of them
 *    ask again at once.
 * 4. After a start the bucket holds two tokens, because earlier calls are not known.
 * 5. Broadcasts leave half of a full bucket to everything else, and come after every chat that waits. So a live answer
 *    waits for other live answers only. A paid call that its chat does not make in time goes back into the bucket.
 * 6. During the penalty of an account its chats get no calls. Calls of an account are lent one at a time, so none is
 *    left over when a penalty begins.
 */
export class RootBudget implements BotBudget {
  readonly #clock: Deps["clock"];
  readonly #startedAt: number;
  readonly #seen: SeenMessages;
  readonly #bots = new Map<string, Bot>();
  readonly #penalties: AccountPenalties;

  constructor({ database, deps }: { readonly database: Database; readonly deps: Pick<Deps, "clock"> }) {
    const { clock } = deps;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#seen = new SeenMessages(clock, new BoxStore(database));
    this.#penalties = new AccountPenalties(database);
  }

  lend(request: LoanRequest): Promise<Loan> {
    const { account, messengerId, chatId, speaker, purpose, rate, sent } = request;
    const now = this.#clock.now();
    if (sent !== undefined) {
      this.#seen.note(messengerId, sent.box, sent.box !== chatId, sent.ids, { kind: "bot", chatId });
    }
    const penaltyUntil = this.#penalties.until(messengerId, account ?? ONLY_ACCOUNT);
    if (penaltyUntil > now) return Promise.resolve({ kind: "wait", retryAt: penaltyUntil });
    const bot = this.#bot(messengerId, rate, now);
    const caller = JSON.stringify([chatId, speaker]);
    const rank = purpose === "edit" || purpose === "typing" ? 1 : 0;
    putBackUnused(bot, now, rate);
    if (rank === 0 && usePaid(bot, chatId, now, rate)) {
      bot.places.leave(caller);
      return Promise.resolve(this.#lent(1, now + LOAN_MS, request));
    }
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
    const extra =
      isAnyWaiting || account !== undefined ? 0 : extraSlots(bot.bucket.level(now, rate, 1), rate);
    if (extra > 0) bot.bucket.lease(now, { slots: extra, until }, rate, 1);
    return Promise.resolve(this.#lent(1 + extra, until, request));
  }

  penalize({ account, messengerId, retryAfterMs }: AccountPenalty): Promise<void> {
    this.#penalties.add(messengerId, account, this.#clock.now() + retryAfterMs);
    return Promise.resolve();
  }

  /**
   * Takes calls for a message of a broadcast, which goes to a chat right after. Returns the time to ask again, in epoch
   * milliseconds, if there are none now.
   */
  prepay({ account, calls, chatId, messengerId, rate }: PrepayRequest): number | undefined {
    const now = this.#clock.now();
    const penaltyUntil = this.#penalties.until(messengerId, account ?? ONLY_ACCOUNT);
    if (penaltyUntil > now) return penaltyUntil;
    const bot = this.#bot(messengerId, rate, now);
    const reserve = Math.min(MOST_BROADCAST_RESERVE, Math.floor(rate.burst * BROADCAST_RESERVE_SHARE));
    putBackUnused(bot, now, rate);
    const taken = Math.max(1, Math.min(calls, rate.burst - reserve));
    const ahead = bot.places.ahead("", 1, now);
    const readyAt = bot.bucket.readyAt(now, taken + reserve, rate, 1, ahead);
    if (readyAt > now) return readyAt;
    for (let call = 0; call < taken; call += 1) bot.bucket.hold(now, rate, 1);
    const earlier = bot.paid.get(chatId)?.calls ?? 0;
    bot.paid.delete(chatId);
    bot.paid.set(chatId, { calls: earlier + taken, until: now + PAID_MS });
    return undefined;
  }

  #lent(slots: number, until: number, { chatId, messengerId, post, sent }: LoanRequest): Loan {
    if (post !== undefined && sent !== undefined) {
      this.#seen.expect(messengerId, sent.box, { chatId, ...post });
    }
    const newestId = sent === undefined ? undefined : this.#seen.newest(messengerId, sent.box);
    return { kind: "lent", slots, until, ...(newestId !== undefined && { newestId }) };
  }

  tellSent({ messengerId, box, chatId, ids }: BoxIds): Promise<void> {
    this.#seen.note(messengerId, box, true, ids, { kind: "bot", chatId });
    return Promise.resolve();
  }

  seenIds(question: SeenQuestion): Promise<SeenIds> {
    return Promise.resolve(this.#seen.after(question));
  }

  /** Adds ids of messages that arrived by webhook. In a box of a single chat this writes no row. */
  noteIncoming(messengerId: string, box: string, isShared: boolean, ids: readonly number[]): void {
    this.#seen.note(messengerId, box, isShared, ids);
  }

  /** Adds ids of messages that a conversation has sent at some time into a box that many chats share. */
  noteSent(messengerId: string, box: string, ids: readonly number[]): void {
    this.#seen.note(messengerId, box, true, ids, { kind: "bot-earlier" });
  }

  #bot(messengerId: string, rate: Rate, now: number): Bot {
    const known = this.#bots.get(messengerId);
    if (known !== undefined) return known;
    const bucket = new TokenBucket(Math.min(FIRST_TOKENS, rate.burst), Math.min(this.#startedAt, now));
    const bot = { bucket, places: new Places(), paid: new Map<string, Paid>() };
    this.#bots.set(messengerId, bot);
    return bot;
  }
}

/** Uses up one call that a broadcast has reserved for this chat. Returns `false` if none is reserved. */
function usePaid({ bucket, paid }: Bot, chatId: string, now: number, rate: Rate): boolean {
  const found = paid.get(chatId);
  if (found === undefined) return false;
  bucket.useHeld(now, rate, 1);
  if (found.calls > 1) paid.set(chatId, { ...found, calls: found.calls - 1 });
  else paid.delete(chatId);
  return true;
}

/** Puts paid calls back that no chat has made in time. The oldest entries come first. */
function putBackUnused({ bucket, paid }: Bot, now: number, rate: Rate): void {
  for (const [chatId, { calls, until }] of paid) {
    if (until > now) return;
    paid.delete(chatId);
    for (let call = 0; call < calls; call += 1) bucket.putBack(now, rate, 1);
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
