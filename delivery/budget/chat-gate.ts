import type { Database } from "../../src/core/store/database.ts";
import type { Deps } from "../../src/core/base/deps.ts";
import type {
  BotBudget,
  CallRequest,
  CardClaim,
  CardOwner,
  CardQuestion,
  CardReport,
  ChatGate,
  ChatNews,
  ChatReport,
  ClaimQuestion,
  Grant,
  LocalSpeaker,
  LostPostQuestion,
  NextCalls,
  UnclaimedIds,
} from "../../src/core/chat/gate.ts";
import type { Address, Rate } from "../../src/core/chat/surface.ts";
import { BotLoans } from "./bot-loans.ts";
import { CardIndex } from "./card-index.ts";
import { GateStore } from "./gate-store.ts";
import type { Penalty, StoredChat } from "./gate-store.ts";
import { nextPenalty, spacingOf } from "./penalty.ts";
import { Places } from "./places.ts";
import { RightToPost } from "./right-to-post.ts";
import { TokenBucket } from "./token-bucket.ts";

export interface ChatGateOptions {
  readonly database: Database;
  readonly deps: Pick<Deps, "clock">;
  /** Name of the gate's own object, which may also send messages to the chat. */
  readonly name: string;
  readonly root: BotBudget;
  readonly local: LocalSpeaker;
}

/**
 * Grants calls to the chats whose thread without a topic is this object. It holds each chat's rate, its penalty and the
 * right to post. It ends at the grant: the conversation keeps the text of a reply, its rows and its order.
 *
 * 1. All calls to a chat, from all topics and conversations, share one token bucket. `edit` is granted only if one
 *    token is left afterwards, and `typing` only if two are. `post` and `final` may take the last one (I7). A `search`
 *    first uses calls that the chat saved while it was idle.
 * 2. Nothing is granted during a penalty, also after a restart (I8).
 * 3. A speaker that was told to wait keeps its place. `post` and `final` go before `edit`. `typing` gets no place.
 * 4. At most one post of a chat is in doubt (`RightToPost`). Edits never wait for the right to post.
 * 5. `answer` is always granted: it counts against no chat, and a late one is worthless.
 * 6. A card is stored before the call that posts it is granted (`CardIndex`). So no press comes before its card.
 * 7. The gate never calls a conversation in another object. It only calls the root, which lends it the bot's rate, a
 *    few calls at a time, and keeps the penalties of accounts.
 * 8. After a start a bucket holds two tokens, or one after a penalty. It is full if the chat was idle for long enough.
 */
export function createChatGate(options: ChatGateOptions): ChatGate {
  return new Gate(options);
}

/** Tokens that are kept for posts and final texts. */
const RESERVE = 1;
/**
 * Tokens that must remain after a call. An interim edit leaves one for the final text. A typing indicator also leaves
 * one for a first text.
 */
const RESERVES = { answer: 0, final: 0, post: 0, search: 0, edit: RESERVE, typing: 2 * RESERVE } as const;
/** Tokens of a bucket after a start. */
const FIRST_TOKENS = 2;
/**
 * Most calls that a chat saves for a search: the first question, and all ids of a box in which nothing else happens.
 */
const SEARCH_CALLS = 8;
/** Other objects' use of a chat is stored at most this often. */
const NOTE_USE_MS = 30_000;
/** Others no longer wait behind a speaker that does not ask within this time after its turn. */
const PLACE_GRACE_MS = 1_500;
/** With more chats than this in memory, idle ones are removed. */
const MOST_CHATS = 1_000;
const IDLE_MS = 10 * 60 * 1000;
/** An id that no loan request has taken along is reported to the root after this time. */
const TELL_ROOT_AFTER_MS = 250;
/** An answer to a search names this many ids above the newest known one, and at most `MOST_IDS` in total. */
const TAIL = 32;
const MOST_IDS = 128;

