import type { ChatMove } from "../core/chat-move.ts";
import { addMissingColumns } from "../core/add-missing-columns.ts";
import type { Database } from "../core/database.ts";
import { firstRow } from "../core/database.ts";
import type { IncomingEvent } from "../core/messenger.ts";
import type { MessengerEvent } from "../core/messenger-event.ts";
import { parseClaim, parseEvent, parseThread, storeEvent, storeThread } from "../core/stored-event.ts";

/**
 * The durable inbox of one conversation. A row is written before its webhook is answered (I1); `key` makes it unique
 * over redelivery, crash and restart (I2); `seq` is the order of arrival (I3).
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS inbox_v1 (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  messenger_id TEXT NOT NULL,
  state TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  thread TEXT NOT NULL,
  raw TEXT,
  event TEXT,
  ready_at INTEGER NOT NULL DEFAULT 0,
  outcome TEXT,
  claim TEXT
) STRICT`;

/** Covers only rows that still wait for something, so that a week of known keys makes no look-up slower. */
const OPEN_INDEX = "CREATE INDEX IF NOT EXISTS inbox_open_v1 ON inbox_v1 (state) WHERE state <> 'done'";

/**
 * The state of an event.
 *
 * - `received`: stored as it arrived, not looked at
 * - `queued`: a message that waits for its turn
 * - `taken`: part of a turn that is not finished
 * - `done`: nothing more to do; kept so that a redelivery is recognized
 */
export type InboxState = "received" | "queued" | "taken" | "done";

export interface InboxRow {
  readonly seq: number;
  readonly key: string;
  readonly messengerId: string;
  readonly state: InboxState;
  readonly receivedAt: number;
  /** The message is not answered before this time (an album that is still arriving, a paste that was split). */
  readonly readyAt: number;
  readonly incoming: IncomingEvent;
  readonly event: MessengerEvent | undefined;
}

type StoredRow = {
  seq: number;
  key: string;
  messenger_id: string;
  state: InboxState;
  received_at: number;
  thread: string;
  raw: string | null;
  event: string | null;
  ready_at: number;
  claim: string | null;
};

export interface InboxStore {
  isKnown(messengerId: string, key: string): boolean;
  /** Stores an event. Returns undefined if its key is already known. */
  insert(messengerId: string, incoming: IncomingEvent, receivedAt: number): InboxRow | undefined;
  /** Stores an ignored event in one write. Returns false if its key is already known. */
  insertEnded(messengerId: string, incoming: IncomingEvent, receivedAt: number, outcome: string): boolean;
  /** Rows in a state, in order of arrival. */
  inState(state: InboxState): InboxRow[];
  /** The rows with these numbers, in order of arrival. */
  rows(seqs: readonly number[]): InboxRow[];
  queue(seq: number, event: MessengerEvent, readyAt: number): void;
  /** Replaces the event of a queued message (the person edited it). */
  correct(seq: number, event: MessengerEvent): void;
  /** Extends the hold of queued messages (an album got another picture). */
  hold(seqs: readonly number[], readyAt: number): void;
  take(seqs: readonly number[]): void;
  /** Ends rows. The events of answered messages are kept for a turn that may take them over. */
  end(seqs: readonly number[], outcome: string): void;
  countQueued(): number;
  /** Moves everything that waits for something in a chat that continues under another id. */
  move(messengerId: string, move: ChatMove): void;
}

