import type { CardClaim } from "../../core/chat/gate.ts";
import type { Arrivals } from "../../inbox/arrivals.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { EventFields } from "../../core/chat/log-fields.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";
import { PassedOverLog } from "../../inbox/passed-over-log.ts";
import type { IntakeParts } from "./intake-parts.ts";

interface EventOutcomesParts extends IntakeParts {
  readonly arrivals: Arrivals;
}

/** Records the outcomes of events: stores each with its row, and logs it. */
export class EventOutcomes {
  readonly #options: EventOutcomesParts;
  readonly #passedOver: PassedOverLog;

  constructor(options: EventOutcomesParts) {
    this.#options = options;
    this.#passedOver = new PassedOverLog({ clock: options.deps.clock, log: options.log });
  }

  /** Notes that the event waits for its turn. */
  queued(row: InboxRow): void {
    this.#options.arrivals.decide(row, "handled");
    this.#log(row, "queued");
  }

  /**
   * Notes whose event it is, before that object gets it. After a crash the card may have its answer, and then it would
   * claim the event no more.
   */
  claimed(row: InboxRow, claim: CardClaim): void {
    this.#options.arrivals.claim(row, claim);
  }

  /** Notes that the event is looked at again after earlier ones. */
  left(row: InboxRow): void {
    this.#options.arrivals.decide(row, "left");
  }

  /** Ends the event with an outcome. */
  end(row: InboxRow, outcome: string): void {
    this.#options.inbox.end([row.seq], outcome);
    this.#options.arrivals.decide(row, "handled");
    this.#log(row, outcome);
  }

  /** Ends an event that is ignored. */
  passOver(row: InboxRow, outcome: string): void {
    this.#options.inbox.end([row.seq], outcome);
    this.#options.arrivals.decide(row, "passed-over");
    this.logPassedOver(nameOf(row), outcome);
  }

  /** Logs an ignored event whose row is already stored with its outcome. */
  logPassedOver(name: EventFields, outcome: string): void {
    this.#passedOver.add(name, outcome);
  }

  /** Marks an outcome as final, after its transaction was committed. */
  settle(row: InboxRow): void {
    this.#options.arrivals.forgetDecided(row);
  }

  #log(row: InboxRow, outcome: string): void {
    this.#options.log.info("inbox.event", { ...nameOf(row), outcome });
  }
}

/** Returns the log fields of a stored event. */
export function nameOf({ incoming, messengerId }: InboxRow): EventFields {
  return eventFields(messengerId, incoming);
}

export function ignored(reason: string): string {
  return `ignored: ${reason}`;
}
