import type { DeliveryContext } from "../calls/delivery-context.ts";
import { Lane } from "./lane.ts";

/** The lanes of one engine, by address. A lane exists while it has replies. */
export class Lanes {
  readonly #context: () => DeliveryContext;
  readonly #changed: () => void;
  readonly #lanes = new Map<string, Lane>();

  /** `changed` is called when what a lane needs may be another. */
  constructor(context: () => DeliveryContext, changed: () => void) {
    this.#context = context;
    this.#changed = changed;
  }

  of(key: string): Lane {
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane = new Lane(this.#context(), () => {
      if (lane.isEmpty) this.#drop(lane);
      this.#changed();
    });
    this.#lanes.set(key, lane);
    return lane;
  }

  all(): readonly Lane[] {
    return [...this.#lanes.values()];
  }

  /**
   * Gives the lane of an address another key, and returns its key from now on. A call of it may be under way, so that it
   * stays the same lane: later replies to the new address come behind what it has. Where the new address has a lane
   * already, both keep theirs.
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
