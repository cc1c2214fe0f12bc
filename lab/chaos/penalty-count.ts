import { floodCounted } from "../../playground/telegram/bot-api/methods/index.ts";
import type { ApiCall } from "../../playground/telegram/control/api-log.ts";

export interface PenaltyCount {
  /** Calls that reached a chat during a penalty that the bot knew about. */
  readonly callsInPenalty: number;
  /**
   * Calls during a penalty that the bot may not have known about, because it was killed within `STORED_WITHIN_MS` of
   * the refusal.
   */
  readonly callsInUnheardPenalty: number;
  /** One sentence for each of `callsInPenalty`. */
  readonly penaltyBreaches: readonly string[];
}

interface Penalty {
  readonly toldAt: number;
  readonly until: number;
  readonly isUnheard: boolean;
}

/** Time after which the bot has stored a refusal. */
const STORED_WITHIN_MS = 200;
/** Longest time that an answer takes to reach the bot, or a call to reach the platform. */
const UNDER_WAY_MS = 50;

/**
 * Counts the calls that were made during a penalty. Four rules:
 * - Only calls that the platform counts for a chat matter. An answer to a press is not counted.
 * - Calls that were on their way when the refusal came do not count.
 * - A shorter penalty does not end a longer one.
 * - A process that dies before it has stored a refusal does not know the penalty. Its calls are counted separately.
 */
export function countCallsInPenalty(calls: readonly ApiCall[], killedAt: readonly number[]): PenaltyCount {
  const penalties = new Map<number, Penalty[]>();
  for (const { chatId, at, description, errorCode, durationMs = 0 } of calls) {
    const seconds = Number(/retry after (\d+)/i.exec(description ?? "")?.[1]);
    if (chatId === undefined || errorCode !== 429 || !Number.isFinite(seconds)) continue;
    const toldAt = at + durationMs;
    const isUnheard = killedAt.some((kill) => kill >= at - UNDER_WAY_MS && kill <= toldAt + STORED_WITHIN_MS);
    const known = penalties.get(chatId) ?? [];
    known.push({ toldAt, until: toldAt + seconds * 1_000, isUnheard });
    penalties.set(chatId, known);
  }
  const penaltyBreaches: string[] = [];
  let callsInUnheardPenalty = 0;
  for (const { chatId, at, method } of calls) {
    if (!floodCounted.has(method)) continue;
    const broken = (penalties.get(chatId ?? 0) ?? []).filter(
      ({ toldAt, until }) => at > toldAt && at + UNDER_WAY_MS < until,
    );
    const heard = broken.findLast(({ isUnheard }) => !isUnheard);
    if (heard !== undefined) {
      penaltyBreaches.push(
        `${method} to ${chatId}, ${at - heard.toldAt} ms after the refusal, ${heard.until - at} ms before the end`,
      );
    } else if (broken.length > 0) callsInUnheardPenalty += 1;
  }
  return { callsInPenalty: penaltyBreaches.length, callsInUnheardPenalty, penaltyBreaches };
}
