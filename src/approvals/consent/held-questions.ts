import type { Clock } from "../../core/base/deps.ts";
import type { Approval } from "../rules/approval.ts";

/** Other calls of the step may take long. People are asked after this time at the latest. */
const MOST_HELD_MS = 2_000;

/**
 * New questions of a step that is not over: the next call of the step may ask people, too, and then one card asks about
 * both. Only this process knows them. After a crash they are shown as they are stored.
 */
export class HeldQuestions {
  readonly #clock: Clock;
  readonly #held = new Map<string, { readonly requestId: string; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hold({ id, requestId }: Approval): void {
    this.#held.set(id, { requestId, since: this.#clock.now() });
  }

  /** Ends the waiting for more questions of a turn's step. Returns whether there were some. */
  release(requestId: string): boolean {
    const ids = [...this.#held].flatMap(([id, held]) => (held.requestId === requestId ? [id] : []));
    for (const id of ids) this.#held.delete(id);
    return ids.length > 0;
  }

  has({ id }: Pick<Approval, "id">): boolean {
    const held = this.#held.get(id);
    if (held === undefined) return false;
    const isHeld = this.#clock.now() < held.since + MOST_HELD_MS;
    if (!isHeld) this.#held.delete(id);
    return isHeld;
  }
}
