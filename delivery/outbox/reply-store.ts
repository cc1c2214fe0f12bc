import { z } from "zod";
import type { Database } from "../../src/core/database.ts";
import type { ReplyPolicy, ReplyState, SendOptions } from "../../src/core/delivery.ts";
import type { Address } from "../../src/core/surface.ts";
import { addMissingColumns } from "../../src/core/add-missing-columns.ts";
import { LazyTables } from "../../src/core/lazy-tables.ts";
import { parseBody, parseSendOptions } from "./reply-body.ts";
import type { ReplyBody } from "./reply-body.ts";
import { parseAddress } from "../../src/core/stored-address.ts";

const SCHEMA = `CREATE TABLE IF NOT EXISTS reply_v1 (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  address TEXT NOT NULL,
  reply_to TEXT,
  policy TEXT NOT NULL,
  is_notice INTEGER NOT NULL,
  state TEXT NOT NULL,
  text TEXT,
  code TEXT,
  opened_at INTEGER NOT NULL,
  ended_at INTEGER,
  seen_message_id TEXT,
  finished_at INTEGER,
  content TEXT,
  body TEXT,
  options TEXT,
  is_awaited INTEGER
) WITHOUT ROWID`;

/** Chats that accept nothing until the person comes back. */
const GONE_SCHEMA = `CREATE TABLE IF NOT EXISTS gone_chat_v1 (
  messenger_id TEXT NOT NULL,
  chat_id TEXT NOT NULL,
  code TEXT NOT NULL,
  PRIMARY KEY (messenger_id, chat_id)
) WITHOUT ROWID`;

/** Kind of a reply. A `card` can be changed after it has ended. */
export type ReplyContent = "text" | "card";

export interface ReplyRecord {
  readonly id: string;
  /** Order of `open`. */
  readonly position: number;
  readonly address: Address;
  readonly replyTo?: string | undefined;
  readonly policy: ReplyPolicy;
  /** True for a notice: a text outside of any turn, whole from its start. */
  readonly isNotice: boolean;
  readonly state: ReplyState;
  /**
   * The whole text, stored from `finish` until the reply has ended, not longer (I10). A reply that waits for its chat
   * keeps it. Before `finish`: the text of the
   * newest interrupted attempt, or, if messages cannot be changed, the text at the time of the last post.
   */
  readonly text?: string | undefined;
  readonly content: ReplyContent;
  /** Contents beside the text. Stored as long as the text. */
  readonly body?: ReplyBody | undefined;
  readonly options?: SendOptions | undefined;
  readonly code?: string | undefined;
  readonly openedAt: number;
  readonly endedAt?: number | undefined;
  /**
   * Time at which the text became whole, in epoch milliseconds. Undefined for a notice, which is whole from its start.
   */
  readonly finishedAt?: number | undefined;
  /** The newest message id of the chat that was known when the reply was opened. */
  readonly seenMessageId?: string | undefined;
  /** Whether it continues when its chat comes back, if the chat is gone. See `ReplyStart.isAwaited`. */
  readonly isAwaited: boolean;
}

type Stored = {
  id: string;
  position: number;
  address: string;
  reply_to: string | null;
  policy: string;
  is_notice: number;
  state: string;
  text: string | null;
  code: string | null;
  opened_at: number;
  ended_at: number | null;
  seen_message_id: string | null;
  finished_at: number | null;
  content: string | null;
  body: string | null;
  options: string | null;
  is_awaited: number | null;
};

const policySchema = z.object({
  mode: z.enum(["edit", "draft", "native", "buffered", "final-only"]).optional(),
  linkPreviews: z.boolean().optional(),
  richMessages: z.boolean().optional(),
  typing: z.boolean().optional(),
  resentMark: z.string().optional(),
  callTimeoutMs: z.number().optional(),
  editEveryMs: z.number().optional(),
  onUnknown: z.enum(["resend-marked", "resend", "leave"]).optional(),
});

const stateSchema = z.enum([
  "streaming",
  "final",
  "delivered",
  "gone",
  "failed",
  "withdrawn",
]) satisfies z.ZodType<ReplyState>;

