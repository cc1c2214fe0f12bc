import { z } from "zod";
import type { Database } from "../../src/core/store/database.ts";
import { defineTable, encoded, integer, json, openTable, text } from "../../src/core/store/table.ts";
import type { RowOf, Table } from "../../src/core/store/table.ts";
import { parseIds, storeIds } from "./id-ranges.ts";

/** The penalty of a chat, from the platform's refusals. */
export interface Penalty {
  /** Nothing is sent before this time, in epoch milliseconds. */
  readonly until: number;
  /** Number of consecutive penalties that are not forgiven yet, as of the last one. */
  readonly strikes: number;
  /** Until this time (epoch milliseconds) the chat's calls are spaced wider, in shrinking steps. */
  readonly widenedUntil: number;
}

const rightSchema = z.object({
  ticket: z.int(),
  holder: z.object({ key: z.string(), ticket: z.int(), startedAt: z.number(), until: z.number() }).optional(),
  untold: z.array(z.string()),
  isUnresolved: z.boolean(),
});

/** The right to post, if a conversation in another object holds it. */
export type StoredRight = z.infer<typeof rightSchema>;

export interface StoredChat {
  readonly penalty: Penalty | undefined;
  readonly right: StoredRight | undefined;
  /** Ids of messages that conversations in other objects have sent. */
  readonly sentIds: readonly number[];
  /** Time of another object's last call, in epoch milliseconds. Written only now and then, so it can be a bit old. */
  readonly usedAt: number | undefined;
}

/** The part of a chat's gate that survives a restart, one row per chat. */
const CHATS = defineTable(
  "gate_v1",
  {
    messengerId: text("PRIMARY KEY"),
    chatId: text("PRIMARY KEY"),
    until: integer(),
    strikes: integer(),
    widenedUntil: integer(),
    postRight: json<StoredRight>(rightSchema)(),
    sent: encoded<Iterable<number>>(parseIds, storeIds)(),
    usedAt: integer(),
  },
  "WITHOUT ROWID",
);

const NOTHING: StoredChat = { penalty: undefined, right: undefined, sentIds: [], usedAt: undefined };

export class GateStore {
  readonly #chats: Table<typeof CHATS>;

  constructor(database: Database) {
    this.#chats = openTable(database, CHATS);
  }

  read(messengerId: string, chatId: string): StoredChat {
    const row = this.#chats.first("WHERE messenger_id = ? AND chat_id = ?", messengerId, chatId);
    if (row === undefined) return NOTHING;
    const { postRight: right, sent = [], strikes, until, usedAt, widenedUntil } = row;
    const isPenalized = until !== undefined && strikes !== undefined && widenedUntil !== undefined;
    const penalty = isPenalized ? { until, strikes, widenedUntil } : undefined;
    return { penalty, right, sentIds: [...sent], usedAt };
  }

  writePenalty(messengerId: string, chatId: string, { until, strikes, widenedUntil }: Penalty): void {
    this.#write(messengerId, chatId, { until, strikes, widenedUntil });
  }

  writeRight(messengerId: string, chatId: string, right: StoredRight, sentIds: Iterable<number>): void {
    this.#write(messengerId, chatId, { postRight: right, sent: sentIds });
  }

  writeUse(messengerId: string, chatId: string, usedAt: number): void {
    this.#write(messengerId, chatId, { usedAt });
  }

  #write(messengerId: string, chatId: string, changes: Partial<RowOf<typeof CHATS>>): void {
    if (this.#chats.insertNew({ messengerId, chatId, ...changes }) !== undefined) return;
    this.#chats.update(changes, "WHERE messenger_id = ? AND chat_id = ?", messengerId, chatId);
  }
}
