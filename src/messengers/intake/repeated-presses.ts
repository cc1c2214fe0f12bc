import type { Clock } from "../../core/base/deps.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { StoredCard } from "../replies/card-store.ts";

/** A second tap arrives within this time, also if the platform had to deliver it again. */
const REPEATED_WITHIN_MS = 60_000;

/**
 * Recognizes the second tap of a person on a button that the first one has replaced. It is remembered in memory only:
 * after a restart such a tap is told that the button is no longer in use.
 */
export class RepeatedPresses {
  readonly #clock: Clock;
  /** Times of presses whose handler runs or has replaced the button, by button and person. */
  readonly #pressedAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes a press whose handler begins. */
  begin(card: StoredCard, event: MessengerEvent): void {
    const key = keyOf(card, event);
    if (key === undefined) return;
    const now = this.#clock.now();
    for (const [other, at] of this.#pressedAt) {
      if (now - at >= REPEATED_WITHIN_MS) this.#pressedAt.delete(other);
    }
    this.#pressedAt.set(key, now);
  }

  /** Forgets a press whose handler has failed, or has left the button as it was. */
  forget(card: StoredCard, event: MessengerEvent): void {
    this.#pressedAt.delete(keyOf(card, event) ?? "");
  }

  /** Whether a press of a button that is gone repeats the one that has replaced it. */
  has(card: StoredCard, event: MessengerEvent): boolean {
    const at = this.#pressedAt.get(keyOf(card, event) ?? "");
    return at !== undefined && this.#clock.now() - at < REPEATED_WITHIN_MS;
  }
}

/** Undefined for a number that was written, and for an unknown person. */
function keyOf(card: StoredCard, { action, author }: MessengerEvent): string | undefined {
  if (action === undefined || author === undefined) return undefined;
  return JSON.stringify([card.id, action.data, author.userId]);
}