export class ReplyStore {
  readonly #database: Database;
  readonly #gone: LazyTables;
  /** True if any chat may be gone. Saves a query for every incoming message, because almost no chat is. */
  #mayHaveGone: boolean | undefined;

  constructor(database: Database) {
    this.#database = database;
    database.run(SCHEMA);
    addMissingColumns(database, "reply_v1", {
      seen_message_id: "TEXT",
      finished_at: "INTEGER",
      content: "TEXT",
      body: "TEXT",
      options: "TEXT",
      is_awaited: "INTEGER",
    });
    this.#gone = new LazyTables(database, { table: "gone_chat_v1", schema: [GONE_SCHEMA] });
  }

  /** Returns the replies that have not ended or wait for their chat, in order. Reads the whole table once, at start. */
  open(): ReplyRecord[] {
    return this.#database
      .all<Stored>(
        "SELECT * FROM reply_v1 WHERE ended_at IS NULL OR (state = 'gone' AND is_awaited = 1) ORDER BY position",
      )
      .map(recordOf);
  }

  read(id: string): ReplyRecord | undefined {
    return this.#database.all<Stored>("SELECT * FROM reply_v1 WHERE id = ?", id).map(recordOf)[0];
  }

  /** Returns replies by the time of their start, newest first. */
  newest({
    state,
    since,
    limit,
  }: {
    state: ReplyState | undefined;
    since: number;
    limit: number;
  }): ReplyRecord[] {
    return this.#database
      .all<Stored>(
        `SELECT * FROM reply_v1 WHERE opened_at >= ? AND (? IS NULL OR state = ?)
         ORDER BY position DESC LIMIT ?`,
        since,
        state ?? null,
        state ?? null,
        limit,
      )
      .map(recordOf);
  }

