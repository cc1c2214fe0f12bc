import type { Deps } from "../../core/deps.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import type { UsedTokens } from "../../core/used-tokens.ts";
import type { ScheduledRun } from "../../core/scheduled-run.ts";
import type { TurnStatsEntry } from "../../turn/turn-stats.ts";
import type { Turn } from "../../turn/turn-store.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import { personOf } from "../root/turn-limits.ts";
import type { ThreadFeatures } from "./thread-features.ts";

/** Limits by tokens need the turns of a day, whatever `keepUsageMs` is. */
const DAY_MS = 24 * 60 * 60_000;

/**
 * Returns what happens with the tokens of an ended turn: the news of them is stored, and goes to the root until the root
 * has it. Nothing, unless the bot keeps usage or limits tokens.
 */
export function usageNews(
  { clock }: Pick<Deps, "clock">,
  bot: { readonly keepUsageMs?: number },
  memory: Pick<ThreadMemory, "keepUntold">,
  messengers: Pick<DeclaredMessengers, "find">,
  features: Pick<ThreadFeatures, "runOf"> | undefined,
): (turn: Turn, used: TurnStatsEntry) => void {
  return (turn, { cost = 0, inputTokens = 0, outputTokens = 0 }) => {
    if (inputTokens + outputTokens === 0) return;
    const payer =
      turn.kind === "messages" ? payerOf(turn.context) : scheduledPayerOf(features?.runOf(turn.id));
    if (payer === undefined) return;
    const { messengerId } = payer;
    const isLimited = messengers.find(messengerId)?.limits?.tokensPerPersonPerDay !== undefined;
    const keepMs = Math.max(bot.keepUsageMs ?? 0, isLimited ? DAY_MS : 0);
    if (keepMs === 0) return;
    const used = {
      turnId: turn.id,
      ...payer,
      at: clock.now(),
      inputTokens,
      outputTokens,
      cost,
    };
    memory.keepUntold({ kind: "used", used, keepMs });
  };
}

type Payer = Pick<UsedTokens, "messengerId" | "chatId" | "userId">;

function payerOf(event: MessengerEvent): Payer {
  return { messengerId: event.messengerId, chatId: event.thread.chatId, userId: personOf(event) };
}

/** The person who made a schedule pays for it. A declared one has no person, and its own name instead. */
function scheduledPayerOf(run: ScheduledRun | undefined): Payer | undefined {
  if (run === undefined) return undefined;
  const { chatId = "", messengerId = "" } = run.shownIn ?? run.askIn ?? {};
  return { messengerId, chatId, userId: run.requester?.userId ?? `task:${run.schedule.taskId}` };
}