interface Chat {
  readonly address: Address;
  readonly bucket: TokenBucket;
  readonly places: Places;
  readonly right: RightToPost;
  penalty: Penalty | undefined;
  usedAt: number;
  /** The newest id of the chat's box that this gate knows. */
  newestId: number;
  /** Ids that conversations of the chat have sent into a shared box, and that the root does not know yet. */
  untold: readonly number[];
  timer: unknown;
  /** Time at which another object's use of the chat was last stored. */
  notedUseAt: number;
  /** Recent speakers of the chat, with the time of their last call. */
  readonly speakers: Map<string, number>;
}

/** A speaker counts as recent for this long after its last call. */
const SPEAKS_FOR_MS = 60_000;

class Gate implements ChatGate {
  readonly #options: ChatGateOptions;
  readonly #clock: Deps["clock"];
  readonly #startedAt: number;
  readonly #store: GateStore;
  readonly #chats = new Map<string, Chat>();
  readonly #loans: BotLoans;
  readonly #cards: CardIndex;

  constructor(options: ChatGateOptions) {
    this.#options = options;
    this.#clock = options.deps.clock;
    this.#startedAt = this.#clock.now();
    this.#store = new GateStore(options.database);
    this.#loans = new BotLoans(options.root, this.#clock);
    this.#cards = new CardIndex(options.database, this.#clock);
  }

