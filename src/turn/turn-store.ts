import { z } from "zod";
import { parseAddress } from "../core/chat/stored-address.ts";
import { parseEvent } from "../core/chat/stored-event.ts";
import type { ChatMove } from "../core/chat/chat-move.ts";
import type { Database } from "../core/store/database.ts";
import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import { added, defineTable, flag, integer, json, openTable, text } from "../core/store/table.ts";
import type { RowOf } from "../core/store/table.ts";
import type { Address } from "../core/chat/surface.ts";
import type { TurnKind } from "../core/turn/turn-info.ts";
import type { ResponseStatus } from "./turn-ends.ts";

/**
 * The state of a turn.
 *
 * - `open`: the model is working, or will be
 * - `stopping`: somebody ended it; what is visible stays
 * - `yielding`: it ends between two steps, because the person wrote more; its tool results stay in the transcript
 * - `parking`: it ends between two steps with its text so far, because the rest waits for somebody's decision or the bot
 *   wants no more steps
 * - `out-of-steps`: it ends with its text so far, because it has used all its steps
 * - `ended`: its reply's text is stored
 * - `withdrawn`: a later turn answers its messages too
 */
export type TurnState = "open" | "stopping" | "yielding" | "parking" | "out-of-steps" | "ended" | "withdrawn";

const calls = json<readonly string[]>(z.array(z.string()));

/**
 * The turns of a conversation. A turn is `open` until its reply's whole text is stored. After a crash every open turn
 * continues. Only turns of messages have an address and a context; those of a prompt are in the prompt's row.
 */
const TURNS = defineTable("turn_v1", {
  /** Id of the turn, of its reply, and of its operation in the turn engine. */
  id: text("PRIMARY KEY"),
  seq: integer("NOT NULL"),
  /** The session of the transcript that it belongs to. */
  session: text("NOT NULL"),
  state: text<TurnState>("NOT NULL"),
  /** JSON, as the next one. */
  address: text("NOT NULL"),
  context: text("NOT NULL"),
  /** Whether a tool has begun that must not run twice. The turn cannot be withdrawn then. */
  acted: flag("NOT NULL DEFAULT 0"),
  /** Time at which the newest of its messages arrived, in epoch milliseconds. */
  lastReceivedAt: integer("NOT NULL"),
  messageSeqs: json<readonly number[]>(z.array(z.number()))("NOT NULL"),
  replaces: text(),
  kind: added(text<TurnKind>("NOT NULL DEFAULT 'messages'")),
  /** Calls of tools with an effect whose `execute` has begun. */
  begunCalls: added(calls("NOT NULL DEFAULT '[]'")),
  /** Calls whose result waits for somebody's decision. */
  waitingCalls: added(calls("NOT NULL DEFAULT '[]'")),
  /** The end of the turn, until the bot has been told. */
  dueResponse: added(text<ResponseStatus>()),
  /** Tokens of its model calls. Counted only if `chatRecovery` limits them. */
  usedTokens: added(integer("NOT NULL DEFAULT 0")),
});

type AnyTurn = Omit<RowOf<typeof TURNS>, "address" | "context" | "messageSeqs" | "replaces" | "kind">;

/** A turn that answers people. */
export interface MessagesTurn extends AnyTurn {
  readonly kind: "messages";
  readonly address: Address;
  /** The event of the newest message that it answers. */
  readonly context: MessengerEvent;
  /** The inbox rows that it answers. */
  readonly messageSeqs: readonly number[];
  /** The withdrawn turn whose visible messages this one takes over. */
  readonly replaces: string | undefined;
}

/** A turn that the bot's own code began. The prompt of the same id has its messages and the chats for its answer. */
export interface PromptTurn extends AnyTurn {
  readonly kind: Exclude<TurnKind, "messages">;
}

export type Turn = MessagesTurn | PromptTurn;

type New<T extends Turn> = Omit<
  T,
  "seq" | "state" | "acted" | "begunCalls" | "waitingCalls" | "dueResponse" | "usedTokens"
>;
export type NewTurn = New<MessagesTurn> | New<PromptTurn>;

