import type { ApiCall } from "../../playground/telegram/control/api-log.ts";

export interface PenaltyCount {
  /** Calls that reached a chat before the end of a penalty that the bot had been told of. */
  readonly callsInPenalty: number;
  /** The same where the bot was killed within `STORED_WITHIN_MS` of being told, so that it may not know. */
  readonly callsInUnheardPenalty: number;
  /** The former, each in words. */
  readonly penaltyBreaches: readonly string[];
}

interface Penalty {
  readonly toldAt: number;
  readonly until: number;
  readonly isUnheard: boolean;
}

/** What the bot is told is stored by then. */
const STORED_WITHIN_MS = 200;
/** Longest way of an answer to the bot, and of a call from it. */
const UNDER_WAY_MS = 50;

/**
 * Counts calls that were made in a penalty; what was under way when the refusal came does not count. A shorter penalty ends no longer one. A process that dies before it has
 * stored a refusal knows of no penalty; such calls are counted apart.
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
