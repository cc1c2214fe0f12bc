import type { Budget, CallPurpose, Grant, IdRange, Lease, UnseenIds } from "../src/core/budget.ts";
import type { Deps } from "../src/core/deps.ts";
import type { Address, Probing, Surface } from "../src/core/surface.ts";
import { isOnlyThread } from "./landing.ts";
import { idsBetween } from "./message-boxes.ts";

/** An id that goes with no request is told by itself after this time. */
const TELL_AFTER_MS = 500;
/** The other threads of the chat do not know of a penalty before the root does. */
const TELL_PENALTY_EVERY_MS = 1_000;
/** Ids known of one box: the newest, which are those that a lost message may stand between. */
const MEMORY = 200;

interface Box {
  readonly address: Address;
  readonly messengerId: string;
  readonly name: string;
  newest: number;
  known: readonly number[];
  /** Sent, and not told to the root. */
  untold: readonly number[];
  /** Others of the chat wait for the id of a post. */
  tellsAtOnce: boolean;
  timer: unknown;
}

/**
 * The root's budget as one thread uses it: spends its leases before it asks again, and tells the root which messages it
 * has sent, with the next request or soon by itself.
 */
export class ThreadBudget {
  readonly #root: Budget;
  readonly #speaker: string | undefined;
  readonly #clock: Deps["clock"];
  /** By chat. */
  readonly #leases = new Map<string, Lease>();
  readonly #boxes = new Map<string, Box>();
  /** Ends of penalties of which the root has not been told yet, by chat. */
  readonly #untoldPenalties = new Map<string, number>();

  /** `speaker` names the object that speaks. @default the address's thread */
  constructor(root: Budget, { clock }: Pick<Deps, "clock">, speaker?: string) {
    this.#root = root;
    this.#speaker = speaker;
    this.#clock = clock;
  }

