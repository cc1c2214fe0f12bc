import type { CardClaim } from "../core/chat/gate.ts";
import type { InboxRow, InboxStore } from "./inbox-store.ts";

/** An event on its way through the intake. */
export interface Arrival {
  row: InboxRow;
  /**
   * - `left`: it changes a message that may be an earlier event, which is decided first
   * - `passed-over`: it is ignored
   */
  outcome: "open" | "left" | "passed-over" | "handled";
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

  /** Returns the undecided events that came before another one in its chat. */
  before({ incoming: { thread }, messengerId, seq }: InboxRow): InboxRow[] {
    return [...this.open()]
      .filter(({ outcome }) => outcome === "open" || outcome === "left")
      .map(({ row }) => row)
      .filter(
        (row) =>
          row.seq < seq && row.messengerId === messengerId && row.incoming.thread.chatId === thread.chatId,
      );
  }

  /** Notes the outcome of an event. It is final from `forgetDecided` on; until then a transaction may undo it. */
  decide(row: InboxRow, outcome: "left" | "passed-over" | "handled"): void {
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
    const outcome = this.#bySeq?.get(row.seq)?.outcome;
    if (outcome === "passed-over" || outcome === "handled") this.#bySeq?.delete(row.seq);
  }

  #known(): Map<number, Arrival> {
    this.#bySeq ??= new Map(
      this.#inbox.inState("received").map((row) => [row.seq, { row, outcome: "open" }]),
    );
    return this.#bySeq;
  }
}