export function createInboxStore(database: Database): InboxStore {
  database.run(SCHEMA);
  addMissingColumns(database, "inbox_v1", { claim: "TEXT" });
  database.run(OPEN_INDEX);
  const COLUMNS = "seq, key, messenger_id, state, received_at, thread, raw, event, ready_at, claim";
  const each = (seqs: readonly number[], statement: string, ...bindings: readonly (string | number)[]) => {
    for (const seq of seqs) database.run(statement, ...bindings, seq);
  };

  return {
    isKnown: (messengerId, key) =>
      database.all("SELECT 1 AS one FROM inbox_v1 WHERE key = ?", storedKey(messengerId, { key })).length > 0,
    insert(messengerId, incoming, receivedAt) {
      const key = storedKey(messengerId, incoming);
      const thread = storeThread(incoming.thread);
      const raw = JSON.stringify(incoming.raw);
      const claim = incoming.claim === undefined ? null : JSON.stringify(incoming.claim);
      const inserted = firstRow(
        database.all<{ seq: number }>(
          `INSERT INTO inbox_v1 (key, messenger_id, state, received_at, thread, raw, claim)
           VALUES (?, ?, 'received', ?, ?, ?, ?)
           ON CONFLICT (key) DO NOTHING RETURNING seq`,
          key,
          messengerId,
          receivedAt,
          thread,
          raw,
          claim,
        ),
      );
      if (inserted === undefined) return undefined;
      const { seq } = inserted;
      // Parsed again, as after a restart, so that later code never sees more than is stored.
      return parseRow({
        seq,
        key,
        messenger_id: messengerId,
        state: "received",
        received_at: receivedAt,
        thread,
        raw,
        event: null,
        ready_at: 0,
        claim,
      });
    },
    insertEnded(messengerId, incoming, receivedAt, outcome) {
      const inserted = database.all(
        `INSERT INTO inbox_v1 (key, messenger_id, state, received_at, thread, outcome) VALUES (?, ?, 'done', ?, ?, ?)
         ON CONFLICT (key) DO NOTHING RETURNING seq`,
        storedKey(messengerId, incoming),
        messengerId,
        receivedAt,
        storeThread(incoming.thread),
        outcome,
      );
      return inserted.length === 1;
    },
    inState: (state) =>
      database
        .all<StoredRow>(
          `SELECT ${COLUMNS} FROM inbox_v1 WHERE state <> 'done' AND state = ? ORDER BY seq`,
          state,
        )
        .map(parseRow),
    rows: (seqs) =>
      database
        .all<StoredRow>(
          `SELECT ${COLUMNS} FROM inbox_v1 WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq`,
          JSON.stringify(seqs),
        )
        .map(parseRow),
    queue(seq, event, readyAt) {
      database.run(
        "UPDATE inbox_v1 SET state = 'queued', raw = NULL, event = ?, ready_at = ? WHERE seq = ?",
        storeEvent(event),
        readyAt,
        seq,
      );
    },
    correct(seq, event) {
      database.run("UPDATE inbox_v1 SET event = ? WHERE seq = ?", storeEvent(event), seq);
    },
    hold: (seqs, readyAt) => each(seqs, "UPDATE inbox_v1 SET ready_at = ? WHERE seq = ?", readyAt),
    take: (seqs) => each(seqs, "UPDATE inbox_v1 SET state = 'taken' WHERE seq = ?"),
    end: (seqs, outcome) =>
      each(seqs, "UPDATE inbox_v1 SET state = 'done', raw = NULL, outcome = ? WHERE seq = ?", outcome),
    countQueued: () =>
      firstRow(
        database.all<{ n: number }>(
          "SELECT count(*) AS n FROM inbox_v1 WHERE state <> 'done' AND state = 'queued'",
        ),
      )?.n ?? 0,
    move(messengerId, { from, to }) {
      database.run(
        `UPDATE inbox_v1 SET
           thread = json_set(thread, '$.id', ?1, '$.chatId', ?2, '$.formerChatId', ?3),
           event = json_set(event, '$.thread.id', ?1, '$.thread.chatId', ?2, '$.thread.formerChatId', ?3)
         WHERE state <> 'done' AND messenger_id = ?4 AND json_extract(thread, '$.chatId') = ?3`,
        to.threadId,
        to.chatId,
        from.chatId,
        messengerId,
      );
    },
  };
}

function storedKey(messengerId: string, incoming: Pick<IncomingEvent, "key">): string {
  return `${messengerId}|${incoming.key}`;
}

function parseRow(row: StoredRow): InboxRow {
  return {
    seq: row.seq,
    key: row.key,
    messengerId: row.messenger_id,
    state: row.state,
    receivedAt: row.received_at,
    readyAt: row.ready_at,
    incoming: {
      key: row.key.slice(row.messenger_id.length + 1),
      thread: parseThread(row.thread),
      raw: row.raw === null ? undefined : JSON.parse(row.raw),
      ...(row.claim !== null && { claim: parseClaim(row.claim) }),
    },
    event: row.event === null ? undefined : parseEvent(row.event),
  };
}
