import type { Deps } from "../../core/deps.ts";
import type { TurnStatsEntry } from "../../turn/turn-stats.ts";
import type { Turn } from "../../turn/turn-store.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import { personOf } from "../root/turn-limits.ts";

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
): (turn: Turn, used: TurnStatsEntry) => void {
  return (turn, { cost = 0, inputTokens = 0, outputTokens = 0 }) => {
    if (turn.kind !== "messages" || inputTokens + outputTokens === 0) return;
    const { messengerId, thread } = turn.context;
    const isLimited = messengers.find(messengerId)?.limits?.tokensPerPersonPerDay !== undefined;
    const keepMs = Math.max(bot.keepUsageMs ?? 0, isLimited ? DAY_MS : 0);
    if (keepMs === 0) return;
    const used = {
      turnId: turn.id,
      messengerId,
      chatId: thread.chatId,
      userId: personOf(turn.context),
      at: clock.now(),
      inputTokens,
      outputTokens,
      cost,
    };
    memory.keepUntold({ kind: "used", used, keepMs });
  };
}
