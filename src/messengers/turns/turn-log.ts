import type { Clock } from "../../core/deps.ts";
import { eventFields } from "../../core/log-fields.ts";
import type { EventFields } from "../../core/log-fields.ts";
import type { Log } from "../../core/log.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import type { NewTurn, Turn } from "../../turn/turn-store.ts";
import type { TurnStats, TurnStatsEntry } from "../../turn/turn-stats.ts";

export interface TurnLogOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly stats: TurnStats;
  /** Counts the tokens of each ended turn. */
  readonly usage?: { ofTurn(turn: Turn, used: TurnStatsEntry): void } | undefined;
}

export type TurnEnd =
  | "done"
  | "out-of-steps"
  | "parked"
  | "stopped"
  | "replaced"
  | "steered"
  | "gone"
  | "not-declared"
  | "failed";

/** Writes the log's lines about turns. Every turn that has begun gets one line at its end, which says what it used. */
export class TurnLog {
  readonly #options: TurnLogOptions;
  /** The start of each running turn. Turns of an earlier process are missing. */
  readonly #begunAt = new Map<string, number>();

  constructor(options: TurnLogOptions) {
    this.#options = options;
  }

  begun(turn: NewTurn): void {
    const { clock, log } = this.#options;
    this.#begunAt.set(turn.id, clock.now());
    log.info("turn.begun", {
      ...turnFields(turn.id, turn.kind === "messages" ? turn.context : undefined),
      ...(turn.kind === "messages"
        ? { messages: turn.messageSeqs.length, replaces: turn.replaces }
        : { kind: turn.kind }),
    });
  }

  ended(turn: Turn, outcome: TurnEnd, characters?: number): void {
    const { clock, log, stats } = this.#options;
    const begunAt = this.#begunAt.get(turn.id);
    this.#begunAt.delete(turn.id);
    const used = stats.of(turn.id);
    this.#options.usage?.ofTurn(turn, used);
    const fields = {
      ...turnFields(turn.id, turn.kind === "messages" ? turn.context : undefined),
      outcome,
      durationMs: clock.now() - (begunAt ?? turn.lastReceivedAt),
      ...used,
      characters,
      // The use before the restart is not known any more.
      restarted: begunAt === undefined ? true : undefined,
    };
    if (outcome === "failed") log.error("turn.ended", fields);
    else if (outcome === "out-of-steps") log.warn("turn.ended", fields);
    else log.info("turn.ended", fields);
  }
}

/**
 * Returns the log fields that name a turn and the message it answers. Without an event, the bot's own code began it.
 */
export function turnFields(
  turnId: string | undefined,
  event: MessengerEvent | undefined,
): { readonly turn: string | undefined } & Partial<EventFields> {
  return { turn: turnId, ...(event !== undefined && eventFields(event.messengerId, event)) };
}
