import type { InboxRow, InboxStore } from "./inbox-store.ts";

/** An event on its way through the intake. */
export interface Arrival {
  readonly row: InboxRow;
  /** `passed-over`: nothing follows from it. */
  outcome: "open" | "passed-over" | "handled";
}

/** The stored events of which it is not decided what becomes of them, so that none is read from the database twice. */
export class Arrivals {
  readonly #inbox: InboxStore;
  /** In order of arrival; nothing before it was read for the first time. */
  #bySeq: Map<number, Arrival> | undefined;

  constructor(inbox: InboxStore) {
    this.#inbox = inbox;
  }

  /** An event that was stored just now. */
  add(row: InboxRow): Arrival {
    const arrivals = this.#known();
    const arrival = arrivals.get(row.seq) ?? { row, outcome: "open" };
    arrivals.set(row.seq, arrival);
    return arrival;
  }

  hasOpen(): boolean {
    return this.#known().size > 0;
  }

  /** In order of arrival, with those that come while it is read. */
  open(): Iterable<Arrival> {
    return this.#known().values();
  }

  /** Says what became of an event. It counts from `forgetDecided` on: a transaction may undo it until then. */
  decide(row: InboxRow, outcome: "passed-over" | "handled"): void {
    const arrival = this.#bySeq?.get(row.seq);
    if (arrival !== undefined) arrival.outcome = outcome;
  }

  forgetDecided(row: InboxRow): void {
    if (this.#bySeq?.get(row.seq)?.outcome !== "open") this.#bySeq?.delete(row.seq);
  }

  #known(): Map<number, Arrival> {
    this.#bySeq ??= new Map(
      this.#inbox.inState("received").map((row) => [row.seq, { row, outcome: "open" }]),
    );
    return this.#bySeq;
  }
}
