import type { CallPurpose, CallRequest, Grant, Lease, RootBudget } from "../src/core/budget.ts";
import type { Database } from "../src/core/database.ts";
import type { Deps } from "../src/core/deps.ts";
import type { Address, Pacing, Rate } from "../src/core/surface.ts";
import { BudgetStore } from "./budget-store.ts";
import type { Penalty } from "./budget-store.ts";
import { BoxStore } from "./box-store.ts";
import { MessageBoxMemory } from "./message-boxes.ts";
import type { AskSpeaker } from "./message-boxes.ts";
import { Places } from "./places.ts";
import { SpeakerMemory } from "./speaker-memory.ts";
import { TokenBucket } from "./token-bucket.ts";

export interface BudgetOptions {
  readonly database: Database;
  readonly deps: Deps;
  /** Reaches another object that shares a chat. Without it a lost post in such a chat is not told from theirs. */
  readonly askSpeaker?: AskSpeaker;
}

/**
 * The budget of all chats of one root. Penalties are durable. The buckets are not: after a start every bucket begins
 * with two tokens, for the first text of a reply and for its last, and with what the time since the start has earned,
 * because nobody knows what was sent before. With one, where a penalty was met not long ago.
 *
 * Laws:
 * - `edit` and `typing` are granted only while more than the reserve is left, `typing` while more than twice that is;
 *   `post` and `final` take it (I7).
 * - A caller that was told to wait keeps its place: those who ask later are granted only what it leaves.
 *   `post` and `final` go before `edit`; `typing` keeps no place. The same holds between the chats of a bot whose whole
 *   rate is used up: each is told a time of its own, so that not all of them ask again for every call.
 * - A thread that has a chat for itself, and wants one, gets a lease of what is left over the reserve, with a grant for a `post` or an
 *   `edit`. Its tokens are taken at once, and it lapses after a second, so that a penalty that another thread learns of
 *   is known to its holder at most that much later. A penalty voids it here.
 * - `answer` is always granted, also during a penalty: the answer of a button press is a call without a chat
 *   (`answerCallbackQuery` takes none), so nothing is sent to the chat, and it is worth nothing when it is late.
 */
export function createBudget({ database, deps, askSpeaker }: BudgetOptions): RootBudget {
  const store = new BudgetStore(database);
  const speakers = new SpeakerMemory(store);
  const boxes = new MessageBoxMemory({
    clock: deps.clock,
    speakers,
    store: new BoxStore(database),
    askSpeaker,
  });
  return new ChatBudgets(store, boxes, deps);
}

/** Kept for the calls that must become visible. */
const RESERVE = 1;
/** What a call leaves behind: an interim edit the final text's slot, typing that of a first text, too. */
const RESERVES = { final: 0, post: 0, edit: RESERVE, typing: 2 * RESERVE } as const;
/** Tokens of a bucket after a start. */
const FIRST_TOKENS = 2;
const LEASE_MS = 1_000;
/** A chat is one thread's own when no other thread has asked for so long. */
const SHARED_FOR_MS = 60_000;
/** Of the bot's whole rate, this share is kept from cosmetic calls. */
const GLOBAL_RESERVE_SHARE = 0.2;
/** Many chats that begin to write at once would otherwise wait for their first text behind what says that it comes. */
const GLOBAL_TYPING_RESERVE_SHARE = 0.6;
/** Leases are for a bot that has enough for all; what they hold back is lost to others. */
const GLOBAL_LEASE_RESERVE_SHARE = 0.5;
/** Each strike of a chat spaces its calls wider by this factor, and is forgiven after a time without another one. */
const WIDENING = 1.5;
const FORGIVEN_AFTER_MS = 2 * 60 * 1000;
const MOST_STRIKES = 5;
/** How long past its time a waiting caller keeps its place. */
const PLACE_GRACE_MS = 1_500;
/** Above this many chats in memory the idle ones are let go. */
const MOST_CHATS = 1_000;
const IDLE_MS = 10 * 60 * 1000;

/** What all chats of a bot share. */
interface Bot {
  readonly bucket: TokenBucket;
  readonly places: Places;
}