  async acquire(request: CallRequest): Promise<Grant> {
    const { address, purpose, pacing } = request;
    if (purpose === "answer") return { kind: "granted" };
    const { card, speaker } = request;
    if (card !== undefined) this.#cards.note({ address, speaker, card });
    const rate = address.isDirectMessage ? pacing.direct : pacing.group;
    const chat = this.#chat(address, rate);
    const isDurable = this.#isRemote(request.speaker);
    const key = speakerKey(request);
    this.#noteSpeaker(chat, key, isDurable);
    if (request.news !== undefined) this.#hear(chat, key, request.news, isDurable);
    const waits = this.#waits(chat, request, rate, key);
    if (waits !== undefined) return waits;
    // The root must know of each post into a shared box, so that it knows how high its ids can be.
    const isCounted =
      request.isPost === true && request.news !== undefined && request.news.box !== chat.address.chatId;
    if (!isCounted && this.#loans.take(address.messengerId))
      return this.#grant(chat, request, rate, key, isDurable);
    const retryAt = await this.#borrow(chat, request, key);
    if (retryAt !== undefined) {
      if (purpose !== "typing") chat.places.keep(key, rankOf(purpose), retryAt + PLACE_GRACE_MS);
      return { kind: "wait", retryAt, reason: "pacing" };
    }
    // While the root answered, other calls may have used up the chat's tokens or met a penalty.
    return this.#waits(chat, request, rate, key) ?? this.#grant(chat, request, rate, key, isDurable);
  }

  async penalize(address: Address, retryAfterMs: number, account?: string): Promise<void> {
    const now = this.#clock.now();
    const chat = this.#chat(address, undefined);
    chat.penalty = nextPenalty(chat.penalty, retryAfterMs, now);
    this.#store.writePenalty(address.messengerId, address.chatId, chat.penalty);
    chat.bucket.reset(1, chat.penalty.until);
    chat.places.holdUntil(chat.penalty.until);
    chat.right.holdUntil(chat.penalty.until);
    if (account === undefined) return;
    const { messengerId } = address;
    await this.#options.root.penalize({ messengerId, account, retryAfterMs });
  }

  report({ address, speaker, news }: ChatReport): Promise<void> {
    const chat = this.#chat(address, undefined);
    this.#hear(chat, speakerKey({ address, speaker }), news, this.#isRemote(speaker));
    return Promise.resolve();
  }

  noteCard(report: CardReport): Promise<void> {
    this.#cards.note(report);
    return Promise.resolve();
  }

  findCard(question: CardQuestion): Promise<CardOwner | undefined> {
    return Promise.resolve(this.#cards.find(question));
  }

  claimMessage(question: ClaimQuestion): Promise<CardClaim | undefined> {
    return Promise.resolve(this.#cards.claim(question));
  }

  async unclaimed({ address, speaker, news, afterId, landsBy }: LostPostQuestion): Promise<UnclaimedIds> {
    const chat = this.#chat(address, undefined);
    const key = speakerKey({ address, speaker });
    this.#hear(chat, key, news, this.#isRemote(speaker));
    const { messengerId, chatId } = address;
    const isShared = news.box !== chatId;
    await this.#tellRoot(chat, news.box);
    const seen = await this.#options.root.seenIds({
      messengerId,
      chatId,
      box: news.box,
      isShared,
      afterId,
      ...(landsBy !== undefined && { landsBy }),
    });
    const own = this.#options.local.sentIds(address, afterId);
    const taken = new Set([...seen.ids, ...own, ...chat.right.sentIds]);
    const newestId = Math.max(afterId, seen.newestId, news.newestId, chat.right.newestId, ...own);
    const postedUpTo = Math.max(newestId, seen.postedUpTo);
    const ids: number[] = [];
    const { endId, searches } = seen;
    const lastId = endId === undefined ? postedUpTo + searches + TAIL : endId - 1;
    for (let id = afterId + 1; id <= lastId && ids.length < MOST_IDS; id += 1) {
      if (!taken.has(id)) ids.push(id);
    }
    const isLocalBusy = this.#options.local.isInDoubt(address, this.#ownThread(address, speaker));
    const now = this.#clock.now();
    const isLocalUnresolved = this.#options.local.isUnresolved(address);
    const known = isLocalBusy ? "busy" : chat.right.claim(key, now);
    const claim = known === "certain" && isLocalUnresolved ? "uncertain" : known;
    const range = { ids, newestId, postedUpTo, searches, ...(endId !== undefined && { endId }) };
    if (claim === "busy") return { ...range, claim };
    const ticket = chat.right.give(key, news.startedAt, this.#isRemote(speaker), now);
    return {
      ...range,
      claim,
      right: { ticket, isShared: this.#hasOthers(chat, address, key, now) },
    };
  }

  /** Returns the reason why the call cannot be made now. The speaker keeps its place. */
  #waits(chat: Chat, request: CallRequest, rate: Rate, key: string): Grant | undefined {
    const { address, purpose, isPost = false } = request;
    const now = this.#clock.now();
    if (chat.penalty !== undefined && now < chat.penalty.until) {
      return { kind: "wait", retryAt: chat.penalty.until, reason: "penalty", next: this.#next(chat, rate) };
    }
    const spacing = spacingOf(chat.penalty, now);
    const needed = neededFor(purpose, rate);
    if (isPost && request.news !== undefined) {
      const heldUntil = chat.right.heldUntil(key, now) ?? this.#heldByOwn(address, request.speaker, now);
      if (heldUntil !== undefined) {
        // No place is kept, so that others do not wait behind a post that may not be made yet.
        const readyAt = chat.bucket.readyAt(now, needed, rate, spacing);
        const retryAt = Math.max(heldUntil, readyAt);
        return { kind: "wait", retryAt, reason: "post", next: this.#next(chat, rate) };
      }
    }
    if (purpose === "search" && chat.bucket.saved(now, rate, spacing) >= 1) return undefined;
    const rank = rankOf(purpose);
    const ahead = chat.places.ahead(key, rank, now);
    const readyAt = chat.bucket.readyAt(now, needed, rate, spacing, ahead);
    if (readyAt <= now) return undefined;
    if (purpose !== "typing") chat.places.keep(key, rank, readyAt + PLACE_GRACE_MS);
    return { kind: "wait", retryAt: readyAt, reason: "pacing", next: this.#next(chat, rate) };
  }

  /** Returns when the chat's own rate allows the next calls, if nobody makes one before. */
  #next({ bucket, penalty }: Chat, rate: Rate): NextCalls {
    const now = this.#clock.now();
    const spacing = spacingOf(penalty, now);
    const at = (purpose: keyof NextCalls): number =>
      Math.max(penalty?.until ?? 0, bucket.readyAt(now, neededFor(purpose, rate), rate, spacing));
    return { post: at("post"), edit: at("edit"), typing: at("typing") };
  }

  #heldByOwn(address: Address, speaker: string, now: number): number | undefined {
    const isHeld = this.#options.local.isInDoubt(address, this.#ownThread(address, speaker));
    return isHeld ? now + OWN_POST_MS : undefined;
  }

  /** The asking thread, if it belongs to this object; otherwise an empty string. */
  #ownThread({ threadId }: Address, speaker: string): string {
    return this.#isRemote(speaker) ? "" : threadId;
  }

  #grant(chat: Chat, request: CallRequest, rate: Rate, key: string, isDurable: boolean): Grant {
    const { address, news, purpose, isPost = false } = request;
    const now = this.#clock.now();
    const spacing = spacingOf(chat.penalty, now);
    if (purpose === "search" && chat.bucket.saved(now, rate, spacing) >= 1) chat.bucket.takeSaved();
    else chat.bucket.take(now, rate, spacing);
    if (purpose !== "typing") chat.places.leave(key);
    const newestId = Math.max(chat.newestId, chat.right.newestId);
    const known = { next: this.#next(chat, rate), ...(newestId > 0 && { newestId }) };
    if (!isPost || news === undefined) return { kind: "granted", ...known };
    const ticket = chat.right.give(key, news.startedAt, isDurable, now, request.landsWithinMs);
    return {
      kind: "granted",
      ...known,
      right: { ticket, isShared: this.#hasOthers(chat, address, key, now) },
    };
  }

  /** Asks the root to lend a call. Returns the time to ask again, in epoch milliseconds, if it has none to lend. */
  async #borrow(
    chat: Chat,
    { account, address, purpose, pacing, news, isPost = false, landsWithinMs = 0, messages = 1 }: CallRequest,
    key: string,
  ): Promise<number | undefined> {
    const { messengerId, chatId } = address;
    const ids = chat.untold;
    const sent = news === undefined ? undefined : { messengerId, box: news.box, chatId, ids };
    const isCounted = isPost && news !== undefined && news.box !== chatId;
    const loan = await this.#loans.borrow({
      messengerId,
      chatId,
      speaker: key,
      purpose,
      rate: pacing.global,
      ...(account !== undefined && { account }),
      ...(sent !== undefined && { sent }),
      ...(isCounted && { post: { messages, landsWithinMs } }),
    });
    if (sent !== undefined) this.#told(chat, ids);
    if (loan.kind === "wait") return loan.retryAt;
    chat.newestId = Math.max(chat.newestId, loan.newestId ?? 0);
    return undefined;
  }

