import type { Clock } from "../../src/core/deps.ts";
import type {
  CallPurpose,
  CardNews,
  ChatGate,
  ChatNews,
  Grant,
  NextCalls,
  PostRight,
  UnclaimedIds,
} from "../../src/core/gate.ts";
import type { Address, Probing, Surface } from "../../src/core/surface.ts";

/** What goes with no request is told by itself after this time. */
const TELL_AFTER_MS = 500;
/** Other conversations of the chat do not know of a penalty before its gate does. */
const TELL_PENALTY_EVERY_MS = 1_000;
const TELL_CARD_EVERY_MS = 5_000;

export interface GateClientOptions {
  readonly clock: Clock;
  /** The gate of a chat: an object of its own, or this one. */
  readonly gateOf: (address: Address) => ChatGate;
  /** The name of the object that speaks. */
  readonly speaker: string;
  /** Whether a message of this thread may exist of which the id is not known. */
  readonly isInDoubt: (address: Address) => boolean;
  /** Ids that an earlier process may not have told. Asked once for each thread. */
  readonly recentIds: (address: Address) => readonly number[];
}

/** What one thread has to tell its chat's gate. */
interface Voice {
  readonly address: Address;
  readonly box: string;
  newest: number;
  untold: readonly number[];
  ticket: number | undefined;
  /** The right was given, and it has not been told what became of the post. */
  isRightHeld: boolean;
  /** Nobody can find out what became of the last post, and the gate does not know yet. */
  isUnresolved: boolean;
  /** Others of the chat wait for that. */
  isShared: boolean;
  timer: unknown;
}

/**
 * The gates of the chats as one conversation asks them: before every call, and with what it has sent since.
 *
 * 1. What became of a post is told with the next question; if none follows at once, by itself: right away where others
 *    post into the chat, else after half a second.
 * 2. A penalty that the gate could not be told is kept here, and told again.
 * 3. Every answer says when the chat's rate allows the next calls. Before that the gate is not asked.
 */
export class GateClient {
  readonly #options: GateClientOptions;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #voices = new Map<string, Voice>();
  /** Cards whose gate has not heard the newest of them, by key. */
  readonly #untoldCards = new Map<string, CardNews>();
  /** Ends of penalties of which the gate has not been told yet, by chat. */
  readonly #untoldPenalties = new Map<string, number>();
  /** When the gate's last answer said that the next calls are possible, by chat. */
  readonly #next = new Map<string, NextCalls>();

  constructor(options: GateClientOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#startedAt = options.clock.now();
  }

