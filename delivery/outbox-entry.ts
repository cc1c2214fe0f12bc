import type { OutboxRow } from "./outbox-store.ts";

/**
 * An outbox row in memory, with what only this process knows of it. The row is replaced when it was written; the
 * entry stays the same object also when another reply takes the row over, so that a call under way finds it.
 */
export interface OutboxEntry {
  row: OutboxRow;
  /** Hash of what is visible now, also of interim states, which are not stored. */
  shownHash?: string | undefined;
  /** An interim content that the platform refused: nothing is sent until the text has changed. */
  skippedHash?: string | undefined;
  /** The content that is sent as plain text, because its entities were refused. */
  plainHash?: string | undefined;
  /** Failures in a row of interim edits, for the backoff. */
  interimFailures: number;
  /** A message that an earlier, timed out post made after all, learnt while the post was under way again. */
  lateMessageId?: string | undefined;
}

export function entryOf(row: OutboxRow): OutboxEntry {
  return { row, shownHash: row.shownHash, interimFailures: 0 };
}

export function plannedRow(replyId: string, part: number): OutboxRow {
  return {
    replyId,
    part,
    state: "planned",
    isMarked: false,
    isReplacement: false,
    doubts: 0,
    attempts: 0,
  };
}
