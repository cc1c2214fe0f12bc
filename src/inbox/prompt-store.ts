import { z } from "zod";
import { addressSchema } from "../core/stored-address.ts";
import { parseMessages, parseMetadata } from "../core/stored-messages.ts";
import type { UIMessage } from "ai";
import type { ChatMove } from "../core/chat-move.ts";
import type { Database } from "../core/database.ts";
import { firstRow } from "../core/database.ts";
import { LazyTables } from "../core/lazy-tables.ts";
import type { Address } from "../core/surface.ts";
import type { PromptMetadata, TurnKind } from "../core/turn-info.ts";

/**
 * Prompts of the bot's own code and outcomes of actions that wait for a turn. They share one order with people's
 * messages: `after_seq` is the newest inbox row at the time of arrival, so a prompt comes after that row and before
 * every later one (I3). `idempotency_key` makes it unique over repeated calls, crash and restart (I2).
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS prompt_v1 (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  idempotency_key TEXT UNIQUE,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  after_seq INTEGER NOT NULL,
  messages TEXT,
  message_count INTEGER NOT NULL,
  answer_to TEXT NOT NULL,
  metadata TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  hash TEXT,
  channel TEXT
) STRICT`;
/** Columns that the first table did not have. */
const ADDED = { hash: "TEXT", channel: "TEXT" };

/** Holds only prompts that have not ended. */
const OPEN_INDEX =
  "CREATE INDEX IF NOT EXISTS prompt_open_v1 ON prompt_v1 (state, seq) WHERE state IN ('pending', 'running')";

/**
 * - `pending`: waits for its turn
 * - `running`: its turn is running
 * - `completed`, `aborted`, `error`: its turn has ended, or will never begin
 */
export type PromptState = "pending" | "running" | "completed" | "aborted" | "error";
export type PromptEnd = Exclude<PromptState, "pending" | "running">;

export interface Prompt {
  /** Id of the prompt and of its turn. */
  readonly id: string;
  readonly kind: Exclude<TurnKind, "messages">;
  readonly state: PromptState;
  readonly idempotencyKey: string | undefined;
  /** The newest row of the inbox that comes before it. */
  readonly afterSeq: number;
  /** The messages for the model. Empty once the prompt has ended. */
  readonly messages: readonly UIMessage[];
  readonly messageCount: number;
  readonly answerTo: readonly Address[];
  readonly metadata: PromptMetadata | undefined;
  /** The code of the failure. */
  readonly error: string | undefined;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** Tells the same request from another one with the same key. Undefined if the caller does not care. */
  readonly hash: string | undefined;
  /** The channel that its turn was given. Undefined: that of its chat. */
  readonly channel?: string | undefined;
}

/** Prompts that have ended. */
export interface PromptDeletion {
  readonly states: readonly PromptEnd[];
  /** Only those that ended before this time, in epoch milliseconds. */
  readonly endedBefore: number;
  readonly limit: number;
}

export type NewPrompt = Pick<
  Prompt,
  "id" | "kind" | "idempotencyKey" | "messages" | "answerTo" | "metadata" | "createdAt" | "hash" | "channel"
>;

export interface PromptStore {
  insert(prompt: NewPrompt): Prompt;
  get(id: string): Prompt | undefined;
  byKey(idempotencyKey: string): Prompt | undefined;
  /** Returns the oldest waiting prompt. */
  next(): Prompt | undefined;
  start(id: string, now: number): void;
  /** Stores the end of a prompt, and forgets its messages. */
  end(id: string, state: PromptEnd, now: number, error?: string): void;
  /** Returns prompts, newest first. */
  list(filter: { readonly states?: readonly PromptState[]; readonly limit: number }): Prompt[];
  /** Gives open answers to a moved chat its new id. */
  move(messengerId: string, move: ChatMove): void;
  /** Forgets ended prompts, the oldest first. Returns their number. */
  remove(which: PromptDeletion): number;
}

type StoredPrompt = {
  id: string;
  idempotency_key: string | null;
  kind: Prompt["kind"];
  state: PromptState;
  after_seq: number;
  messages: string | null;
  message_count: number;
  answer_to: string;
  metadata: string | null;
  error: string | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  hash: string | null;
  channel: string | null;
};

