import type { ChatMove } from "../core/chat-move.ts";
import type { Database } from "../core/database.ts";
import { firstRow } from "../core/database.ts";
import type { MessengerEvent } from "../core/messenger-event.ts";
import type { Address } from "../core/surface.ts";

/**
 * Turns that messages of a messenger have started. A turn is `open` until its reply's whole text is stored. After a
 * crash every open turn is resumed.
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS turn_v1 (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  session TEXT NOT NULL,
  state TEXT NOT NULL,
  address TEXT NOT NULL,
  context TEXT NOT NULL,
  acted INTEGER NOT NULL DEFAULT 0,
  last_received_at INTEGER NOT NULL,
  message_seqs TEXT NOT NULL,
  replaces TEXT
) STRICT, WITHOUT ROWID`;

/**
 * The state of a turn.
 *
 * - `open`: the model is at work, or will be
 * - `stopping`: somebody stopped it; the visible text stays
 * - `yielding`: it ends between two steps, because the person wrote more; its results stay in the transcript
 * - `ended`: its reply's text is stored
 * - `withdrawn`: a later turn answers its messages too
 */
export type TurnState = "open" | "stopping" | "yielding" | "ended" | "withdrawn";

export interface Turn {
  /** Also the id of its reply and of its operation at the turn engine. */
  readonly id: string;
  readonly seq: number;
  /** The session of the transcript that it belongs to. */
  readonly session: string;
  readonly state: TurnState;
  readonly address: Address;
  /** The event of the newest message that it answers. */
  readonly context: MessengerEvent;
  /** True if a tool with an effect has begun. The turn can no longer be withdrawn. */
  readonly acted: boolean;
  readonly lastReceivedAt: number;
  /** The inbox rows that it answers. */
  readonly messageSeqs: readonly number[];
  /** The withdrawn turn whose visible messages this one takes over. */
  readonly replaces: string | undefined;
}

export interface TurnStore {
  /** Adds a turn. Deletes turns that ended before the newest one, and withdrawn turns if the new one replaces none. */
  insert(turn: Omit<Turn, "seq" | "state" | "acted">): Turn;
  get(id: string): Turn | undefined;
  /** Turns that are `open`, `stopping` or `yielding`, oldest first. */
  unfinished(): Turn[];
  newest(): Turn | undefined;
  setState(id: string, state: TurnState): void;
  markActed(id: string): void;
  /** Moves the turns of a chat that continues under another id. */
  move(messengerId: string, move: ChatMove): void;
}

type StoredTurn = {
  id: string;
  seq: number;
  session: string;
  state: TurnState;
  address: string;
  context: string;
  acted: number;
  last_received_at: number;
  message_seqs: string;
  replaces: string | null;
};

export function createTurnStore(database: Database): TurnStore {
  database.run(SCHEMA);
  const COLUMNS =
    "id, seq, session, state, address, context, acted, last_received_at, message_seqs, replaces";
  const read = (where: string, ...bindings: string[]) =>
    database.all<StoredTurn>(`SELECT ${COLUMNS} FROM turn_v1 ${where}`, ...bindings).map(parseTurn);

  return {
    insert(turn) {
      const newest =
        firstRow(database.all<{ seq: number | null }>("SELECT max(seq) AS seq FROM turn_v1"))?.seq ?? 0;
      // The replaced turn may still be running until the new turn has begun.
      const over = turn.replaces === undefined ? "('ended', 'withdrawn')" : "('ended')";
      database.run(`DELETE FROM turn_v1 WHERE state IN ${over} AND seq < ?`, newest);
      database.run(
        `INSERT INTO turn_v1 (id, seq, session, state, address, context, last_received_at, message_seqs, replaces)
         VALUES (?, ?, ?, 'open', ?, ?, ?, ?, ?)`,
        turn.id,
        newest + 1,
        turn.session,
        JSON.stringify(turn.address),
        JSON.stringify(turn.context),
        turn.lastReceivedAt,
        JSON.stringify(turn.messageSeqs),
        turn.replaces ?? null,
      );
      return { ...turn, seq: newest + 1, state: "open", acted: false };
    },
    get: (id) => firstRow(read("WHERE id = ?", id)),
    unfinished: () => read("WHERE state IN ('open', 'stopping', 'yielding') ORDER BY seq"),
    newest: () => firstRow(read("ORDER BY seq DESC LIMIT 1")),
    setState(id, state) {
      database.run("UPDATE turn_v1 SET state = ? WHERE id = ?", state, id);
    },
    markActed(id) {
      database.run("UPDATE turn_v1 SET acted = 1 WHERE id = ? AND acted = 0", id);
    },
    move(messengerId, { from, to }) {
      database.run(
        `UPDATE turn_v1 SET address = json_set(address, '$.threadId', ?, '$.chatId', ?),
           context = json_set(context, '$.thread.id', ?, '$.thread.chatId', ?, '$.thread.formerChatId', ?)
         WHERE json_extract(address, '$.messengerId') = ? AND json_extract(address, '$.chatId') = ?`,
        to.threadId,
        to.chatId,
        to.threadId,
        to.chatId,
        from.chatId,
        messengerId,
        from.chatId,
      );
    },
  };
}

function parseTurn(row: StoredTurn): Turn {
  return {
    id: row.id,
    seq: row.seq,
    session: row.session,
    state: row.state,
    address: JSON.parse(row.address) as Address,
    context: JSON.parse(row.context) as MessengerEvent,
    acted: row.acted === 1,
    lastReceivedAt: row.last_received_at,
    messageSeqs: JSON.parse(row.message_seqs) as number[],
    replaces: row.replaces ?? undefined,
  };
}
