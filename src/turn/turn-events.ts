import type { Clock } from "../core/base/deps.ts";
import type { TurnEnd, TurnEvent, TurnFact } from "./turn-event.ts";
import { TurnStats } from "./turn-stats.ts";
import type { NewTurn, Turn } from "./turn-store.ts";

/** Hears of each event when it has happened. Must not throw, and must not wait. */
export type TurnListener = (event: TurnEvent) => void;

/**
 * The one stream of what happens in the turns of an object. Nothing of it is stored: events of a process that died are
 * lost, and a turn that goes on in another one has events in both.
 */
export class TurnEvents {
  /** The first listener: it counts what turns use. */
  readonly stats = new TurnStats();
  readonly #clock: Pick<Clock, "now">;
  readonly #listeners: TurnListener[] = [(event) => this.stats.hear(event)];

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  listen(listener: TurnListener): void {
    this.#listeners.push(listener);
  }

  emit(turnId: string, fact: TurnFact): void {
    const event = { ...fact, turnId, at: this.#clock.now() };
    for (const listener of this.#listeners) listener(event);
  }

  begun(turn: NewTurn): void {
    this.emit(turn.id, { kind: "turn-begun", turn });
  }

  ended(turn: Turn, outcome: TurnEnd, characters?: number): void {
    const beganAt = this.stats.beganAt(turn.id);
    this.emit(turn.id, {
      kind: "turn-ended",
      turn,
      outcome,
      characters,
      used: this.stats.of(turn.id),
      beganAt: beganAt ?? turn.lastReceivedAt,
      isRestarted: beganAt === undefined,
    });
  }
}
