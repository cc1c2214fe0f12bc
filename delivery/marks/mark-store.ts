import { z } from "zod";
import type { Database } from "../../src/core/store/database.ts";
import { LazyTables } from "../../src/core/store/lazy-tables.ts";
import {
  checked,
  defineTable,
  encoded,
  flag,
  integer,
  json,
  Table,
  text,
} from "../../src/core/store/table.ts";
import type { RowOf } from "../../src/core/store/table.ts";
import type { ChatKey } from "../../src/core/chat/gate.ts";
import type { Mark, MarkState } from "../../src/core/chat/mark.ts";
import { parseAddress } from "../../src/core/chat/stored-address.ts";

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

const MARKS = defineTable(
  "mark_v1",
  {
    seq: integer("PRIMARY KEY AUTOINCREMENT"),
    id: text("NOT NULL UNIQUE"),
    messengerId: text("NOT NULL"),
    chatId: text("NOT NULL"),
    address: encoded(parseAddress)("NOT NULL"),
    mark: json<Mark>(markSchema)("NOT NULL"),
    state: checked(stateSchema)("NOT NULL"),
    /** Code of the last failure. */
    code: text(),
    /** True if a call was started and its outcome is not stored. */
    isCalling: flag("NOT NULL DEFAULT 0"),
    retryAt: integer(),
    createdAt: integer("NOT NULL"),
    endedAt: integer(),
  },
  "",
  { mark_v1_open: "(messenger_id, chat_id, seq) WHERE ended_at IS NULL" },
);

export type MarkRow = RowOf<typeof MARKS>;

/** Stores reactions and pins until they are old. */
export class MarkStore {
  readonly #tables: LazyTables;
  readonly #marks: Table<typeof MARKS>;

  constructor(database: Database) {
    this.#tables = new LazyTables(database, MARKS);
    this.#marks = new Table(this.#tables, MARKS);
  }

  insert(
    row: Pick<MarkRow, "id" | "address" | "mark" | "state" | "createdAt"> & {
      readonly code?: string | undefined;
    },
  ): void {
    const { address, createdAt, state } = row;
    const { chatId, messengerId } = address;
    this.#marks.insert({ ...row, chatId, messengerId, endedAt: state === "final" ? undefined : createdAt });
  }

  read(id: string): MarkRow | undefined {
    return this.#marks.first("WHERE id = ?", id);
  }

  /** The open marks of a chat, in order. */
  open({ chatId, messengerId }: ChatKey): MarkRow[] {
    return this.#marks.all(
      "WHERE messenger_id = ? AND chat_id = ? AND ended_at IS NULL ORDER BY seq",
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
    this.#marks.update({ isCalling: true }, "WHERE id = ?", id);
  }

  retry(id: string, code: string, retryAt: number): void {
    this.#marks.update({ isCalling: false, code, retryAt }, "WHERE id = ?", id);
  }

  end(id: string, state: MarkState, code: string | undefined, endedAt: number): void {
    this.#marks.update({ isCalling: false, state, code, endedAt }, "WHERE id = ?", id);
  }
}
