import type { Clock } from "../../src/core/base/deps.ts";
import type {
  CallPurpose,
  CardNews,
  GatesOfChats,
  ChatNews,
  Grant,
  LostPostQuestion,
  NextCalls,
  PostRight,
  UnclaimedIds,
} from "../../src/core/chat/gate.ts";
import type { Address, Probing, Surface } from "../../src/core/chat/surface.ts";
import { ONLY_ACCOUNT } from "./account-penalties.ts";

/** News that no request has taken along is reported after this time. */
const TELL_AFTER_MS = 500;
/**
 * A penalty that could not be reported is reported again this often. Until then other conversations do not know of it.
 */
const TELL_PENALTY_EVERY_MS = 1_000;
const TELL_CARD_EVERY_MS = 5_000;

export interface GateClientOptions {
  readonly clock: Clock;
  readonly gates: GatesOfChats;
  /** True if this thread may have sent a message whose id it does not know. */
  readonly isInDoubt: (address: Address) => boolean;
  /** True if the outcome of a post of this thread cannot be found out. Called once for each thread. */
  readonly isUnresolved: (address: Address) => boolean;
  /** Ids that an earlier process may not have reported. Called once for each thread. */
  readonly recentIds: (address: Address) => readonly number[];
}

/** News of one thread that its chat's gate does not know yet. */
interface Voice {
  readonly address: Address;
  readonly box: string;
  newest: number;
  untold: readonly number[];
  ticket: number | undefined;
  /** True if this thread holds the right to post, and the gate does not know the outcome of the post yet. */
  isRightHeld: boolean;
  /** True if the outcome of the last post cannot be found out, and the gate does not know that yet. */
  isUnresolved: boolean;
  /** True if other conversations of the chat wait for the outcome. */
  isShared: boolean;
  timer: unknown;
}

/**
 * A conversation's way to the gates of its chats. It asks before every call, and reports the messages that the
 * conversation has sent. It decides nothing itself: rates, penalties and rights are the gate's.
 *
 * 1. The outcome of a post is sent with the next request. If none follows, it is reported after half a second, or right
 *    away if others post into the chat. It is reported before another thread of this conversation asks for a post.
 * 2. A penalty that could not be reported is kept here. This conversation obeys it, and reports it again until the gate
 *    knows it.
 * 3. Every answer of the gate says when the chat's rate allows the next calls. Before that the gate is not asked.
 */
export class GateClient {
  readonly #options: GateClientOptions;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #voices = new Map<string, Voice>();
  /** The newest state of cards that was not reported to their gate yet, by key. */
  readonly #untoldCards = new Map<string, CardNews>();
  /** Ends of penalties that the gates do not know yet, by chat, in epoch milliseconds. */
  readonly #untoldPenalties = new Map<string, number>();
  /** Accounts of chats, from the newest request of each. */
  readonly #accounts = new Map<string, string>();
  /** Chats whose penalty is one of the account, and is not reported yet. */
  readonly #refusedAccounts = new Set<string>();
  /** Times of the next possible calls, from the gate's last answer, by chat. */
  readonly #next = new Map<string, NextCalls>();
  /** Threads whose news is reported right after the current work, unless a request takes it along. */
  readonly #aboutToTell = new Set<Voice>();

  constructor(options: GateClientOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#startedAt = options.clock.now();
  }

  /**
   * Asks for one call. For a post, `landsWithinMs` is the time after which it cannot land any more, and `messages` is
   * the number of messages that it makes.
   */
  async acquire(
    address: Address,
    purpose: CallPurpose,
    surface: Surface,
    landsWithinMs?: number,
    card?: CardNews,
    messages = 1,
  ): Promise<Grant> {
    const isPost = landsWithinMs !== undefined;
    const { accountOf, pacing, probing } = surface;
    const key = chatKey(address);
    const account = accountOf === undefined ? undefined : await accountOf(address);
    if (account !== undefined) this.#accounts.set(key, account);
    const now = this.#clock.now();
    const penaltyUntil = this.#untoldPenalties.get(key) ?? 0;
    if (penaltyUntil > now) return { kind: "wait", retryAt: penaltyUntil, reason: "penalty" };
    const nextAt = this.#nextAt(key, purpose);
    if (nextAt > now) return { kind: "wait", retryAt: nextAt, reason: "pacing" };
    const { gates } = this.#options;
    const { speaker } = gates;
    const gate = gates.gateOf(address);
    const request = {
      address,
      purpose,
      pacing,
      speaker,
      isPost,
      ...(card !== undefined && { card }),
      ...(account !== undefined && { account }),
    };
    if (probing === undefined) return this.#noteNext(key, await gate.acquire(request));
    const voice = this.#voice(address, probing);
    const news = this.#newsOf(voice);
    this.#clearTimer(voice);
    // The right to post may be free again in another thread of this object, and the gate may not know it yet.
    if (isPost) this.#tellOthers(voice);
    let grant: Grant;
    try {
      grant = await gate.acquire({
        ...request,
        news,
        ...(landsWithinMs !== undefined && { landsWithinMs, messages }),
      });
    } catch (error) {
      if (hasNews(voice)) this.#tellSoon(voice);
      throw error;
    }
    this.#noteNext(key, grant);
    this.#told(voice, news);
    if (grant.kind === "wait") return grant;
    voice.newest = Math.max(voice.newest, grant.newestId ?? 0);
    if (grant.right !== undefined) this.#hold(voice, grant.right);
    return grant;
  }

