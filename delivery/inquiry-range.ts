import type { IdRange } from "../src/core/budget.ts";
import { isGapQuestion } from "./open-question.ts";
import type { OutboxRow } from "./outbox-store.ts";

/** Nobody waits for the search for a late post, and ids of other chats may be unknown. */
const LONG_TAIL = 10;

/** How many messages there may be without an answer: one for each post, save the one that is known. */
export function mostOf({ messageId, attempts }: OutboxRow): number {
  return messageId === undefined ? attempts : attempts - 1;
}

/** A post that began anew while an earlier one had not been found may have either message. */
export function rangeOf(row: OutboxRow): IdRange {
  const { state, afterId = 0, probedTo, messageId, begunAt = 0, doubtedAt } = row;
  const sinceAt = Math.min(begunAt, doubtedAt ?? begunAt);
  if (isGapQuestion(row)) return { afterId: probedTo ?? 0, beforeId: Number(messageId), sinceAt };
  const firstId = Math.min(afterId, probedTo ?? afterId);
  if (state === "unknown") return { afterId: firstId, sinceAt };
  if (messageId === undefined) return { afterId: firstId, sinceAt, tail: LONG_TAIL };
  return { afterId: Number(messageId), sinceAt, tail: LONG_TAIL };
}