export interface TurnStore {
  /**
   * Begins a turn. Forgets turns that finished before the newest one, and withdrawn turns if the new one replaces none.
   */
  insert(turn: NewTurn): Turn;
  get(id: string): Turn | undefined;
  /** Turns that have not ended and are not withdrawn, oldest first. */
  unfinished(): Turn[];
  hasUnfinished(): boolean;
  newest(): Turn | undefined;
  setState(id: string, state: TurnState): void;
  /** Stores that a tool with an effect is about to run. */
  beginCall(id: string, callId: string): void;
  /**
   * Stores that the result of a call waits for somebody's decision. The call has asked only, so it does not count as
   * begun: the turn can still be withdrawn, unless another call has had an effect.
   */
  park(id: string, callId: string): void;
  addTokens(id: string, tokens: number): void;
  /** Stores that the bot must be told of the turn's end, or has been told (`undefined`). */
  setDueResponse(id: string, status: ResponseStatus | undefined): void;
  /** Returns the turns whose end the bot must still be told, oldest first. */
  dueResponses(): Turn[];
  /** Gives the turns of a moved chat its new id. */
  move(messengerId: string, move: ChatMove): void;
}

const UNFINISHED = "state NOT IN ('ended', 'withdrawn')";

export function createTurnStore(database: Database): TurnStore {
  const turns = openTable(database, TURNS);
  const read = (where: string, ...bindings: string[]): Turn[] => turns.all(where, ...bindings).map(turnOf);

  return {
    insert(turn) {
      const newest = database.all<{ seq: number | null }>("SELECT max(seq) AS seq FROM turn_v1")[0]?.seq ?? 0;
      const replaces = turn.kind === "messages" ? turn.replaces : undefined;
      // A replaced turn may be running until the new one has begun.
      const over = replaces === undefined ? "('ended', 'withdrawn')" : "('ended')";
      database.run(`DELETE FROM turn_v1 WHERE state IN ${over} AND seq < ? AND due_response IS NULL`, newest);
      const { address = null, context = null, messageSeqs = [] } = turn.kind === "messages" ? turn : {};
      turns.insert({
        id: turn.id,
        seq: newest + 1,
        session: turn.session,
        state: "open",
        address: JSON.stringify(address),
        context: JSON.stringify(context),
        lastReceivedAt: turn.lastReceivedAt,
        messageSeqs,
        replaces,
        kind: turn.kind,
      });
      return {
        ...turn,
        seq: newest + 1,
        state: "open",
        acted: false,
        begunCalls: [],
        waitingCalls: [],
        dueResponse: undefined,
        usedTokens: 0,
      };
    },
    get: (id) => read("WHERE id = ?", id)[0],
    unfinished: () => read(`WHERE ${UNFINISHED} ORDER BY seq`),
    hasUnfinished: () => database.all(`SELECT 1 FROM turn_v1 WHERE ${UNFINISHED} LIMIT 1`).length > 0,
    newest: () => read("ORDER BY seq DESC LIMIT 1")[0],
    setState: (id, state) => turns.update({ state }, "WHERE id = ?", id),
    beginCall(id, callId) {
      database.run(
        "UPDATE turn_v1 SET acted = 1, begun_calls = json_insert(begun_calls, '$[#]', ?) WHERE id = ?",
        callId,
        id,
      );
    },
    park(id, callId) {
      database.run(
        "UPDATE turn_v1 SET waiting_calls = json_insert(waiting_calls, '$[#]', ?) WHERE id = ?",
        callId,
        id,
      );
      database.run(
        `UPDATE turn_v1 SET acted = EXISTS (SELECT 1 FROM json_each(begun_calls) AS begun
           WHERE begun.value NOT IN (SELECT value FROM json_each(waiting_calls))) WHERE id = ?`,
        id,
      );
    },
    addTokens(id, tokens) {
      database.run("UPDATE turn_v1 SET used_tokens = used_tokens + ? WHERE id = ?", tokens, id);
    },
    setDueResponse: (id, dueResponse) => turns.update({ dueResponse }, "WHERE id = ?", id),
    dueResponses: () => read("WHERE due_response IS NOT NULL AND state = 'ended' ORDER BY seq"),
    move(messengerId, { from, to }) {
      database.run(
        `UPDATE turn_v1 SET address = json_set(address, '$.threadId', ?, '$.chatId', ?),
           context = json_set(context, '$.thread.id', ?, '$.thread.chatId', ?, '$.thread.formerChatId', ?)
         WHERE kind = 'messages' AND json_extract(address, '$.messengerId') = ? AND json_extract(address, '$.chatId') = ?`,
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

function turnOf({ address, context, kind, messageSeqs, replaces, ...turn }: RowOf<typeof TURNS>): Turn {
  if (kind !== "messages") return { ...turn, kind };
  return {
    ...turn,
    kind,
    address: parseAddress(address),
    context: parseEvent(context),
    messageSeqs,
    replaces,
  };
}
