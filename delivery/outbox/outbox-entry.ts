import type { RichText } from "../../src/core/message/rich-text.ts";
import type { UnclaimedIds } from "../../src/core/chat/gate.ts";
import { isKeyed, isSearchable } from "./doubt.ts";
import type { OutboxRow } from "./outbox-store.ts";

/**
 * An outbox row in memory, with details that only this process knows. The row is replaced with each write. The entry
 * stays the same object, even if another reply takes the row over, so that a call under way finds its row.
 */
export interface OutboxEntry {
  row: OutboxRow;
  /** Hash of the visible text, including interim states, which are not stored. */
  shownHash?: string | undefined;
  /** Hash of an interim content that the platform refused. Nothing is sent until the text has changed. */
  skippedHash?: string | undefined;
  /** Hash of the content that is sent as plain text, because its entities were refused. */
  plainHash?: string | undefined;
  /** Id of the message that this part replaces, until the new post has succeeded. */
  replacedId?: string | undefined;
  /** Time at which interim edits began to fail, in epoch milliseconds; for the backoff. */
  interimFailingSince?: number | undefined;
  /**
   * An edit that ended without an answer. Until `until` it may still land, and put its older text over a newer one.
   * Without a hash there are several such edits.
   */
  strayEdit?: { readonly hash: string | undefined; readonly until: number } | undefined;
  /** True if the likeliest id should be checked at once, while the lost post may still land. */
  isLookDue?: boolean;
  /** The id that the search for the lost post checks next. */
  probe?: Probe | undefined;
  /** Number of consecutive ids above the newest known one that have no message. */
  nonesInRow?: number | undefined;
  /** Number of consecutive failures of the search; `searchFailingSince` is when they began (epoch milliseconds). */
  probeFailures?: number | undefined;
  searchFailingSince?: number | undefined;
  /** Outcome of the last try to repeat the lost post with its key. It is then searched for. */
  repeats?: "refused" | "unanswered" | undefined;
  /** The stream into the message, in the mode `native`. */
  stream?: MessageStream | undefined;
  /** Number of times that the platform has refused to end the stream. */
  endRefusals?: number;
  /** The post ran into its time limit. Its answer may still come until this time (epoch milliseconds). */
  answerUntil?: number | undefined;
  /** The message of an earlier, timed out post. It became known while the post was being made again. */
  late?: LateMessage | undefined;
}

/** A message that became known after its post had run into its time limit. */
export interface LateMessage {
  readonly messageId: string;
  /** For an album, the ids of its other messages. */
  readonly moreIds: readonly string[] | undefined;
  /** True if it carries the mark. */
  readonly isMarked: boolean;
  /** Hash of its text. Undefined if it is a stream, which must still be ended. */
  readonly hash: string | undefined;
  /** True if that text is the whole text of a part. */
  readonly isWhole: boolean;
}

/** One question of a search for a lost post. */
export interface Probe extends Pick<UnclaimedIds, "claim" | "newestId"> {
  readonly id: number;
  /** A quick check of the likeliest id. Finding nothing proves nothing. */
  readonly isLook: boolean;
}

export function entryOf(row: OutboxRow): OutboxEntry {
  return { row, shownHash: row.shownHash };
}

/**
 * Returns the entry of a row after a start. A call that was under way when the process died may still land:
 *
 * - an edit, until `strayUntil`, unless the message is known to be up to date
 * - a question about a lost post, until `askedUntil`, with the text and the buttons that were wanted then
 */
export function entryAfterStart(
  row: OutboxRow,
  { askedUntil, now, strayUntil }: { askedUntil: number; now: number; strayUntil: number },
): OutboxEntry {
  // The cause of an earlier failure may be gone, so it is tried again at once. Penalties are kept by the gate. A lost
  // post must still wait until it cannot land.
  const isRetried = row.state !== "unknown" && row.failingSince !== undefined;
  const entry = entryOf(isRetried ? { ...afterRest(row, now), retryAt: undefined } : row);
  if (row.state === "sent" && row.shownHash === undefined && strayUntil > now) {
    entry.strayEdit = { hash: undefined, until: strayUntil };
  }
  // A post that this start finds under way has not been asked about yet. A search by key carries no text.
  if (isSearchable(row.doubt) && !isKeyed(row.doubt))
    entry.strayEdit = { hash: undefined, until: askedUntil };
  return entry;
}

/**
 * Returns the row for a new try. Time without any tries, for example while the machine was off, does not count as time
 * of failing.
 */
export function afterRest(row: OutboxRow, now: number): OutboxRow {
  const { failingSince, retryAt } = row;
  if (failingSince === undefined || retryAt === undefined || retryAt >= now) return row;
  return { ...row, failingSince: failingSince + now - retryAt, retryAt: undefined };
}

/**
 * A message that could not be changed for this long no longer holds up later ones. The time is long because the
 * platform is probably in trouble, and other posts could be lost too.
 */
const PATIENCE_MS = 10 * 60 * 1000;
/** An upload that could not be sent for this long no longer holds up later messages: a text may still get through. */
const UPLOAD_PATIENCE_MS = 8_000;
/** Code of a post whose upload did not leave completely. */
export const UPLOAD_CUT = "upload-cut";

/**
 * Tells whether an existing message waits for another try of an edit or removal that has failed for a while. Later
 * messages may go first: this message keeps its place, and the problem may be this message alone.
 */
export function isPutOff(entry: OutboxEntry, now: number): boolean {
  return entry.row.state === "sent" && waitsInVain(entry, now, PATIENCE_MS);
}

/** Tells whether a post waits for another try after the platform has refused it for a while. */
export function isStuckPost(entry: OutboxEntry, now: number): boolean {
  const patienceMs = entry.row.code === UPLOAD_CUT ? UPLOAD_PATIENCE_MS : PATIENCE_MS;
  return entry.row.state === "planned" && waitsInVain(entry, now, patienceMs);
}

function waitsInVain(
  { row: { failingSince, retryAt } }: OutboxEntry,
  now: number,
  patienceMs: number,
): boolean {
  if (failingSince === undefined || retryAt === undefined) return false;
  return retryAt > now && now - failingSince > patienceMs;
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

/**
 * Returns until when an abandoned edit may still change one of the messages. Undefined if the visible text is certain.
 */
export function strayUntil(entries: readonly OutboxEntry[]): number | undefined {
  let latest: number | undefined;
  for (const { row, strayEdit, shownHash } of entries) {
    if (row.state !== "sent" || strayEdit === undefined || strayEdit.hash === shownHash) continue;
    latest = Math.max(latest ?? 0, strayEdit.until);
  }
  return latest;
}

/**
 * A message that is streamed into, or was. Kept in memory only. If an earlier process began the stream, its state is
 * not known, so the stream is ended (again) before the message is edited.
 */
export interface MessageStream {
  readonly state: "open" | "ended";
  /** The text that was added so far. */
  readonly content: RichText;
}