interface Chat {
  readonly bucket: TokenBucket;
  readonly places: Places;
  penalty: Penalty | undefined;
  usedAt: number;
  /** The thread that asked last. */
  threadId: string | undefined;
  /** Until then more than one thread wants calls. */
  sharedUntil: number;
}

class ChatBudgets implements RootBudget {
  readonly boxes: MessageBoxMemory;
  readonly #store: BudgetStore;
  readonly #deps: Deps;
  readonly #startedAt: number;
  readonly #chats = new Map<string, Chat>();
  readonly #bots = new Map<string, Bot>();

  constructor(store: BudgetStore, boxes: MessageBoxMemory, deps: Deps) {
    this.#store = store;
    this.#deps = deps;
    this.boxes = boxes;
    this.#startedAt = deps.clock.now();
    store.deleteExpired(this.#startedAt);
  }

  acquire(address: Address, purpose: CallPurpose, pacing: Pacing, request: CallRequest = {}): Promise<Grant> {
    const { messengerId } = address;
    const { news, takesLease = false } = request;
    if (news !== undefined) {
      this.boxes.keep(address, news.box);
      this.boxes.note(messengerId, news.box, news.sentIds, address);
    }
    const heldUntil = news?.isPost === true ? this.boxes.heldUntil(address) : 0;
    const grant = this.#acquire(address, purpose, pacing, takesLease, heldUntil);
    if (grant.kind === "wait" || news === undefined) return Promise.resolve(grant);
    if (news.isPost) this.boxes.beginPost(address);
    const newestId = this.boxes.newest(messengerId, news.box);
    // The other topics of a forum may come in this moment.
    const tellsAtOnce = news.isPost && (address.topicId !== undefined || this.boxes.hasOthers(address));
    return Promise.resolve({
      ...grant,
      ...(newestId === undefined ? {} : { newestId }),
      ...(tellsAtOnce ? { tellsAtOnce } : {}),
    });
  }

  penalize(address: Address, retryAfterMs: number): Promise<void> {
    const now = this.#deps.clock.now();
    const chat = this.#chat(address, now);
    const until = Math.max(chat.penalty?.until ?? 0, now + retryAfterMs);
    const strikes = nextStrikes(chat.penalty, now);
    chat.penalty = { until, strikes, widenedUntil: until + strikes * FORGIVEN_AFTER_MS };
    this.#store.write(address.messengerId, address.chatId, chat.penalty);
    chat.bucket.reset(1, until);
    chat.places.holdUntil(until);
    return Promise.resolve();
  }

  #acquire(
    address: Address,
    purpose: CallPurpose,
    pacing: Pacing,
    takesLease: boolean,
    heldUntil: number,
  ): Grant {
    if (purpose === "answer") return { kind: "granted" };
    const now = this.#deps.clock.now();
    const chat = this.#chat(address, now);
    if (chat.threadId !== undefined && chat.threadId !== address.threadId) {
      chat.sharedUntil = now + SHARED_FOR_MS;
    }
    chat.threadId = address.threadId;
    if (chat.penalty !== undefined && now < chat.penalty.until) {
      return { kind: "wait", retryAt: chat.penalty.until, reason: "penalty" };
    }
    const rate = address.isDirectMessage ? pacing.direct : pacing.group;
    const spacing = spacingOf(chat.penalty, now);
    const needed = 1 + Math.min(RESERVES[purpose], Math.max(0, rate.burst - 1));
    const rank = purpose === "edit" || purpose === "typing" ? 1 : 0;
    const ahead = chat.places.ahead(address.threadId, rank, now);
    const bot = this.#bot(address.messengerId, pacing.global, now);
    const caller = JSON.stringify([address.chatId, address.threadId]);
    const botNeeded = 1 + botReserve(purpose, pacing.global) + bot.places.ahead(caller, rank, now);
    const botReadyAt = bot.bucket.readyAt(now, botNeeded, pacing.global, 1);
    const readyAt = Math.max(chat.bucket.readyAt(now, needed + ahead, rate, spacing), botReadyAt, heldUntil);
    if (readyAt > now) {
      if (purpose !== "typing") {
        chat.places.keep(address.threadId, rank, readyAt + PLACE_GRACE_MS);
        // Who waits for its own chat alone must not hold up the others.
        if (botReadyAt === readyAt) bot.places.keep(caller, rank, readyAt + PLACE_GRACE_MS);
        else bot.places.leave(caller);
      }
      return { kind: "wait", retryAt: readyAt, reason: "pacing" };
    }
    chat.bucket.take(now, rate, spacing);
    bot.bucket.take(now, pacing.global, 1);
    if (purpose !== "typing") {
      chat.places.leave(address.threadId);
      bot.places.leave(caller);
    }
    const isLeasable =
      takesLease && (purpose === "post" || purpose === "edit") && now >= chat.sharedUntil && spacing === 1;
    const lease = isLeasable ? leaseOf(chat.bucket, bot.bucket, rate, pacing.global, now) : undefined;
    return lease === undefined ? { kind: "granted" } : { kind: "granted", lease };
  }