  /**
   * Reports a penalty. If the gate cannot be reached it rejects, but this conversation still obeys the penalty and
   * reports it later.
   *
   * @param isOfAccount whether it holds for all chats of the account, also where each chat has its own limit
   */
  async penalize(address: Address, retryAfterMs: number, isOfAccount = false): Promise<void> {
    const key = chatKey(address);
    if (isOfAccount) this.#refusedAccounts.add(key);
    const until = Math.max(this.#untoldPenalties.get(key) ?? 0, this.#clock.now() + retryAfterMs);
    this.#untoldPenalties.set(key, until);
    await this.#tellPenalty(address, until);
  }

  /** Notes that a message of this thread was posted and is stored. */
  sent(address: Address, surface: Surface, messageId: string): void {
    const id = Number(messageId);
    if (surface.probing === undefined || !Number.isSafeInteger(id)) return;
    const voice = this.#voice(address, surface.probing);
    voice.newest = Math.max(voice.newest, id);
    voice.untold = [...voice.untold, id];
    this.#tellSoon(voice);
  }

  /**
   * Reports a card whose messages are stored. Repeats the report until the gate has it, as long as this process lives.
   * After that, the next call for the card carries it.
   */
  async cardSent(address: Address, card: CardNews): Promise<void> {
    const { gates } = this.#options;
    this.#untoldCards.set(card.key, card);
    try {
      await gates.gateOf(address).noteCard({ address, speaker: gates.speaker, card });
      if (this.#untoldCards.get(card.key) === card) this.#untoldCards.delete(card.key);
    } catch {
      // The gate cannot be reached. The report is repeated a moment later, unless there is a newer one.
      const again = (): void => {
        if (this.#untoldCards.get(card.key) === card) void this.cardSent(address, card);
      };
      this.#clock.setTimeout(again, TELL_CARD_EVERY_MS);
    }
  }

  /** Notes that a post was certainly not made, so others need not wait for it. */
  notSent(address: Address, surface: Surface): void {
    if (surface.probing === undefined) return;
    this.#tellSoon(this.#voice(address, surface.probing));
  }

  /**
   * Notes that the outcome of a post cannot be found out. Others need not wait for it, but must not take its message
   * for theirs.
   */
  unresolved(address: Address, surface: Surface): void {
    if (surface.probing === undefined) return;
    const voice = this.#voice(address, surface.probing);
    voice.isUnresolved = true;
    this.#tellSoon(voice);
  }

  /** Notes the id of a message in the chat's box, sent or received by this conversation. */
  knows(address: Address, surface: Surface, messageId: string): void {
    const id = Number(messageId);
    if (surface.probing === undefined || !Number.isSafeInteger(id)) return;
    const voice = this.#voice(address, surface.probing);
    voice.newest = Math.max(voice.newest, id);
  }

  /** Returns the newest known id of the address's box, or 0. */
  newestId(address: Address, surface: Surface): number {
    return surface.probing === undefined ? 0 : this.#voice(address, surface.probing).newest;
  }

  /** Returns the ids that may be a lost message. */
  async unclaimed(
    address: Address,
    probing: Probing,
    { afterId, landsBy }: Pick<LostPostQuestion, "afterId" | "landsBy">,
  ): Promise<UnclaimedIds> {
    const voice = this.#voice(address, probing);
    const news = this.#newsOf(voice);
    const { gates } = this.#options;
    const question = { afterId, ...(landsBy !== undefined && { landsBy }) };
    const answer = await gates
      .gateOf(address)
      .unclaimed({ address, speaker: gates.speaker, news, ...question });
    this.#told(voice, news);
    if (answer.right !== undefined) this.#hold(voice, answer.right);
    return answer;
  }

  async #tellPenalty(address: Address, until: number): Promise<void> {
    const key = chatKey(address);
    if (this.#untoldPenalties.get(key) !== until) return;
    const leftMs = until - this.#clock.now();
    if (leftMs <= 0) {
      this.#untoldPenalties.delete(key);
      return;
    }
    try {
      const account = this.#accounts.get(key) ?? (this.#refusedAccounts.has(key) ? ONLY_ACCOUNT : undefined);
      await this.#options.gates.gateOf(address).penalize(address, leftMs, account);
      if (this.#untoldPenalties.get(key) !== until) return;
      this.#untoldPenalties.delete(key);
      this.#refusedAccounts.delete(key);
    } catch (error) {
      const again = (): void => {
        this.#tellPenalty(address, until).catch(() => {
          // The gate cannot be reached yet. The next try follows.
        });
      };
      this.#clock.setTimeout(again, Math.min(leftMs, TELL_PENALTY_EVERY_MS));
      throw error;
    }
  }

  #hold(voice: Voice, { ticket, isShared }: PostRight): void {
    // Answers may arrive out of order.
    if (ticket < (voice.ticket ?? 0)) return;
    voice.ticket = ticket;
    voice.isShared = isShared;
    voice.isRightHeld = true;
  }

  #nextAt(key: string, purpose: CallPurpose): number {
    if (purpose === "answer" || purpose === "search") return 0;
    return this.#next.get(key)?.[purpose === "final" ? "post" : purpose] ?? 0;
  }

