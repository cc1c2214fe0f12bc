import type { Database } from "../core/database.ts";
import type { MessengerLimits } from "../core/messenger.ts";
import type { MessengerEvent } from "../core/messenger-event.ts";
import type { NormalizedMessengerDefinition } from "./define-messengers.ts";
import { createUsageStore } from "./usage-store.ts";
import type { Question, UsageStore } from "./usage-store.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Quick lines are one question, but not for ever: each of them has the model begin anew. */
const LONGEST_QUESTION_MS = 10_000;

type Limited = Pick<NormalizedMessengerDefinition, "burstMs" | "limits">;

/** How many answers a person may ask for in this conversation. Nothing is stored where a messenger has no limits. */
export class TurnLimits {
  readonly #store: UsageStore;

  constructor(database: Database) {
    this.#store = createUsageStore(database);
  }

  /** Whether the person may ask this. */
  allows(event: MessengerEvent, at: number, { burstMs, limits }: Limited): boolean {
    if (limits === undefined) return true;
    const questions = this.#questions(event, at, limits);
    if (continues(questions.at(-1), event, at, burstMs)) return true;
    const ofMinute = questions.filter(({ beganAt }) => beganAt > at - MINUTE_MS);
    return (
      questions.length < (limits.turnsPerPersonPerDay ?? Infinity) &&
      ofMinute.length < (limits.turnsPerPersonPerMinute ?? Infinity)
    );
  }

  /** Counts what was allowed; in the transaction that queues it. */
  count(event: MessengerEvent, at: number, { burstMs, limits }: Limited): void {
    if (limits === undefined) return;
    const last = this.#questions(event, at, limits).at(-1);
    if (last !== undefined && continues(last, event, at, burstMs)) {
      this.#store.extend(last.id, at);
      return;
    }
    this.#store.forget(at - DAY_MS);
    this.#store.begin(event.messengerId, personOf(event), at, event.message?.albumId);
  }

  #questions(event: MessengerEvent, at: number, limits: MessengerLimits): Question[] {
    const windowMs = limits.turnsPerPersonPerDay === undefined ? MINUTE_MS : DAY_MS;
    return this.#store.since(event.messengerId, personOf(event), at - windowMs);
  }
}

/** A channel speaks for itself. */
export function personOf({ author, thread }: MessengerEvent): string {
  return author?.userId ?? thread.id;
}

function continues(
  last: Question | undefined,
  { message }: MessengerEvent,
  at: number,
  burstMs: number,
): boolean {
  if (last === undefined) return false;
  if (last.albumId !== undefined && last.albumId === message?.albumId) return true;
  return at - last.lastAt <= burstMs && at - last.beganAt <= LONGEST_QUESTION_MS;
}
