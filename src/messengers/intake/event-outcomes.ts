import type { Clock } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { Arrivals } from "../../inbox/arrivals.ts";
import { eventFields } from "../../core/log-fields.ts";
import type { EventFields } from "../../core/log-fields.ts";
import type { InboxRow, InboxStore } from "../../inbox/inbox-store.ts";
import { PassedOverLog } from "../../inbox/passed-over-log.ts";

export interface EventOutcomesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly inbox: InboxStore;
  readonly arrivals: Arrivals;
}

/** What becomes of events: kept with their rows, and each said in the log. */
export class EventOutcomes {
  readonly #options: EventOutcomesOptions;
  readonly #passedOver: PassedOverLog;

  constructor(options: EventOutcomesOptions) {
    this.#options = options;
    this.#passedOver = new PassedOverLog(options);
  }

  /** The event waits for its turn. */
  queued(row: InboxRow): void {
    this.#options.arrivals.decide(row, "handled");
    this.#log(row, "queued");
  }

  /** Nothing more is to be done about the event. */
  end(row: InboxRow, outcome: string): void {
    this.#options.inbox.end([row.seq], outcome);
    this.#options.arrivals.decide(row, "handled");
    this.#log(row, outcome);
  }

  /** Nothing follows from the event. */
  passOver(row: InboxRow, outcome: string): void {
    this.#options.inbox.end([row.seq], outcome);
    this.#options.arrivals.decide(row, "passed-over");
    this.logPassedOver(nameOf(row), outcome);
  }

  /** Only says it: for an event whose row is stored with its outcome. */
  logPassedOver(name: EventFields, outcome: string): void {
    this.#passedOver.add(name, outcome);
  }

  /** An outcome counts once its transaction cannot be undone any more. */
  settle(row: InboxRow): void {
    this.#options.arrivals.forgetDecided(row);
  }

  #log(row: InboxRow, outcome: string): void {
    this.#options.log.info("inbox.event", { ...nameOf(row), outcome });
  }
}

/** What the log calls a stored event. */
export function nameOf({ incoming, messengerId }: InboxRow): EventFields {
  return eventFields(messengerId, incoming);
}

export function ignored(reason: string): string {
  return `ignored: ${reason}`;
}
