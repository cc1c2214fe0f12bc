import type { Delivery } from "../../core/chat/delivery.ts";
import { failureCode } from "../../core/base/errors.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { IncomingEvent } from "../../core/chat/messenger.ts";
import type { Arrival } from "../../inbox/arrivals.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { Intake } from "../intake/intake.ts";
import { currentThread } from "../replies/current-place.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import type { ThreadRuntimeOptions } from "./thread-runtime-options.ts";
import type { ThreadLoop } from "./thread-loop.ts";

interface EventReceptionParts extends ThreadRuntimeOptions {
  readonly inbox: InboxStore;
  readonly intake: Intake;
  readonly delivery: Delivery;
  readonly memory: ThreadMemory;
  readonly loop: ThreadLoop;
}

/** Most rounds of promises to wait. Work that does not leave the object settles within them. */
const ROUNDS = 64;

/**
 * Stores the arriving events of a conversation. `Intake` decides about them: in the same commit if that needs no other
 * object, and in the loop otherwise.
 *
 * 1. `receive` resolves only after its events are stored, and a wake-up is set if work is left (I1).
 * 2. An event is stored under the key that it keeps when it is delivered again (I2).
 * 3. An event is stored with the current address of its chat, which may have moved.
 */
export class EventReception {
  readonly #options: EventReceptionParts;

  constructor(options: EventReceptionParts) {
    this.#options = options;
  }

  /**
   * Stores events. When this resolves, nothing is left to do (`false`), or a wake-up is set and the caller must run the
   * loop (I1).
   */
  async receive(messengerId: string, events: readonly IncomingEvent[]): Promise<boolean> {
    const { deps, intake, log, loop } = this.#options;
    const now = deps.clock.now();
    const arrivals: (Arrival | undefined)[] = [];
    for (const arrived of events) {
      const event = this.#editOrNew(messengerId, this.#atCurrentPlace(messengerId, arrived), now);
      if (await this.#passOver(messengerId, event, now)) continue;
      arrivals.push(this.#store(messengerId, event, now));
    }
    if (arrivals.some((arrival) => arrival?.outcome === "open") && loop.isFree()) {
      const reading = intake.run();
      reading.catch((error: unknown) => log.error("thread.failed", { code: failureCode(error) }));
      await atOnce(reading);
    }
    // A known event may come from a process that died before it could set a wake-up.
    const isWorkLeft = arrivals.some((arrival) => arrival?.outcome !== "passed-over");
    if (isWorkLeft) loop.expect();
    return isWorkLeft;
  }

  /**
   * Turns an edit of an unseen message into a new message. The edit's own key is stored first, so a redelivery finds
   * both keys and does not count as an edit of itself (I2).
   */
  #editOrNew(messengerId: string, { ifUnseen, ...event }: IncomingEvent, now: number): IncomingEvent {
    const { inbox } = this.#options;
    if (ifUnseen === undefined || inbox.isKnown(messengerId, ifUnseen.key)) return event;
    inbox.insertEnded(messengerId, event, now, "taken as a new message");
    return { ...event, ...ifUnseen };
  }

  /** Stores the move that an event reports, and returns the event with its new address. */
  #atCurrentPlace(messengerId: string, event: IncomingEvent): IncomingEvent {
    const { delivery, memory } = this.#options;
    const { move } = event;
    if (move !== undefined) {
      delivery.move(messengerId, move);
      // The event got the move from the root, so the root knows it.
      memory.forgetUntold({ kind: "moved", messengerId, move });
    }
    return { ...event, thread: currentThread(delivery, messengerId, event.thread) };
  }

  /**
   * Ignores an event that is certainly not for the bot, with one write that stores it as done. Most messages of a group
   * are like this.
   */
  async #passOver(messengerId: string, event: IncomingEvent, now: number): Promise<boolean> {
    const { inbox, intake, loop } = this.#options;
    if (event.thread.isDirectMessage || !loop.isFree()) return false;
    const glance = await atOnce(intake.glance(messengerId, event));
    if (glance === undefined) return false;
    if (!inbox.insertEnded(messengerId, event, now, glance.outcome)) return false;
    intake.passOver(glance.event, glance.outcome);
    return true;
  }

  #store(messengerId: string, event: IncomingEvent, now: number): Arrival | undefined {
    const { delivery, inbox, intake, log } = this.#options;
    const row = inbox.insert(messengerId, event, now);
    if (row !== undefined) {
      if (event.placeholder !== undefined) delivery.expectAnswer(messengerId, event.placeholder, row.seq);
      return intake.add(row);
    }
    log.info("inbox.event", { ...eventFields(messengerId, event), outcome: "known already" });
    return undefined;
  }
}

/**
 * Waits for work that settles before any other event of the object can run. Returns undefined if it takes longer or
 * fails.
 */
async function atOnce<T>(work: Promise<T>): Promise<T | undefined> {
  const state: { isSettled: boolean; outcome: T | undefined } = { isSettled: false, outcome: undefined };
  work.then(
    (outcome) => Object.assign(state, { isSettled: true, outcome }),
    () => Object.assign(state, { isSettled: true }),
  );
  for (let round = 0; round < ROUNDS && !state.isSettled; round += 1) await Promise.resolve();
  return state.outcome;
}
