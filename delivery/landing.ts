import type { Address } from "../src/core/surface.ts";
import { callTimeoutMs } from "./delivery-context.ts";
import type { OutboxRow } from "./outbox-store.ts";
import type { Reply } from "./reply.ts";

/** A call may still be done this much after its time limit, or after its connection has ended. */
export const LANDS_LATE_MS = 2_000;

/** Epoch milliseconds after which a lost post of the row cannot land any more, however slow the platform is. */
export function landsBy(row: OutboxRow, { record }: Reply): number {
  return (row.begunAt ?? 0) + callTimeoutMs(record.policy) + LANDS_LATE_MS;
}

/**
 * From when on a post that was lost at `now` is searched for, and counts as not made when it is not there.
 *
 * A call whose connection has ended hardly ever lands later than a moment. Where nobody else speaks for the bot that
 * moment is enough, because what lands still later is found and taken away in the end (`lateUntil` of the row).
 * Elsewhere the whole time limit is waited for, unless a first look shows that all others of the chat are known
 * (`probeNext`).
 */
export function settlesAt(row: OutboxRow, reply: Reply, now: number): number {
  const latest = landsBy(row, reply);
  return isOnlyThread(reply.record.address) ? Math.min(latest, now + LANDS_LATE_MS) : latest;
}

/** In a private chat without topics nobody else speaks for the bot. */
export function isOnlyThread({ isDirectMessage, topicId }: Address): boolean {
  return isDirectMessage && topicId === undefined;
}