  /**
   * A post on a surface that can be probed always asks the root: it must be known there that a message may exist whose
   * id nobody has been told.
   */
  async acquire(address: Address, purpose: CallPurpose, surface: Surface, isPost = false): Promise<Grant> {
    const { pacing, probing } = surface;
    const penaltyUntil = this.#untoldPenalties.get(chatKey(address)) ?? 0;
    if (penaltyUntil > this.#clock.now()) return { kind: "wait", retryAt: penaltyUntil, reason: "penalty" };
    if (!(isPost && probing !== undefined) && this.#spend(address)) return { kind: "granted" };
    if (probing === undefined) {
      const grant = await this.#root.acquire(this.#asSpeaker(address), purpose, pacing, { takesLease: true });
      return this.#keep(address, grant);
    }
    const box = this.#box(address, probing);
    const sentIds = box.untold;
    const news = { box: box.name, isPost, sentIds };
    const request = { takesLease: true, news };
    const grant = await this.#root.acquire(this.#asSpeaker(address), purpose, pacing, request);
    // With a refused request the ids may have been told or not: telling them again does no harm.
    this.#told(box, sentIds);
    if (grant.kind === "granted") {
      box.newest = Math.max(box.newest, grant.newestId ?? 0);
      if (isPost) box.tellsAtOnce = grant.tellsAtOnce === true;
    }
    return this.#keep(address, grant);
  }

  /** Rejects when the root cannot be told; this thread keeps to the penalty all the same, and tells it later. */
  async penalize(address: Address, retryAfterMs: number): Promise<void> {
    const key = chatKey(address);
    this.#leases.delete(key);
    const until = Math.max(this.#untoldPenalties.get(key) ?? 0, this.#clock.now() + retryAfterMs);
    this.#untoldPenalties.set(key, until);
    await this.#tellPenalty(address, until);
  }

  async #tellPenalty(address: Address, until: number): Promise<void> {
    const key = chatKey(address);
    const leftMs = until - this.#clock.now();
    if (this.#untoldPenalties.get(key) !== until) return;
    if (leftMs <= 0) {
      this.#untoldPenalties.delete(key);
      return;
    }
    try {
      await this.#root.penalize(address, leftMs);
      if (this.#untoldPenalties.get(key) === until) this.#untoldPenalties.delete(key);
    } catch (error) {
      const again = (): void => {
        this.#tellPenalty(address, until).catch(() => {
          // The root cannot be reached yet; it is told with the next try.
        });
      };
      this.#clock.setTimeout(again, Math.min(leftMs, TELL_PENALTY_EVERY_MS));
      throw error;
    }
  }

  /** A message of this thread was posted, and is stored: nobody looks for an id that the root has been told. */
  sent(address: Address, surface: Surface, messageId: string): void {
    const id = Number(messageId);
    if (surface.probing === undefined || !Number.isSafeInteger(id)) return;
    const box = this.#box(address, surface.probing);
    this.#know(box, id);
    if (this.#root.boxes === undefined) return;
    box.untold = [...box.untold, id];
    if (box.tellsAtOnce) void this.#tell(box);
    else box.timer ??= this.#clock.setTimeout(() => void this.#tell(box), TELL_AFTER_MS);
  }

  /** A post was certainly not made: a thread that comes to the chat meanwhile need not wait for it. */
  notSent(address: Address, surface: Surface): void {
    if (surface.probing === undefined || isOnlyThread(address)) return;
    void this.#tell(this.#box(address, surface.probing), true);
  }

  /** A message of the box that this thread knows of: its own, or one that it was sent. */
  knows(address: Address, surface: Surface, messageId: string): void {
    const id = Number(messageId);
    if (surface.probing === undefined || !Number.isSafeInteger(id)) return;
    this.#know(this.#box(address, surface.probing), id);
  }

  /** The newest id of the address's box that is known here; `0` when none is. */
  newestId(address: Address, surface: Surface): number {
    return surface.probing === undefined ? 0 : this.#box(address, surface.probing).newest;
  }

  /** The ids of a range that may hold a lost message. */
  async unseen(address: Address, probing: Probing, range: IdRange): Promise<UnseenIds> {
    const box = this.#box(address, probing);
    const isKnown = new Set(box.known);
    if (this.#root.boxes === undefined) {
      return { ...idsBetween(range, box.newest, (id) => isKnown.has(id)), others: "unknown" };
    }
    await this.#tell(box);
    // A root that was started since may know fewer: then the ids that it adds at the end would be those of this thread.
    if (box.newest > 0) await this.#root.boxes.observe(box.messengerId, box.name, [box.newest]);
    const found = await this.#root.boxes.unseen(this.#asSpeaker(address), box.name, range);
    return { ...found, ids: found.ids.filter((id) => !isKnown.has(id)) };
  }

  async #tell(box: Box, isNone = false): Promise<void> {
    const { untold } = box;
    if (untold.length === 0 && !isNone) return;
    try {
      await this.#root.boxes?.observe(box.messengerId, box.name, untold, this.#asSpeaker(box.address));
      this.#told(box, untold);
    } catch {
      // The root cannot be reached: they go with the next request, and nobody is held for long.
      this.#clock.clearTimeout(box.timer);
      box.timer = undefined;
    }
  }

  #told(box: Box, ids: readonly number[]): void {
    box.untold = box.untold.filter((id) => !ids.includes(id));
    if (box.untold.length > 0) return;
    this.#clock.clearTimeout(box.timer);
    box.timer = undefined;
  }

  /** The root tells speakers apart: one object may speak in several threads, and several in one. */
  #asSpeaker(address: Address): Address {
    return this.#speaker === undefined ? address : { ...address, threadId: this.#speaker };
  }

  #spend(address: Address): boolean {
    const key = chatKey(address);
    const lease = this.#leases.get(key);
    if (lease === undefined) return false;
    const isGood = this.#clock.now() < lease.until;
    if (!isGood || lease.slots === 1) this.#leases.delete(key);
    else this.#leases.set(key, { ...lease, slots: lease.slots - 1 });
    return isGood;
  }

  #keep(address: Address, grant: Grant): Grant {
    if (grant.kind === "granted" && grant.lease !== undefined) {
      this.#leases.set(chatKey(address), grant.lease);
    }
    return grant;
  }

  #know(box: Box, id: number): void {
    box.newest = Math.max(box.newest, id);
    box.known = [...box.known.slice(1 - MEMORY), id];
  }

  #box(address: Address, probing: Probing): Box {
    const name = probing.box(address);
    const key = JSON.stringify([address.messengerId, name, address.threadId]);
    const known = this.#boxes.get(key);
    if (known !== undefined) return known;
    const { messengerId } = address;
    const box: Box = {
      address,
      messengerId,
      name,
      newest: 0,
      known: [],
      untold: [],
      tellsAtOnce: false,
      timer: undefined,
    };
    this.#boxes.set(key, box);
    return box;
  }
}

function chatKey({ messengerId, chatId }: Address): string {
  return JSON.stringify([messengerId, chatId]);
}
