import type { HandOver, HandOverResult } from "../../broadcasts/broadcast.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { BroadcastCalls } from "../root/broadcast-calls.ts";
import type { BotObjects } from "./bot-objects.ts";
import type { BotRoot } from "./bot-root.ts";
import { BroadcastDesk } from "./broadcast-desk.ts";
import type { BroadcastDeskOptions } from "./broadcast-desk.ts";
import type { DurableAlarm } from "./durable-alarm.ts";
import type { ScheduledTurns } from "./scheduled-turns.ts";
import type { SubmissionCalls } from "./submission-calls.ts";
import { takeBroadcast } from "./take-broadcast.ts";
import type { ThreadRuntime } from "./thread-runtime.ts";

export interface BroadcastPartOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly agent: BroadcastDeskOptions["agent"];
  readonly root: () => BotRoot;
  readonly objects: BotObjects;
  readonly thread: () => ThreadRuntime;
  readonly messengers: DeclaredMessengers;
  readonly submissions: SubmissionCalls;
  readonly scheduledTurns: () => ScheduledTurns;
  /** Called when a delivery of a scheduled task has ended. */
  readonly onRunEnded: BroadcastDeskOptions["onRunEnded"];
  /** Resolves when the wake-up for what was stored is durable. */
  readonly stored: () => Promise<void>;
  /** The time of the root's next slice. */
  readonly alarm: Pick<DurableAlarm, "set">;
}

/** Broadcasts, as an object takes part in them: the root sends them, and a conversation takes its message. */
export class BroadcastPart {
  readonly #options: BroadcastPartOptions;
  #desk: BroadcastDesk | undefined;

  constructor(options: BroadcastPartOptions) {
    this.#options = options;
  }

  /** The broadcasts and subscribers of the whole bot, which the root keeps. */
  calls(): BroadcastCalls {
    const { objects } = this.#options;
    return objects.isRoot() ? this.desk : objects.root();
  }

  /** The root's own. */
  get desk(): BroadcastDesk {
    const { alarm, objects, root } = this.#options;
    this.#desk ??= new BroadcastDesk({
      ...this.#options,
      root: () => root().runtime,
      budget: () => root().budget,
      callsTo: (conversation) => objects.callsTo(conversation),
      arm: (at) => alarm.set(at),
    });
    return this.#desk;
  }

  /** Takes a message of a broadcast. Resolves when it is durable. */
  take(request: HandOver): Promise<HandOverResult> {
    const { deps, messengers, scheduledTurns, stored, submissions, thread } = this.#options;
    const { cards, delivery, own } = thread();
    return takeBroadcast(
      {
        clock: deps.clock,
        delivery,
        cards,
        own,
        messengers,
        scheduled: scheduledTurns(),
        submit: (prompt) => submissions.submit(prompt),
        stored: async () => {
          thread().sayHost({ event: undefined, turn: undefined }).wakeSoon();
          await stored();
        },
      },
      request,
    );
  }
}
