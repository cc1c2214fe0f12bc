import type { UnclaimedIds } from "../../src/core/gate.ts";
import type { MessageStream } from "./message-stream.ts";
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
  /** The message in whose place this part is posted anew, until that has succeeded. */
  replacedId?: string | undefined;
  /** Since when interim edits fail, in epoch milliseconds, for the backoff. */
  interimFailingSince?: number | undefined;
  /**
   * An edit that ended without an answer: it may still land, until then, and put its older text over a newer one.
   * Without a hash there are several.
   */
  strayEdit?: { readonly hash: string | undefined; readonly until: number } | undefined;
  /** The likeliest id is worth a look before the lost post has settled. */
  isLookDue?: boolean;
  /** The id that the search for a lost post asks about next. */
  probe?: Probe | undefined;
  /** Ids asked about in a row, after the newest one that is known, that nothing has. */
  nonesInRow?: number | undefined;
  /** How often in a row the search has failed, and since when (epoch milliseconds). */
  probeFailures?: number | undefined;
  searchFailingSince?: number | undefined;
  /** The stream into the message, where replies are streamed. */
  stream?: MessageStream | undefined;
  /** How often the platform has refused to end the stream. */
  endRefusals?: number;
  /** The post ran into its time limit, and its answer may still come until then; epoch milliseconds. */
  answerUntil?: number | undefined;
  /** A message that an earlier, timed out post made after all, learnt while the post was under way again. */
  lateMessageId?: string | undefined;
  /** If it is an album: the ids of its other messages. */
  lateMoreIds?: readonly string[] | undefined;
  /** Hash of what that message shows. */
  lateHash?: string | undefined;
}

/** One question of a search for a lost post. */
export interface Probe extends Pick<UnclaimedIds, "claim" | "newestId"> {
  readonly id: number;
  /** A look at the likeliest id, which concludes nothing when it finds nothing. */
  readonly isLook: boolean;
}

export function entryOf(row: OutboxRow): OutboxEntry {
  return { row, shownHash: row.shownHash };
}

/** An edit that was under way when the process died may still land, on a message that is not known to be up to date. */
export function entryAfterStart(row: OutboxRow, strayUntil: number, now: number): OutboxEntry {
  // What failed before may have been put right: a penalty is the root's to keep, and a lost post has to settle.
  const isRetried = row.state !== "unknown" && row.failingSince !== undefined;
  const entry = entryOf(isRetried ? { ...afterRest(row, now), retryAt: undefined } : row);
  if (row.state === "sent" && row.shownHash === undefined && strayUntil > now) {
    entry.strayEdit = { hash: undefined, until: strayUntil };
  }
  return entry;
}

/** The row at a new try. Time in which nothing was tried, as when the machine was off, is not time of failing. */
export function afterRest(row: OutboxRow, now: number): OutboxRow {
  const { failingSince, retryAt } = row;
  if (failingSince === undefined || retryAt === undefined || retryAt >= now) return row;
  return { ...row, failingSince: failingSince + now - retryAt, retryAt: undefined };
}

/**
 * A message that could not be brought up to date for so long holds up nothing that follows it any more. Most times the
 * platform is in trouble, and what is posted then may be lost where it cannot be looked for: so it is long.
 */
const PATIENCE_MS = 10 * 60 * 1000;

/**
 * Whether a message that is there waits to be changed, or taken away, again after that has failed for a while. It keeps
 * its place whatever comes after it, and the trouble may be one of this message alone.
 */
export function isPutOff(entry: OutboxEntry, now: number): boolean {
  return entry.row.state === "sent" && waitsInVain(entry, now);
}

/** Whether a post waits to be made again after the platform has refused it for a while. */
export function isStuckPost(entry: OutboxEntry, now: number): boolean {
  return entry.row.state === "planned" && waitsInVain(entry, now);
}

function waitsInVain({ row: { failingSince, retryAt } }: OutboxEntry, now: number): boolean {
  if (failingSince === undefined || retryAt === undefined) return false;
  return retryAt > now && now - failingSince > PATIENCE_MS;
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

/** Until when the message may still be changed by an edit that was given up; nothing when what is visible is certain. */
export function strayUntil(entries: readonly OutboxEntry[]): number | undefined {
  let latest: number | undefined;
  for (const { row, strayEdit, shownHash } of entries) {
    if (row.state !== "sent" || strayEdit === undefined || strayEdit.hash === shownHash) continue;
    latest = Math.max(latest ?? 0, strayEdit.until);
  }
  return latest;
}