  #chat(address: Address, now: number): Chat {
    const key = JSON.stringify([address.messengerId, address.chatId]);
    const known = this.#chats.get(key);
    if (known !== undefined) {
      known.usedAt = now;
      return known;
    }
    if (this.#chats.size >= MOST_CHATS) this.#forgetIdle(now);
    const penalty = this.#store.read(address.messengerId, address.chatId);
    const bucket = new TokenBucket(FIRST_TOKENS, this.#startedAt);
    if (penalty !== undefined && this.#startedAt < penalty.widenedUntil) {
      bucket.reset(1, Math.max(penalty.until, this.#startedAt));
    }
    const chat: Chat = {
      bucket,
      places: new Places(),
      penalty,
      usedAt: now,
      threadId: undefined,
      sharedUntil: 0,
    };
    this.#chats.set(key, chat);
    return chat;
  }

  #bot(messengerId: string, rate: Rate, now: number): Bot {
    const known = this.#bots.get(messengerId);
    if (known !== undefined) return known;
    const bucket = new TokenBucket(Math.min(FIRST_TOKENS, rate.burst), Math.min(this.#startedAt, now));
    const bot = { bucket, places: new Places() };
    this.#bots.set(messengerId, bot);
    return bot;
  }

  /** A chat that was silent for so long has a full bucket again, whatever its rate; its penalty is stored. */
  #forgetIdle(now: number): void {
    for (const [key, chat] of this.#chats) {
      if (now - chat.usedAt > IDLE_MS) this.#chats.delete(key);
    }
  }
}

/** Takes what is left over the reserves out of both buckets. */
function leaseOf(
  chat: TokenBucket,
  global: TokenBucket,
  chatRate: Rate,
  globalRate: Rate,
  now: number,
): Lease | undefined {
  const left = Math.floor(chat.level(now, chatRate, 1)) - RESERVE;
  const reserve = Math.ceil(globalRate.burst * GLOBAL_LEASE_RESERVE_SHARE);
  const slots = Math.min(left, Math.floor(global.level(now, globalRate, 1)) - reserve);
  if (slots < 1) return undefined;
  const lease = { slots, until: now + LEASE_MS };
  chat.lease(now, lease, chatRate, 1);
  global.lease(now, lease, globalRate, 1);
  return lease;
}

/** Calls that crossed the same penalty are one strike. */
function nextStrikes(penalty: Penalty | undefined, now: number): number {
  if (penalty !== undefined && now < penalty.until) return penalty.strikes;
  return Math.min(MOST_STRIKES, strikesLeft(penalty, now) + 1);
}

/** How many of a chat's strikes are not forgiven yet. */
function strikesLeft(penalty: Penalty | undefined, now: number): number {
  if (penalty === undefined) return 0;
  const left = Math.ceil((penalty.widenedUntil - now) / FORGIVEN_AFTER_MS);
  return Math.max(0, Math.min(penalty.strikes, left));
}

function spacingOf(penalty: Penalty | undefined, now: number): number {
  return WIDENING ** strikesLeft(penalty, now);
}

/** What a call of this kind leaves to those of more worth. */
function botReserve(purpose: CallPurpose, { burst }: Rate): number {
  if (purpose === "typing") return Math.floor(burst * GLOBAL_TYPING_RESERVE_SHARE);
  return purpose === "edit" ? Math.floor(burst * GLOBAL_RESERVE_SHARE) : 0;
}