const COLUMNS =
  "id, idempotency_key, kind, state, after_seq, messages, message_count, answer_to, metadata, error, created_at, started_at, ended_at, hash, channel";

/**
 * Needs the table of the inbox. Creates its own table with the first prompt, because most conversations never have one.
 */
export function createPromptStore(database: Database): PromptStore {
  const tables = new LazyTables(database, {
    table: "prompt_v1",
    schema: [SCHEMA, OPEN_INDEX],
    added: ADDED,
  });
  const read = (where: string, ...bindings: (string | number)[]): Prompt[] =>
    tables.all<StoredPrompt>(`SELECT ${COLUMNS} FROM prompt_v1 ${where}`, ...bindings).map(parsePrompt);
  const get = (id: string): Prompt | undefined => firstRow(read("WHERE id = ?", id));

  return {
    insert({ answerTo, channel, createdAt, hash, id, idempotencyKey, kind, messages, metadata }) {
      tables.make();
      const rows = database.all<StoredPrompt>(
        `INSERT INTO prompt_v1
           (id, idempotency_key, kind, state, after_seq, messages, message_count, answer_to, metadata, created_at, hash, channel)
         VALUES (?, ?, ?, 'pending', (SELECT coalesce(max(seq), 0) FROM inbox_v1), ?, ?, ?, ?, ?, ?, ?)
         RETURNING ${COLUMNS}`,
        id,
        idempotencyKey ?? null,
        kind,
        JSON.stringify(messages),
        messages.length,
        JSON.stringify(answerTo),
        metadata === undefined ? null : JSON.stringify(metadata),
        createdAt,
        hash ?? null,
        channel ?? null,
      );
      const [row] = rows;
      if (row === undefined) throw new Error("The database returned no row for a prompt that it has stored");
      // Read back, as after a restart, so that callers never see more than is stored.
      return parsePrompt(row);
    },
    get,
    byKey: (key) => firstRow(read("WHERE idempotency_key = ?", key)),
    next: () => firstRow(read("WHERE state = 'pending' ORDER BY seq LIMIT 1")),
    start(id, now) {
      database.run("UPDATE prompt_v1 SET state = 'running', started_at = ? WHERE id = ?", now, id);
    },
    end(id, state, now, error) {
      database.run(
        `UPDATE prompt_v1 SET state = ?, ended_at = ?, error = ?, messages = NULL
         WHERE id = ? AND state IN ('pending', 'running')`,
        state,
        now,
        error ?? null,
        id,
      );
    },
    list({ limit, states }) {
      if (states === undefined) return read("ORDER BY seq DESC LIMIT ?", limit);
      return read(
        "WHERE state IN (SELECT value FROM json_each(?)) ORDER BY seq DESC LIMIT ?",
        JSON.stringify(states),
        limit,
      );
    },
    move(messengerId, { from, to }) {
      for (const { answerTo, id } of read("WHERE state IN ('pending', 'running')")) {
        const moved = answerTo.map((address) =>
          address.messengerId === messengerId && address.chatId === from.chatId
            ? { ...address, chatId: to.chatId, threadId: to.threadId }
            : address,
        );
        database.run("UPDATE prompt_v1 SET answer_to = ? WHERE id = ?", JSON.stringify(moved), id);
      }
    },
    remove({ endedBefore, limit, states }) {
      const removed = tables.all(
        `DELETE FROM prompt_v1 WHERE seq IN (
           SELECT seq FROM prompt_v1 WHERE kind = 'prompt' AND ended_at < ?
             AND state IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?)
         RETURNING seq`,
        endedBefore,
        JSON.stringify(states),
        limit,
      );
      return removed.length;
    },
  };
}

function parsePrompt(row: StoredPrompt): Prompt {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    idempotencyKey: row.idempotency_key ?? undefined,
    afterSeq: row.after_seq,
    messages: row.messages === null ? [] : parseMessages(row.messages),
    messageCount: row.message_count,
    answerTo: z.array(addressSchema).parse(JSON.parse(row.answer_to)),
    metadata: row.metadata === null ? undefined : parseMetadata(row.metadata),
    error: row.error ?? undefined,
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
    hash: row.hash ?? undefined,
    channel: row.channel ?? undefined,
  };
}
