import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { UsedTokens } from "../../core/turn/used-tokens.ts";
import type { ScheduledRun } from "../../core/turn/scheduled-run.ts";
import type { TurnStatsEntry } from "../../turn/turn-event.ts";
import type { TurnListener } from "../../turn/turn-events.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import { personOf } from "../root/turn-limits.ts";
import type { OwnTurns } from "./own-turns.ts";
import type { OutcomeFacts } from "./thread-features.ts";
import type { ThreadRuntimeOptions } from "./thread-runtime-options.ts";

/** Limits by tokens need the turns of a day, whatever `keepUsageMs` is. */
const DAY_MS = 24 * 60 * 60_000;

/** The person who pays for tokens, and the chat. */
export type Payer = Pick<UsedTokens, "messengerId" | "chatId" | "userId">;

/** The tokens of model calls, and their cost. */
export type CountedTokens = Pick<TurnStatsEntry, "cost" | "inputTokens" | "outputTokens">;

/**
 * Used tokens: the news of them is stored, and goes to the root until the root has it. Nothing, unless the bot keeps usage
 * or limits tokens.
 */
export class UsageNews {
  readonly #options: ThreadRuntimeOptions;
  readonly #memory: ThreadMemory;
  readonly #turns: OwnTurns;

  constructor(options: ThreadRuntimeOptions, memory: ThreadMemory, turns: OwnTurns) {
    this.#options = options;
    this.#memory = memory;
    this.#turns = turns;
  }

  /** Counts the tokens of each turn that ends. */
  readonly listener: TurnListener = (event) => {
    if (event.kind !== "turn-ended") return;
    const { turn, used } = event;
    const run = turn.kind === "messages" ? undefined : this.#options.features?.runOf(turn.id);
    const payer = turn.kind === "messages" ? payerOf(turn.context) : this.#payerOfPrompt(turn.id, run);
    if (payer !== undefined) this.#keep(turn.id, payer, used, run?.delegation?.keepUsageMs);
  };

  /** Counts the tokens of a model call outside of turns. */
  ofCall(payer: Payer, used: CountedTokens, keepMs?: number): void {
    this.#keep(`call:${this.#options.deps.newId()}`, payer, used, keepMs);
  }

  /** How long the tokens of a person are kept, in milliseconds. */
  keepMsOf(messengerId: string): number {
    const { bot, messengers } = this.#options;
    const isLimited = messengers.find(messengerId)?.limits?.tokensPerPersonPerDay !== undefined;
    return Math.max(bot.keepUsageMs ?? 0, isLimited ? DAY_MS : 0);
  }

  #payerOfPrompt(turnId: string, run: ScheduledRun | undefined): Payer | undefined {
    const { features } = this.#options;
    if (run?.delegation !== undefined) return run.delegation.payer;
    if (run !== undefined) return scheduledPayerOf(run);
    const info = this.#turns.info(turnId);
    return info && outcomePayerOf(features?.factsOfOutcome(info));
  }

  #keep(
    turnId: string,
    payer: Payer,
    { cost = 0, inputTokens = 0, outputTokens = 0 }: CountedTokens,
    keepMs = this.keepMsOf(payer.messengerId),
  ): void {
    if (inputTokens + outputTokens === 0 || keepMs === 0) return;
    const at = this.#options.deps.clock.now();
    const used = { turnId, ...payer, at, inputTokens, outputTokens, cost };
    this.#memory.keepUntold({ kind: "used", used, keepMs });
  }
}

function payerOf(event: MessengerEvent): Payer {
  return { messengerId: event.messengerId, chatId: event.thread.chatId, userId: personOf(event) };
}

/** The person who made a schedule pays for it. A declared one has no person, and its own name instead. */
function scheduledPayerOf(run: ScheduledRun): Payer {
  const { chatId = "", messengerId = "" } = run.shownIn ?? run.askIn ?? {};
  return { messengerId, chatId, userId: run.requester?.userId ?? `task:${run.schedule.taskId}` };
}

/** The person for whom an action ran pays for the turn that tells its outcome, too. */
function outcomePayerOf(facts: OutcomeFacts | undefined): Payer | undefined {
  const userId =
    facts?.person?.userId ?? (facts?.schedule === undefined ? undefined : `task:${facts.schedule.taskId}`);
  if (userId === undefined) return undefined;
  const { chatId = "", messengerId = "" } = facts?.address ?? {};
  return { messengerId, chatId, userId };
}
