import type { HandOver, HandOverResult } from "../../broadcasts/broadcast.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { RootBudget } from "../../../delivery/index.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { BroadcastCalls } from "../root/broadcast-calls.ts";
import type { RootRuntime } from "../root/root-runtime.ts";
import { BroadcastDesk } from "./broadcast-desk.ts";
import type { BroadcastDeskOptions } from "./broadcast-desk.ts";
import type { InnerCalls } from "./inner-calls.ts";
import type { ScheduledTurns } from "./scheduled-turns.ts";
import type { SubmissionCalls } from "./submission-calls.ts";
import { takeBroadcast } from "./take-broadcast.ts";
import type { ThreadRuntime } from "./thread-runtime.ts";

export interface BroadcastPartOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly agent: BroadcastDeskOptions["agent"];
  readonly root: () => RootRuntime;
  readonly budget: () => RootBudget;
  readonly thread: () => ThreadRuntime;
  readonly messengers: DeclaredMessengers;
  readonly submissions: SubmissionCalls;
  readonly scheduledTurns: () => ScheduledTurns;
  readonly isRoot: () => boolean;
  readonly rootCalls: () => InnerCalls;
  /** Returns the calls to a conversation; to the root itself for `""`. */
  readonly callsTo: (conversation: string) => InnerCalls;
  /** Resolves when the wake-up for what was stored is durable. */
  readonly stored: () => Promise<void>;
  /** Stores the time of the root's next slice, or removes it. */
  readonly arm: (at: number | undefined) => Promise<void>;
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
    return this.#options.isRoot() ? this.desk : this.#options.rootCalls();
  }

  /** The root's own. */
  get desk(): BroadcastDesk {
    this.#desk ??= new BroadcastDesk(this.#options);
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
