import { z } from "zod";

/** An update of `getUpdates`, passed on as it came. */
export type RawUpdate = Readonly<Record<string, unknown>> & { readonly update_id: number };

const chatHolder = z.object({
  chat: z.object({ id: z.number() }).optional(),
  message: z.object({ chat: z.object({ id: z.number() }) }).optional(),
});

/**
 * The updates that a poller has taken and not confirmed yet.
 *
 * - Updates of one chat leave in their order, one at a time. Chats do not wait for each other.
 * - `offset` confirms nothing that a webhook has not accepted. An update that Telegram sends again is known.
 */
export class UpdateQueue {
  /** Not accepted yet, by lane. The first of a lane may be on its way. */
  readonly #lanes = new Map<string, RawUpdate[]>();
  /** Accepted, but not confirmed: an older update is still open. */
  readonly #accepted = new Set<number>();
  readonly #busy = new Set<string>();
  /** The offset of the last poll. */
  #confirmed = 0;

  /** Adds the updates of a poll. Returns how many were new. */
  add(updates: readonly RawUpdate[]): number {
    let count = 0;
    for (const update of updates) {
      if (this.#isKnown(update.update_id)) continue;
      const lane = laneOf(update);
      this.#lanes.set(lane, [...(this.#lanes.get(lane) ?? []), update]);
      count += 1;
    }
    return count;
  }

  /** Takes the next update of lanes that have none on its way, at most `limit` in all lanes together. */
  take(limit: number): readonly RawUpdate[] {
    const taken: RawUpdate[] = [];
    for (const [lane, [first]] of this.#lanes) {
      if (first === undefined || this.#busy.has(lane)) continue;
      if (this.#busy.size >= limit) break;
      this.#busy.add(lane);
      taken.push(first);
    }
    return taken;
  }

  /** The webhook has accepted an update. */
  accepted(update: RawUpdate): void {
    const lane = laneOf(update);
    const rest = (this.#lanes.get(lane) ?? []).slice(1);
    if (rest.length === 0) this.#lanes.delete(lane);
    else this.#lanes.set(lane, rest);
    this.#busy.delete(lane);
    this.#accepted.add(update.update_id);
  }

  /** The webhook has not accepted an update. `take` returns it again. */
  refused(update: RawUpdate): void {
    this.#busy.delete(laneOf(update));
  }

  /** Number of updates that no webhook has accepted. */
  get open(): number {
    return [...this.#lanes.values()].reduce((sum, lane) => sum + lane.length, 0);
  }

  /**
   * Returns the offset for the next poll: the oldest update that is not accepted. If all are accepted, the id after the
   * newest one.
   */
  offset(): number {
    const open = [...this.#lanes.values()].flat().map(({ update_id }) => update_id);
    if (open.length > 0) return Math.min(...open);
    return this.#accepted.size > 0 ? Math.max(...this.#accepted) + 1 : this.#confirmed;
  }

  /** Whether a poll would confirm something. */
  get isConfirmationDue(): boolean {
    return this.offset() > this.#confirmed;
  }

  /** Telegram has taken an offset, so it never sends an update below it again. */
  confirmed(offset: number): void {
    this.#confirmed = offset;
    for (const id of this.#accepted) if (id < offset) this.#accepted.delete(id);
  }

  #isKnown(id: number): boolean {
    if (this.#accepted.has(id)) return true;
    return [...this.#lanes.values()].some((lane) => lane.some(({ update_id }) => update_id === id));
  }
}

/** Returns the lane of an update: its chat. Updates without a chat share one. */
function laneOf(update: RawUpdate): string {
  for (const value of Object.values(update)) {
    const parsed = chatHolder.safeParse(value);
    if (!parsed.success) continue;
    const id = parsed.data.chat?.id ?? parsed.data.message?.chat.id;
    if (id !== undefined) return String(id);
  }
  return "";
}