  /** `landsWithinMs`, for a post: how long it may take before it cannot land any more. */
  async acquire(
    address: Address,
    purpose: CallPurpose,
    surface: Surface,
    landsWithinMs?: number,
    card?: CardNews,
  ): Promise<Grant> {
    const isPost = landsWithinMs !== undefined;
    const { pacing, probing } = surface;
    const now = this.#clock.now();
    const key = chatKey(address);
    const penaltyUntil = this.#untoldPenalties.get(key) ?? 0;
    if (penaltyUntil > now) return { kind: "wait", retryAt: penaltyUntil, reason: "penalty" };
    const nextAt = this.#nextAt(key, purpose);
    if (nextAt > now) return { kind: "wait", retryAt: nextAt, reason: "pacing" };
    const { speaker } = this.#options;
    const gate = this.#options.gateOf(address);
    const request = { address, purpose, pacing, speaker, isPost, ...(card !== undefined && { card }) };
    if (probing === undefined) return this.#noteNext(key, await gate.acquire(request));
    const voice = this.#voice(address, probing);
    const news = this.#newsOf(voice);
    this.#clearTimer(voice);
    let grant: Grant;
    try {
      grant = await gate.acquire({
        ...request,
        news,
        ...(landsWithinMs !== undefined && { landsWithinMs }),
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

  /** Rejects when the gate cannot be told; this conversation keeps to the penalty all the same, and tells it later. */
  async penalize(address: Address, retryAfterMs: number): Promise<void> {
    const key = chatKey(address);
    const until = Math.max(this.#untoldPenalties.get(key) ?? 0, this.#clock.now() + retryAfterMs);
    this.#untoldPenalties.set(key, until);
    await this.#tellPenalty(address, until);
  }

  /** A message of this thread was posted, and is stored. */
  sent(address: Address, surface: Surface, messageId: string): void {
    const id = Number(messageId);
    if (surface.probing === undefined || !Number.isSafeInteger(id)) return;
    const voice = this.#voice(address, surface.probing);
    voice.newest = Math.max(voice.newest, id);
    voice.untold = [...voice.untold, id];
    this.#tellSoon(voice);
  }

  /**
   * A card's messages are stored. The gate is told until it has heard it, as long as this process lives; later the next
   * call for the card tells it.
   */
  async cardSent(address: Address, card: CardNews): Promise<void> {
    const { gateOf, speaker } = this.#options;
    this.#untoldCards.set(card.key, card);
    try {
      await gateOf(address).noteCard({ address, speaker, card });
      if (this.#untoldCards.get(card.key) === card) this.#untoldCards.delete(card.key);
    } catch {
      // The gate cannot be reached: it is told a moment later, unless there is newer news by then.
      const again = (): void => {
        if (this.#untoldCards.get(card.key) === card) void this.cardSent(address, card);
      };
      this.#clock.setTimeout(again, TELL_CARD_EVERY_MS);
    }
  }

  /** A post was certainly not made: others need not wait for it. */
  notSent(address: Address, surface: Surface): void {
    if (surface.probing === undefined) return;
    this.#tellSoon(this.#voice(address, surface.probing));
  }

  /** Nobody can find out what became of a post: others need not wait for it, and may not take its message for theirs. */
  unresolved(address: Address, surface: Surface): void {
    if (surface.probing === undefined) return;
    const voice = this.#voice(address, surface.probing);
    voice.isUnresolved = true;
    this.#tellSoon(voice);
  }

  /** A message of the box that this conversation knows of: its own, or one that it was sent. */
  knows(address: Address, surface: Surface, messageId: string): void {
    const id = Number(messageId);
    if (surface.probing === undefined || !Number.isSafeInteger(id)) return;
    const voice = this.#voice(address, surface.probing);
    voice.newest = Math.max(voice.newest, id);
  }

  /** The newest id of the address's box that is known here; `0` when none is. */
  newestId(address: Address, surface: Surface): number {
    return surface.probing === undefined ? 0 : this.#voice(address, surface.probing).newest;
  }

  /** The ids that may be a lost message. */
  async unclaimed(address: Address, probing: Probing, afterId: number): Promise<UnclaimedIds> {
    const voice = this.#voice(address, probing);
    const news = this.#newsOf(voice);
    const { gateOf, speaker } = this.#options;
    const answer = await gateOf(address).unclaimed({ address, speaker, news, afterId });
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
      await this.#options.gateOf(address).penalize(address, leftMs);
      if (this.#untoldPenalties.get(key) === until) this.#untoldPenalties.delete(key);
    } catch (error) {
      const again = (): void => {
        this.#tellPenalty(address, until).catch(() => {
          // The gate cannot be reached yet; it is told with the next try.
        });
      };
      this.#clock.setTimeout(again, Math.min(leftMs, TELL_PENALTY_EVERY_MS));
      throw error;
    }
  }

  #hold(voice: Voice, { ticket, isShared }: PostRight): void {
    // Answers may overtake each other.
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

  /** Where others wait for it, right after what this conversation does at this moment: it may ask the next question. */
  #tellSoon(voice: Voice): void {
    const delayMs = voice.isShared ? 0 : TELL_AFTER_MS;
    voice.timer ??= this.#clock.setTimeout(() => void this.#tell(voice), delayMs);
  }

  async #tell(voice: Voice): Promise<void> {
    voice.timer = undefined;
    if (!hasNews(voice)) return;
    const news = this.#newsOf(voice);
    const { address } = voice;
    try {
      await this.#options.gateOf(address).report({ address, speaker: this.#options.speaker, news });
      this.#told(voice, news);
    } catch {
      // The gate cannot be reached: it is told with the next question, and holds nobody for long.
      this.#clearTimer(voice);
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
    // A right that was given since is another one.
    if (!isInDoubt && ticket === voice.ticket) {
      voice.isRightHeld = false;
      if (isUnresolved === true) voice.isUnresolved = false;
    }
    if (voice.untold.length === 0 && !voice.isRightHeld) this.#clearTimer(voice);
  }

  #clearTimer(voice: Voice): void {
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
      isUnresolved: false,
      isShared: false,
      timer: undefined,
    };
    this.#voices.set(key, voice);
    return voice;
  }
}

function hasNews({ isRightHeld, untold }: Voice): boolean {
  return isRightHeld || untold.length > 0;
}

function chatKey({ messengerId, chatId }: Address): string {
  return JSON.stringify([messengerId, chatId]);
}
