import type { Clock } from "../core/base/deps.ts";
import type { Log } from "../core/base/log.ts";
import type { EventFields } from "../core/chat/log-fields.ts";

/** Within this time (milliseconds) `AT_ONCE` lines about a thread's ignored events are written. The others wait. */
const EVERY_MS = 1000;
const AT_ONCE = 3;
/** Most keys in one line. */
const MOST_KEYS = 100;

interface Waiting {
  readonly name: EventFields;
  readonly outcome: string;
  readonly keys: string[];
}

/**
 * Writes the log's lines about ignored events. A busy group has many, and a line costs as much as storing its event. So
 * a few are written at once, and the others of the same second share a line. Every key is in a line.
 */
export class PassedOverLog {
  readonly #log: Log;
  readonly #clock: Clock;
  /** Lines of the last second, by thread and outcome. */
  readonly #written = new Map<string, number>();
  /** By thread and outcome. */
  readonly #waiting = new Map<string, Waiting>();

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  add(name: EventFields, outcome: string): void {
    const place = JSON.stringify([name.messenger, name.thread, outcome]);
    const written = this.#written.get(place);
    if (written === undefined) this.#forgetLater(place);
    if (written === undefined || written < AT_ONCE) {
      this.#written.set(place, (written ?? 0) + 1);
      this.#log.info("inbox.event", { ...name, outcome });
      return;
    }
    const waiting = this.#waiting.get(place) ?? { name, outcome, keys: [] };
    this.#waiting.set(place, waiting);
    waiting.keys.push(name.key);
    if (waiting.keys.length >= MOST_KEYS) this.#write(place);
  }

  #forgetLater(place: string): void {
    this.#clock.setTimeout(() => {
      this.#written.delete(place);
      if (!this.#write(place)) return;
      this.#written.set(place, AT_ONCE);
      this.#forgetLater(place);
    }, EVERY_MS);
  }

  /** Writes the waiting line. Returns false if there is none. */
  #write(place: string): boolean {
    const waiting = this.#waiting.get(place);
    if (waiting === undefined) return false;
    this.#waiting.delete(place);
    const { keys, name, outcome } = waiting;
    const isOne = keys.length === 1;
    this.#log.info("inbox.event", {
      ...name,
      ...(isOne ? { key: keys[0] } : { key: undefined, keys: keys.join(" "), count: keys.length }),
      outcome,
    });
    return true;
  }
}