  #noteNext(key: string, grant: Grant): Grant {
    if (grant.next !== undefined) this.#next.set(key, grant.next);
    return grant;
  }

  /**
   * Reports news. If others wait for it, it is reported right after the conversation's current work, because that may
   * send the next request.
   */
  #tellSoon(voice: Voice): void {
    const delayMs = voice.isShared ? 0 : TELL_AFTER_MS;
    if (voice.isShared) this.#aboutToTell.add(voice);
    voice.timer ??= this.#clock.setTimeout(() => void this.#tell(voice), delayMs);
  }

  #tellOthers({ address }: Voice): void {
    for (const other of this.#aboutToTell) {
      if (chatKey(other.address) === chatKey(address)) void this.#tell(other);
    }
  }

  async #tell(voice: Voice): Promise<void> {
    this.#clearTimer(voice);
    if (!hasNews(voice)) return;
    const news = this.#newsOf(voice);
    const { address } = voice;
    const { gates } = this.#options;
    try {
      await gates.gateOf(address).report({ address, speaker: gates.speaker, news });
      this.#told(voice, news);
    } catch {
      // The gate cannot be reached. The next request takes the news along, and the gate holds nobody for long.
    }
  }

  #newsOf({ address, box, newest, untold, ticket, isUnresolved }: Voice): ChatNews {
    const isInDoubt = this.#options.isInDoubt(address);
    return {
      box,
      newestId: newest,
      sentIds: untold,
      startedAt: this.#startedAt,
      isInDoubt,
      isUnresolved,
      ...(ticket !== undefined && { ticket }),
    };
  }

  #told(voice: Voice, { sentIds, isInDoubt, isUnresolved, ticket }: ChatNews): void {
    voice.untold = voice.untold.filter((id) => !sentIds.includes(id));
    // A right given in the meantime is a different one and stays.
    if (!isInDoubt && ticket === voice.ticket) {
      voice.isRightHeld = false;
      if (isUnresolved === true) voice.isUnresolved = false;
    }
    if (voice.untold.length === 0 && !voice.isRightHeld) this.#clearTimer(voice);
  }

  #clearTimer(voice: Voice): void {
    this.#aboutToTell.delete(voice);
    this.#clock.clearTimeout(voice.timer);
    voice.timer = undefined;
  }

  #voice(address: Address, probing: Probing): Voice {
    const box = probing.box(address);
    const key = JSON.stringify([address.messengerId, box, address.threadId]);
    const known = this.#voices.get(key);
    if (known !== undefined) return known;
    const untold = this.#options.recentIds(address);
    const voice: Voice = {
      address,
      box,
      newest: Math.max(0, ...untold),
      untold,
      ticket: undefined,
      isRightHeld: false,
      isUnresolved: this.#options.isUnresolved(address),
      isShared: false,
      timer: undefined,
    };
    this.#voices.set(key, voice);
    return voice;
  }
}

function hasNews({ isRightHeld, isUnresolved, untold }: Voice): boolean {
  return isRightHeld || isUnresolved || untold.length > 0;
}

function chatKey({ messengerId, chatId }: Address): string {
  return JSON.stringify([messengerId, chatId]);
}
