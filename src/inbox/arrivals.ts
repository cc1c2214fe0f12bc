import type { CardClaim } from "../core/chat/gate.ts";
import type { InboxRow, InboxStore } from "./inbox-store.ts";

/** An event on its way through the intake. */
export interface Arrival {
  row: InboxRow;
  /** `passed-over`: the event is ignored. */
  outcome: "open" | "passed-over" | "handled";
}

/** The stored events that are not decided yet. Kept in memory, so that none is read from the database twice. */
export class Arrivals {
  readonly #inbox: InboxStore;
  /** In order of arrival. Undefined before the first read. */
  #bySeq: Map<number, Arrival> | undefined;

  constructor(inbox: InboxStore) {
    this.#inbox = inbox;
  }

  /** Adds an event that was stored just now. */
  add(row: InboxRow): Arrival {
    const arrivals = this.#known();
    const arrival = arrivals.get(row.seq) ?? { row, outcome: "open" };
    arrivals.set(row.seq, arrival);
    return arrival;
  }

  hasOpen(): boolean {
    return this.#known().size > 0;
  }

  /** Returns the undecided events in order of arrival, including those that arrive during the iteration. */
  open(): Iterable<Arrival> {
    return this.#known().values();
  }

  /** Notes the outcome of an event. It is final from `forgetDecided` on; until then a transaction may undo it. */
  decide(row: InboxRow, outcome: "passed-over" | "handled"): void {
    const arrival = this.#bySeq?.get(row.seq);
    if (arrival !== undefined) arrival.outcome = outcome;
  }

  /** Keeps the card that an event answers, also for its next try. */
  claim(row: InboxRow, claim: CardClaim): void {
    this.#inbox.claim(row.seq, claim);
    const arrival = this.#bySeq?.get(row.seq);
    if (arrival !== undefined) arrival.row = { ...row, incoming: { ...row.incoming, claim } };
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
