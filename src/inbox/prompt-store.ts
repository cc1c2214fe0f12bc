import { z } from "zod";
import { addressSchema } from "../core/chat/stored-address.ts";
import { parseMessages, parseMetadata } from "./stored-messages.ts";
import type { UIMessage } from "ai";
import type { ChatMove } from "../core/chat/chat-move.ts";
import type { Database } from "../core/store/database.ts";
import { added, defineTable, encoded, flag, integer, json, lazyTable, text } from "../core/store/table.ts";
import type { NewRowOf, RowOf } from "../core/store/table.ts";
import type { Address } from "../core/chat/surface.ts";
import type { PromptMetadata, TurnKind } from "../core/turn/turn-info.ts";

/**
 * - `pending`: waits for its turn
 * - `running`: its turn is running
 * - `completed`, `aborted`, `error`: its turn has ended, or will never begin
 */
export type PromptState = "pending" | "running" | "completed" | "aborted" | "error";
export type PromptEnd = Exclude<PromptState, "pending" | "running">;

/**
 * Prompts of the bot's own code and outcomes of actions that wait for a turn. They share one order with people's
 * messages: `after_seq` is the newest inbox row at the time of arrival, so a prompt comes after that row and before
 * every later one (I3). `idempotency_key` makes it unique over repeated calls, crash and restart (I2).
 */
const PROMPTS = defineTable(
  "prompt_v1",
  {
    seq: integer("PRIMARY KEY AUTOINCREMENT"),
    /** Id of the prompt and of its turn. */
    id: text("NOT NULL UNIQUE"),
    idempotencyKey: text("UNIQUE"),
    kind: text<Exclude<TurnKind, "messages">>("NOT NULL"),
    state: text<PromptState>("NOT NULL"),
    /** The newest row of the inbox that comes before it. */
    afterSeq: integer("NOT NULL"),
    /** The messages for the model, until the prompt has ended. */
    messages: encoded<readonly UIMessage[]>(parseMessages)(),
    messageCount: integer("NOT NULL"),
    answerTo: json<readonly Address[]>(z.array(addressSchema))("NOT NULL"),
    metadata: encoded<PromptMetadata>(parseMetadata)(),
    /** The code of the failure. */
    error: text(),
    /** Epoch milliseconds. */
    createdAt: integer("NOT NULL"),
    startedAt: integer(),
    endedAt: integer(),
    /** Tells the same request from another one with the same key. Undefined if the caller does not care. */
    hash: added(text()),
    /** The channel that its turn was given. Undefined: that of its chat. */
    channel: added(text()),
    /** Whether it asks the model to go on with its last answer. */
    continues: added(flag("NOT NULL DEFAULT 0")),
  },
  "STRICT",
  // Holds only prompts that have not ended.
  { prompt_open_v1: "(state, seq) WHERE state IN ('pending', 'running')" },
);

export interface Prompt extends Omit<RowOf<typeof PROMPTS>, "seq" | "messages"> {
  /** The messages for the model. Empty once the prompt has ended. */
  readonly messages: readonly UIMessage[];
}

/** Prompts that have ended. */
export interface PromptDeletion {
  readonly states: readonly PromptEnd[];
  /** Only those that ended before this time, in epoch milliseconds. */
  readonly endedBefore: number;
  readonly limit: number;
}

export type NewPrompt = Pick<Prompt, "messages"> &
  Omit<NewRowOf<typeof PROMPTS>, "seq" | "state" | "afterSeq" | "messages" | "messageCount">;

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

/**
 * Needs the table of the inbox. Creates its own table with the first prompt, because most conversations never have one.
 */
export function createPromptStore(database: Database): PromptStore {
  const prompts = lazyTable(database, PROMPTS);
  const read = (where: string, ...bindings: (string | number)[]): Prompt[] =>
    prompts.all(where, ...bindings).map(promptOf);
  const get = (id: string): Prompt | undefined => read("WHERE id = ?", id)[0];

  return {
    insert(prompt) {
      const [newest] = database.all<{ seq: number | null }>("SELECT max(seq) AS seq FROM inbox_v1");
      const afterSeq = newest?.seq ?? 0;
      const messageCount = prompt.messages.length;
      // Read back, as after a restart, so that callers never see more than is stored.
      const row = prompts.insertNew({ ...prompt, state: "pending", afterSeq, messageCount });
      if (row === undefined) throw new Error("There is a prompt with this id or idempotency key already");
      return promptOf(row);
    },
    get,
    byKey: (key) => read("WHERE idempotency_key = ?", key)[0],
    next: () => read("WHERE state = 'pending' ORDER BY seq LIMIT 1")[0],
    start: (id, now) => prompts.update({ state: "running", startedAt: now }, "WHERE id = ?", id),
    end(id, state, endedAt, error) {
      const ended = { state, endedAt, error, messages: undefined };
      prompts.update(ended, "WHERE id = ? AND state IN ('pending', 'running')", id);
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
        prompts.update({ answerTo: moved }, "WHERE id = ?", id);
      }
    },
    remove({ endedBefore, limit, states }) {
      const removed = prompts.query(
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

function promptOf({ messages = [], ...row }: RowOf<typeof PROMPTS>): Prompt {
  return { ...row, messages };
}
