import { z } from "zod";
import type { Database } from "../../src/core/database.ts";
import { parseIds, runsOf } from "./id-ranges.ts";

/** The part of a chat's gate that survives a restart, one row per chat. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS gate_v1 (
  messenger_id TEXT NOT NULL,
  chat_id TEXT NOT NULL,
  until INTEGER,
  strikes INTEGER,
  widened_until INTEGER,
  post_right TEXT,
  sent TEXT,
  used_at INTEGER,
  PRIMARY KEY (messenger_id, chat_id)
) WITHOUT ROWID`;

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

type Stored = {
  until: number | null;
  strikes: number | null;
  widened_until: number | null;
  post_right: string | null;
  sent: string | null;
  used_at: number | null;
};

const NOTHING: StoredChat = { penalty: undefined, right: undefined, sentIds: [], usedAt: undefined };

export class GateStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.run(SCHEMA);
  }

  read(messengerId: string, chatId: string): StoredChat {
    const row = this.#database.all<Stored>(
      "SELECT until, strikes, widened_until, post_right, sent, used_at FROM gate_v1 WHERE messenger_id = ? AND chat_id = ?",
      messengerId,
      chatId,
    )[0];
    if (row === undefined) return NOTHING;
    const { until, strikes, widened_until: widenedUntil } = row;
    const isPenalized = until !== null && strikes !== null && widenedUntil !== null;
    return {
      penalty: isPenalized ? { until, strikes, widenedUntil } : undefined,
      right: row.post_right === null ? undefined : rightSchema.parse(JSON.parse(row.post_right)),
      sentIds: row.sent === null ? [] : parseIds(row.sent),
      usedAt: row.used_at ?? undefined,
    };
  }

  writePenalty(messengerId: string, chatId: string, { until, strikes, widenedUntil }: Penalty): void {
    this.#database.run(
      `INSERT INTO gate_v1 (messenger_id, chat_id, until, strikes, widened_until) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET until = excluded.until, strikes = excluded.strikes,
         widened_until = excluded.widened_until`,
      messengerId,
      chatId,
      until,
      strikes,
      widenedUntil,
    );
  }

  writeRight(messengerId: string, chatId: string, right: StoredRight, sentIds: Iterable<number>): void {
    this.#database.run(
      `INSERT INTO gate_v1 (messenger_id, chat_id, post_right, sent) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET post_right = excluded.post_right, sent = excluded.sent`,
      messengerId,
      chatId,
      JSON.stringify(right),
      JSON.stringify(runsOf(sentIds)),
    );
  }

  writeUse(messengerId: string, chatId: string, usedAt: number): void {
    this.#database.run(
      `INSERT INTO gate_v1 (messenger_id, chat_id, used_at) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET used_at = excluded.used_at`,
      messengerId,
      chatId,
      usedAt,
    );
  }
}
