import { z } from "zod";
import type { Database } from "../../src/core/database.ts";
import { LazyTables } from "../../src/core/lazy-tables.ts";
import type { ChatKey } from "../../src/core/gate.ts";
import type { Mark, MarkState } from "../../src/core/mark.ts";
import { parseAddress } from "../../src/core/stored-address.ts";
import type { Address } from "../../src/core/surface.ts";

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS mark_v1 (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    messenger_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    address TEXT NOT NULL,
    mark TEXT NOT NULL,
    state TEXT NOT NULL,
    code TEXT,
    is_calling INTEGER NOT NULL DEFAULT 0,
    retry_at INTEGER,
    created_at INTEGER NOT NULL,
    ended_at INTEGER
  )`,
  `CREATE INDEX IF NOT EXISTS mark_v1_open ON mark_v1 (messenger_id, chat_id, seq)
    WHERE ended_at IS NULL`,
];

export interface MarkRow {
  readonly seq: number;
  readonly id: string;
  readonly address: Address;
  readonly mark: Mark;
  readonly state: MarkState;
  /** Code of the last failure. */
  readonly code?: string;
  /** True if a call was started and its outcome is not stored. */
  readonly isCalling: boolean;
  readonly retryAt: number;
  readonly createdAt: number;
  readonly endedAt?: number;
}

type Stored = {
  seq: number;
  id: string;
  address: string;
  mark: string;
  state: string;
  code: string | null;
  is_calling: number;
  retry_at: number | null;
  created_at: number;
  ended_at: number | null;
};

const markSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("reaction"), messageId: z.string(), emoji: z.string().optional() }),
  z.object({ kind: z.literal("pin"), messageId: z.string() }),
  z.object({ kind: z.literal("unpin"), messageId: z.string().optional() }),
]) satisfies z.ZodType<Mark>;

const stateSchema = z.enum([
  "final",
  "delivered",
  "gone",
  "failed",
  "withdrawn",
]) satisfies z.ZodType<MarkState>;

/** Stores reactions and pins until they are old. */
export class MarkStore {
  readonly #database: Database;
  readonly #tables: LazyTables;

  constructor(database: Database) {
    this.#database = database;
    this.#tables = new LazyTables(database, { table: "mark_v1", schema: SCHEMA });
  }

  insert(row: Pick<MarkRow, "id" | "address" | "mark" | "state" | "code" | "createdAt">): void {
    const { address, code, createdAt, id, mark, state } = row;
    this.#tables.make();
    this.#database.run(
      `INSERT INTO mark_v1 (id, messenger_id, chat_id, address, mark, state, code, created_at, ended_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      address.messengerId,
      address.chatId,
      JSON.stringify(address),
      JSON.stringify(mark),
      state,
      code ?? null,
      createdAt,
      state === "final" ? null : createdAt,
    );
  }

  read(id: string): MarkRow | undefined {
    return this.#rows("SELECT * FROM mark_v1 WHERE id = ?", id)[0];
  }

  /** The open marks of a chat, in order. */
  open({ chatId, messengerId }: ChatKey): MarkRow[] {
    return this.#rows(
      "SELECT * FROM mark_v1 WHERE messenger_id = ? AND chat_id = ? AND ended_at IS NULL ORDER BY seq",
      messengerId,
      chatId,
    );
  }

  /** The chats that have open marks. */
  chats(): ChatKey[] {
    return this.#tables
      .all<{ messenger_id: string; chat_id: string }>(
        "SELECT DISTINCT messenger_id, chat_id FROM mark_v1 WHERE ended_at IS NULL",
      )
      .map((row) => ({ messengerId: row.messenger_id, chatId: row.chat_id }));
  }

  beginCall(id: string): void {
    this.#tables.run("UPDATE mark_v1 SET is_calling = 1 WHERE id = ?", id);
  }

  retry(id: string, code: string, at: number): void {
    this.#tables.run("UPDATE mark_v1 SET is_calling = 0, code = ?, retry_at = ? WHERE id = ?", code, at, id);
  }

  end(id: string, state: MarkState, code: string | undefined, now: number): void {
    this.#tables.run(
      "UPDATE mark_v1 SET is_calling = 0, state = ?, code = ?, ended_at = ? WHERE id = ?",
      state,
      code ?? null,
      now,
      id,
    );
  }

  sweep(before: number): void {
    this.#tables.run("DELETE FROM mark_v1 WHERE ended_at < ?", before);
  }

  #rows(sql: string, ...values: readonly (string | number)[]): MarkRow[] {
    return this.#tables.all<Stored>(sql, ...values).map(rowOf);
  }
}

function rowOf(row: Stored): MarkRow {
  return {
    seq: row.seq,
    id: row.id,
    address: parseAddress(row.address),
    mark: markSchema.parse(JSON.parse(row.mark)),
    state: stateSchema.parse(row.state),
    ...(row.code !== null && { code: row.code }),
    isCalling: row.is_calling === 1,
    retryAt: row.retry_at ?? 0,
    createdAt: row.created_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
  };
}
