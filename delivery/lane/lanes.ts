import type { DeliveryContext } from "../calls/delivery-context.ts";
import type { DurableWake, WakeSource } from "./durable-wake.ts";
import { Lane } from "./lane.ts";
import type { WakeNeed } from "./lane.ts";

/** The lanes of one engine, by address. A lane exists while it has replies. */
export class Lanes implements WakeSource {
  readonly #context: DeliveryContext;
  readonly #wake: DurableWake;
  readonly #lanes = new Map<string, Lane>();

  constructor(context: DeliveryContext, wake: DurableWake) {
    this.#context = context;
    this.#wake = wake;
  }

  wakeNeeds(): WakeNeed[] {
    return [...this.#lanes.values()].flatMap((lane) => lane.wakeNeed() ?? []);
  }

  of(key: string): Lane {
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane = new Lane(this.#context, () => {
      if (lane.isEmpty) this.#drop(lane);
      this.#wake.update();
    });
    this.#lanes.set(key, lane);
    return lane;
  }

  all(): readonly Lane[] {
    return [...this.#lanes.values()];
  }

  /**
   * Gives the lane of an address another key, and returns the key to use from now on. The lane stays the same object,
   * because one of its calls may be under way, so later replies to the new address queue behind its replies. If the new
   * address already has a lane, both lanes keep their keys.
   */
  rekey(from: string, to: string): string {
    const lane = this.#lanes.get(from);
    if (lane === undefined) return to;
    if (this.#lanes.has(to)) return from;
    this.#lanes.delete(from);
    this.#lanes.set(to, lane);
    return to;
  }

  #drop(lane: Lane): void {
    for (const [key, known] of this.#lanes) if (known === lane) this.#lanes.delete(key);
  }
}