  #hear(chat: Chat, key: string, news: ChatNews, isDurable: boolean): void {
    chat.right.hear(key, news, isDurable, this.#clock.now());
    chat.newestId = Math.max(chat.newestId, news.newestId, ...news.sentIds);
    // Only shared boxes matter to the root.
    if (news.box === chat.address.chatId || news.sentIds.length === 0) return;
    chat.untold = [...chat.untold, ...news.sentIds];
    chat.timer ??= this.#clock.setTimeout(() => {
      chat.timer = undefined;
      this.#tellRoot(chat, news.box).catch(() => {
        // The root cannot be reached. The next loan request takes the ids along.
      });
    }, TELL_ROOT_AFTER_MS);
  }

  /** Reports the chat's new ids, so that searches of other chats in the box skip them. */
  async #tellRoot(chat: Chat, box: string): Promise<void> {
    const ids = chat.untold;
    if (ids.length === 0) return;
    const { chatId, messengerId } = chat.address;
    await this.#options.root.tellSent({ messengerId, box, chatId, ids });
    this.#told(chat, ids);
  }

  #told(chat: Chat, ids: readonly number[]): void {
    chat.untold = chat.untold.filter((id) => !ids.includes(id));
    if (chat.untold.length > 0) return;
    this.#clock.clearTimeout(chat.timer);
    chat.timer = undefined;
  }

  #noteSpeaker(chat: Chat, key: string, isRemote: boolean): void {
    const now = this.#clock.now();
    chat.speakers.set(key, now);
    if (!isRemote || now - chat.notedUseAt < NOTE_USE_MS) return;
    this.#store.writeUse(chat.address.messengerId, chat.address.chatId, now);
    chat.notedUseAt = now;
  }

  #hasOthers({ speakers }: Chat, address: Address, key: string, now: number): boolean {
    for (const [other, at] of speakers) if (now - at > SPEAKS_FOR_MS) speakers.delete(other);
    // In a forum, another topic may post at any moment.
    return address.topicId !== undefined || [...speakers.keys()].some((other) => other !== key);
  }

  #isRemote(speaker: string): boolean {
    return speaker !== this.#options.name;
  }

  #chat(address: Address, rate: Rate | undefined): Chat {
    const { messengerId, chatId } = address;
    const chatKey = JSON.stringify([messengerId, chatId]);
    const now = this.#clock.now();
    const known = this.#chats.get(chatKey);
    if (known !== undefined) {
      known.usedAt = now;
      return known;
    }
    if (this.#chats.size >= MOST_CHATS) this.#forgetIdle(now);
    const stored = this.#store.read(messengerId, chatId);
    const chat: Chat = {
      address,
      bucket: this.#bucket(stored, rate),
      places: new Places(),
      right: new RightToPost({
        stored: stored.right,
        sentIds: stored.sentIds,
        startedAt: this.#startedAt,
        penaltyUntil: stored.penalty?.until ?? 0,
        write: (right, ids) => this.#store.writeRight(messengerId, chatId, right, ids),
      }),
      penalty: stored.penalty,
      usedAt: now,
      newestId: 0,
      untold: [],
      timer: undefined,
      notedUseAt: stored.usedAt ?? 0,
      speakers: new Map(),
    };
    this.#chats.set(chatKey, chat);
    return chat;
  }

  /** Creates the bucket after a start. Only the time of the last earlier call is known. */
  #bucket({ penalty, usedAt }: StoredChat, rate: Rate | undefined): TokenBucket {
    const startedAt = this.#startedAt;
    const bucket = new TokenBucket(FIRST_TOKENS, startedAt, SEARCH_CALLS);
    if (penalty !== undefined && startedAt < penalty.widenedUntil) {
      bucket.reset(1, Math.max(penalty.until, startedAt));
      return bucket;
    }
    if (rate === undefined) return bucket;
    const lastUsedAt = Math.max(
      usedAt === undefined ? -Infinity : usedAt + NOTE_USE_MS,
      this.#options.local.lastUsedAt() ?? -Infinity,
    );
    const isFull = startedAt - lastUsedAt >= rate.burst * rate.everyMs;
    return isFull ? new TokenBucket(rate.burst, startedAt, SEARCH_CALLS) : bucket;
  }

  /** Removes idle chats from memory. Their bucket is full again by now, whatever the rate; the rest is stored. */
  #forgetIdle(now: number): void {
    for (const [key, chat] of this.#chats) if (now - chat.usedAt > IDLE_MS) this.#chats.delete(key);
  }
}

/** While a post of the gate's own object is in doubt, others ask again after this time. */
const OWN_POST_MS = 500;

function speakerKey({ address, speaker }: Pick<CallRequest, "address" | "speaker">): string {
  return JSON.stringify([speaker, address.threadId]);
}

/** Returns the tokens that a call needs: its own, and those that must remain. */
function neededFor(purpose: CallRequest["purpose"], { burst }: Rate): number {
  return 1 + Math.min(RESERVES[purpose], Math.max(0, burst - 1));
}

function rankOf(purpose: CallRequest["purpose"]): 0 | 1 {
  return purpose === "edit" || purpose === "typing" ? 1 : 0;
}
