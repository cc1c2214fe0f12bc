import type { ChatMove } from "../core/chat/chat-move.ts";
import type { CardClaim } from "../core/chat/gate.ts";
import type { Database } from "../core/store/database.ts";
import type { IncomingEvent } from "../core/chat/messenger.ts";
import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import { parseClaim, parseEvent, parseThread, storeEvent, storeThread } from "../core/chat/stored-event.ts";
import { added, defineTable, encoded, integer, openTable, text } from "../core/store/table.ts";
import type { RowOf } from "../core/store/table.ts";

/**
 * The state of an event.
 *
 * - `received`: stored as it arrived, not looked at
 * - `queued`: a message that waits for its turn
 * - `taken`: part of a turn that is not finished
 * - `done`: nothing more to do; kept so that a redelivery is recognized
 */
export type InboxState = "received" | "queued" | "taken" | "done";

/**
 * The durable inbox of one conversation. A row is written before its webhook is answered (I1); `key` makes it unique
 * over redelivery, crash and restart (I2); `seq` is the order of arrival (I3).
 */
const EVENTS = defineTable(
  "inbox_v1",
  {
    seq: integer("PRIMARY KEY AUTOINCREMENT"),
    key: text("NOT NULL UNIQUE"),
    messengerId: text("NOT NULL"),
    state: text<InboxState>("NOT NULL"),
    receivedAt: integer("NOT NULL"),
    thread: encoded(parseThread, storeThread)("NOT NULL"),
    raw: encoded<unknown>(JSON.parse)(),
    event: encoded(parseEvent, storeEvent)(),
    /** The message is not answered before this time (an album that is still arriving, a paste that was split). */
    readyAt: integer("NOT NULL DEFAULT 0"),
    outcome: text(),
    claim: added(encoded(parseClaim)()),
  },
  "STRICT",
  // Covers only rows that still wait for something, so that a week of known keys makes no look-up slower.
  { inbox_open_v1: "(state) WHERE state <> 'done'" },
);

export interface InboxRow extends Omit<RowOf<typeof EVENTS>, "thread" | "raw" | "outcome" | "claim"> {
  readonly incoming: IncomingEvent;
}

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
  /** Keeps the card that an event answers. */
  claim(seq: number, claim: CardClaim): void;
  /** Ends rows. The events of answered messages are kept for a turn that may take them over. */
  end(seqs: readonly number[], outcome: string): void;
  countQueued(): number;
  /** Moves everything that waits for something in a chat that continues under another id. */
  move(messengerId: string, move: ChatMove): void;
}

export function createInboxStore(database: Database): InboxStore {
  const events = openTable(database, EVENTS);
  const update = (seqs: readonly number[], changes: Partial<RowOf<typeof EVENTS>>): void => {
    for (const seq of seqs) events.update(changes, "WHERE seq = ?", seq);
  };

  return {
    isKnown: (messengerId, key) =>
      database.all("SELECT 1 AS one FROM inbox_v1 WHERE key = ?", storedKey(messengerId, { key })).length > 0,
    insert(messengerId, { claim, key, raw, thread }, receivedAt) {
      // Read back, as after a restart, so that later code never sees more than is stored.
      const row = events.insertNew({
        key: storedKey(messengerId, { key }),
        messengerId,
        state: "received",
        receivedAt,
        thread,
        raw,
        claim,
      });
      return row && rowOf(row);
    },
    insertEnded(messengerId, incoming, receivedAt, outcome) {
      const key = storedKey(messengerId, incoming);
      const { thread } = incoming;
      return events.insertNew({ key, messengerId, state: "done", receivedAt, thread, outcome }) !== undefined;
    },
    inState: (state) => events.all("WHERE state <> 'done' AND state = ? ORDER BY seq", state).map(rowOf),
    rows: (seqs) =>
      events
        .all("WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq", JSON.stringify(seqs))
        .map(rowOf),
    queue: (seq, event, readyAt) => update([seq], { state: "queued", raw: undefined, event, readyAt }),
    correct: (seq, event) => update([seq], { event }),
    hold: (seqs, readyAt) => update(seqs, { readyAt }),
    claim: (seq, claim) => update([seq], { claim }),
    take: (seqs) => update(seqs, { state: "taken" }),
    end: (seqs, outcome) => update(seqs, { state: "done", raw: undefined, outcome }),
    countQueued: () =>
      database.all<{ n: number }>(
        "SELECT count(*) AS n FROM inbox_v1 WHERE state <> 'done' AND state = 'queued'",
      )[0]?.n ?? 0,
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

function rowOf({ claim, key, raw, thread, ...row }: RowOf<typeof EVENTS>): InboxRow {
  const incoming = { key: key.slice(row.messengerId.length + 1), thread, raw };
  return { ...row, key, incoming: claim === undefined ? incoming : { ...incoming, claim } };
}