  insert(record: ReplyRecord, endedAt: number | undefined): void {
    this.#database.run(
      `INSERT INTO reply_v1 (id, position, address, reply_to, policy, is_notice, state, text, code, opened_at, ended_at,
         seen_message_id, content, body, options, is_awaited)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      record.id,
      record.position,
      JSON.stringify(record.address),
      record.replyTo ?? null,
      JSON.stringify(policySchema.parse(record.policy)),
      record.isNotice ? 1 : 0,
      record.state,
      record.text ?? null,
      record.code ?? null,
      record.openedAt,
      endedAt ?? null,
      record.seenMessageId ?? null,
      record.content === "text" ? null : record.content,
      record.body === undefined ? null : JSON.stringify(record.body),
      record.options === undefined ? null : JSON.stringify(record.options),
      record.isAwaited ? 1 : null,
    );
  }

  setPolicy(id: string, policy: ReplyPolicy): void {
    this.#database.run(
      "UPDATE reply_v1 SET policy = ? WHERE id = ?",
      JSON.stringify(policySchema.parse(policy)),
      id,
    );
  }

  /** Moves a reply to another chat. None of the known message ids mean anything there. */
  move(id: string, address: Address): void {
    this.#database.run(
      "UPDATE reply_v1 SET address = ?, reply_to = NULL, seen_message_id = NULL WHERE id = ?",
      JSON.stringify(address),
      id,
    );
  }

  unquote(id: string): void {
    this.#database.run("UPDATE reply_v1 SET reply_to = NULL WHERE id = ?", id);
  }

  keepText(id: string, text: string): void {
    this.#database.run("UPDATE reply_v1 SET text = ? WHERE id = ?", text, id);
  }

  /** Stores the whole text. A reply that is gone stays so. */
  finish(id: string, text: string, finishedAt: number): void {
    this.#database.run(
      `UPDATE reply_v1 SET state = CASE state WHEN 'gone' THEN state ELSE 'final' END, text = ?, finished_at = ?
       WHERE id = ?`,
      text,
      finishedAt,
      id,
    );
  }

  /** Stores another form of a reply's files. */
  setBody(id: string, body: ReplyBody): void {
    this.#database.run("UPDATE reply_v1 SET body = ? WHERE id = ?", JSON.stringify(body), id);
  }

  /** Stores a new revision of a card. */
  revise(id: string, address: Address, text: string, body: ReplyBody, revisedAt: number): void {
    this.#database.run(
      `UPDATE reply_v1 SET state = 'final', address = ?, text = ?, body = ?, finished_at = ?, code = NULL, ended_at = NULL
       WHERE id = ?`,
      JSON.stringify(address),
      text,
      JSON.stringify(body),
      revisedAt,
      id,
    );
  }

  /** Stores the end of a reply. Its text and its contents are deleted, unless they wait for its chat. */
  end({ id, state, code, text, body, isAwaited }: ReplyRecord, endedAt: number): void {
    this.#database.run(
      "UPDATE reply_v1 SET state = ?, code = ?, text = ?, body = ?, is_awaited = ?, ended_at = ? WHERE id = ?",
      state,
      code ?? null,
      text ?? null,
      body === undefined ? null : JSON.stringify(body),
      isAwaited ? 1 : null,
      endedAt,
      id,
    );
  }

  /** Stores that a whole reply, which has waited for its chat, continues. */
  resume(id: string): void {
    this.#database.run("UPDATE reply_v1 SET state = 'final', code = NULL, ended_at = NULL WHERE id = ?", id);
  }

  /**
   * Returns the time of the last call that a reply may have made, in epoch milliseconds. This is `now` while a reply is
   * open.
   */
  lastUsedAt(now: number): number | undefined {
    const [row] = this.#database.all<{ at: number | null }>(
      "SELECT MAX(COALESCE(ended_at, ?)) AS at FROM reply_v1",
      now,
    );
    return row?.at ?? undefined;
  }

  /** Returns the ids of replies that were opened before `before`, or as cards before `cardsBefore`. */
  openedBefore(before: number, cardsBefore: number): string[] {
    return this.#database
      .all<{ id: string }>(
        "SELECT id FROM reply_v1 WHERE opened_at < CASE content WHEN 'card' THEN ? ELSE ? END",
        cardsBefore,
        before,
      )
      .map(({ id }) => id);
  }

  delete(id: string): void {
    this.#database.run("DELETE FROM reply_v1 WHERE id = ?", id);
  }

  goneCode(address: Address): string | undefined {
    return this.#gone.all<{ code: string }>(
      "SELECT code FROM gone_chat_v1 WHERE messenger_id = ? AND chat_id = ?",
      address.messengerId,
      address.chatId,
    )[0]?.code;
  }

  markGone(address: Address, code: string): void {
    this.#mayHaveGone = true;
    this.#gone.make();
    this.#database.run(
      "INSERT OR REPLACE INTO gone_chat_v1 VALUES (?, ?, ?)",
      address.messengerId,
      address.chatId,
      code,
    );
  }

  revive(chatId: string): void {
    this.#mayHaveGone ??= this.#gone.all("SELECT 1 AS one FROM gone_chat_v1 LIMIT 1").length > 0;
    if (!this.#mayHaveGone) return;
    this.#gone.run("DELETE FROM gone_chat_v1 WHERE chat_id = ?", chatId);
  }
}

function recordOf(stored: Stored): ReplyRecord {
  return {
    id: stored.id,
    position: stored.position,
    address: parseAddress(stored.address),
    replyTo: stored.reply_to ?? undefined,
    policy: policySchema.parse(JSON.parse(stored.policy)),
    isNotice: stored.is_notice === 1,
    state: stateSchema.parse(stored.state),
    text: stored.text ?? undefined,
    code: stored.code ?? undefined,
    openedAt: stored.opened_at,
    endedAt: stored.ended_at ?? undefined,
    seenMessageId: stored.seen_message_id ?? undefined,
    finishedAt: stored.finished_at ?? undefined,
    content: stored.content === "card" ? "card" : "text",
    body: stored.body === null ? undefined : parseBody(stored.body),
    options: stored.options === null ? undefined : parseSendOptions(stored.options),
    isAwaited: stored.is_awaited === 1,
  };
}
