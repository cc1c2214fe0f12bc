import type { RichText } from "../../../src/core/message/rich-text.ts";
import type { CallFault, PlanItem } from "../plan/plan.ts";
import type { Random } from "../../support/random.ts";

/** Decides which call has which fault: the n-th call, or all calls of a storm. */
export class CallFaults {
  /** Number of calls with a fault, by kind. */
  readonly met = new Map<CallFault["kind"], number>();
  readonly #byCall = new Map<number, CallFault>();
  readonly #storms: readonly Extract<PlanItem, { kind: "storm" }>[];
  readonly #random: Random;
  readonly #startAt: number;
  #calls = 0;

  constructor(items: readonly PlanItem[], random: Random, startAt: number) {
    for (const item of items) if (item.kind === "fault") this.#byCall.set(item.call, item.fault);
    this.#storms = items.filter((item) => item.kind === "storm");
    this.#random = random;
    this.#startAt = startAt;
  }

  /** Calls so far. */
  get calls(): number {
    return this.#calls;
  }

  /** The number of a new call. */
  count(): number {
    this.#calls += 1;
    return this.#calls;
  }

  take(call: number, now: number, content: RichText | undefined): CallFault | undefined {
    const fault = this.#byCall.get(call) ?? this.#stormAt(now - this.#startAt);
    // Only formatting can be refused for its formatting.
    if (fault?.kind === "bad-entities" && (content?.entities.length ?? 0) === 0) return undefined;
    if (fault !== undefined) this.met.set(fault.kind, (this.met.get(fault.kind) ?? 0) + 1);
    return fault;
  }

  #stormAt(at: number): CallFault | undefined {
    const storm = this.#storms.find((item) => item.at <= at && at < item.at + item.forMs);
    return storm !== undefined && this.#random.chance(storm.share) ? storm.fault : undefined;
  }
}
