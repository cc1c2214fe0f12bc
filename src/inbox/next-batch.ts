import type { InboxRow } from "./inbox-store.ts";

export interface BatchSettings {
  readonly burstMs: number;
  readonly staleAfterMs: number;
}

export type NextBatch =
  | { readonly kind: "none" }
  /** The first message is still held. More of it may arrive until `until` (epoch milliseconds). */
  | { readonly kind: "wait"; readonly until: number }
  | { readonly kind: "batch"; readonly rows: readonly InboxRow[] };

/** Platforms date messages in whole seconds. */
const DATE_RESOLUTION_MS = 1000;

/**
 * Returns the queued messages that the next turn answers, in order of arrival: the first one of all (I3), and those of
 * the same person in the same thread that followed in quick succession or belong to its album. After an outage
 * everything that this person wrote before it is answered together. In a group that holds for all messages of the
 * person that wait, so that others wait for one answer. Other people of the thread get their own turns, and so does each
 * slash command.
 */
export function nextBatch(
  queued: readonly InboxRow[],
  settingsOf: (messengerId: string) => BatchSettings,
  now: number,
): NextBatch {
  const [head, ...rest] = queued;
  if (head === undefined) return { kind: "none" };
  const settings = settingsOf(head.messengerId);
  const sameThread = isAlone(head) ? [] : rest.filter((row) => inSameThread(head, row) && !isAlone(row));
  const rows = isStale(head, settings, now)
    ? [head, ...sameThread.filter((row) => isSamePerson(head, row) && isStale(row, settings, now))]
    : withWaiting(burst(head, sameThread, settings.burstMs), sameThread, now);
  const readyAt = Math.max(...rows.map((row) => row.readyAt));
  return readyAt > now ? { kind: "wait", until: readyAt } : { kind: "batch", rows };
}

/** Adds the further messages of a person in a group, up to the first that may be incomplete. */
function withWaiting(rows: InboxRow[], sameThread: readonly InboxRow[], now: number): InboxRow[] {
  const [head] = rows;
  if (head?.event?.author === undefined || head.event.thread.isDirectMessage) return rows;
  const others = sameThread.filter((row) => isSamePerson(head, row) && !rows.includes(row));
  const held = others.findIndex(({ readyAt }) => readyAt > now);
  return [...rows, ...(held === -1 ? others : others.slice(0, held))];
}

function burst(head: InboxRow, following: readonly InboxRow[], burstMs: number): InboxRow[] {
  const rows = [head];
  let last = head;
  for (const row of following) {
    if (!followsInBurst(last, row, burstMs)) break;
    rows.push(row);
    last = row;
  }
  return rows;
}

/** Tells whether `next` continues `last`: same person, same thread, and within the burst. */
export function followsInBurst(last: InboxRow, next: InboxRow, burstMs: number): boolean {
  // An earlier message that could only be read later does not continue a message that was answered in the meantime.
  if (next.seq < last.seq) return false;
  if (!inSameThread(last, next) || !isSamePerson(last, next)) return false;
  if (isAlone(last) || isAlone(next)) return false;
  const album = last.event?.message?.albumId;
  if (album !== undefined && album === next.event?.message?.albumId) return true;
  if (Math.abs(writtenAt(next) - writtenAt(last)) > burstMs) return false;
  const datesApart = Math.abs((next.event?.message?.sentAt ?? 0) - (last.event?.message?.sentAt ?? 0));
  return datesApart <= Math.ceil(burstMs / DATE_RESOLUTION_MS) * DATE_RESOLUTION_MS;
}

/**
 * Returns the latest time at which a message was written. A message that was delivered again after an outage is older
 * than its arrival.
 */
function writtenAt({ event, receivedAt }: InboxRow): number {
  const sentAt = event?.message?.sentAt;
  return sentAt === undefined ? receivedAt : Math.min(receivedAt, sentAt + DATE_RESOLUTION_MS - 1);
}

function isAlone({ event }: InboxRow): boolean {
  return event?.message?.isSlashCommand === true;
}

function inSameThread(left: InboxRow, right: InboxRow): boolean {
  return left.messengerId === right.messengerId && left.incoming.thread.id === right.incoming.thread.id;
}

function isSamePerson(left: InboxRow, right: InboxRow): boolean {
  return left.event?.author?.userId === right.event?.author?.userId;
}

/** Tells whether a message is from before an outage. */
export function isStale(row: InboxRow, settings: Pick<BatchSettings, "staleAfterMs">, now: number): boolean {
  const sentAt = row.event?.message?.sentAt;
  return sentAt !== undefined && now - sentAt > settings.staleAfterMs;
}
