import { z } from "zod";
import type { Database } from "../../src/core/store/database.ts";
import type { ReplyPolicy, ReplyState, SendOptions } from "../../src/core/chat/delivery.ts";
import type { Address } from "../../src/core/chat/surface.ts";
import { LazyTables } from "../../src/core/store/lazy-tables.ts";
import {
  added,
  checked,
  defineTable,
  encoded,
  flag,
  integer,
  openTable,
  Table,
  text,
} from "../../src/core/store/table.ts";
import type { NewRowOf, RowOf } from "../../src/core/store/table.ts";
import { parseBody, parseSendOptions } from "./reply-body.ts";
import type { ReplyBody } from "./reply-body.ts";
import { parseAddress } from "../../src/core/chat/stored-address.ts";

/** Kind of a reply. A `card` can be changed after it has ended. */
export type ReplyContent = "text" | "card";

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

const REPLIES = defineTable(
  "reply_v1",
  {
    id: text("PRIMARY KEY"),
    /** Order of `open`. */
    position: integer("NOT NULL"),
    address: encoded(parseAddress)("NOT NULL"),
    replyTo: text(),
    policy: encoded<ReplyPolicy>(
      (stored) => policySchema.parse(JSON.parse(stored)),
      (policy) => JSON.stringify(policySchema.parse(policy)),
    )("NOT NULL"),
    /** True for a notice: a text outside of any turn, whole from its start, or the progress of a run. */
    isNotice: flag("NOT NULL"),
    state: checked(stateSchema)("NOT NULL"),
    /**
     * The whole text, stored from `finish` until the reply has ended, not longer (I10). A reply that waits for its chat
     * keeps it, and so does a card whose post is lost. Before `finish`: the text of the newest interrupted attempt, or, if messages cannot be changed, the text
     * at the time of the last post.
     */
    text: text(),
    code: text(),
    openedAt: integer("NOT NULL"),
    endedAt: integer(),
    /** The newest message id of the chat that was known when the reply was opened. */
    seenMessageId: added(text()),
    /**
     * Time at which the text became whole, in epoch milliseconds. Undefined for a notice, which is whole from its start.
     */
    finishedAt: added(integer()),
    /** Undefined: `text`. */
    content: added(text<ReplyContent>()),
    /** Contents beside the text. Stored as long as the text. */
    body: added(encoded<ReplyBody>(parseBody)()),
    options: added(encoded<SendOptions>(parseSendOptions)()),
    /** Whether it continues when its chat comes back, if the chat is gone. See `ReplyStart.isAwaited`. */
    isAwaited: added(flag()),
  },
  "WITHOUT ROWID",
);
/** Chats that accept nothing until the person comes back. */
const GONE = defineTable(
  "gone_chat_v1",
  { messengerId: text("PRIMARY KEY"), chatId: text("PRIMARY KEY"), code: text("NOT NULL") },
  "WITHOUT ROWID",
);

export interface ReplyRecord extends Omit<NewRowOf<typeof REPLIES>, "content" | "body" | "isAwaited"> {
  readonly content: ReplyContent;
  readonly body?: ReplyBody | undefined;
  readonly isAwaited: boolean;
}

export class ReplyStore {
  readonly #database: Database;
  readonly #replies: Table<typeof REPLIES>;
  readonly #goneTables: LazyTables;
  readonly #gone: Table<typeof GONE>;
  /** True if any chat may be gone. Saves a query for every incoming message, because almost no chat is. */
  #mayHaveGone: boolean | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#replies = openTable(database, REPLIES);
    this.#goneTables = new LazyTables(database, GONE);
    this.#gone = new Table(this.#goneTables, GONE);
  }

  /** Returns the replies that have not ended or wait for their chat, in order. Reads the whole table once, at start. */
  open(): ReplyRecord[] {
    return this.#replies
      .all("WHERE ended_at IS NULL OR (state = 'gone' AND is_awaited = 1) ORDER BY position")
      .map(recordOf);
  }

  read(id: string): ReplyRecord | undefined {
    return this.#replies.all("WHERE id = ?", id).map(recordOf)[0];
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
    return this.#replies
      .all(
        "WHERE opened_at >= ? AND (? IS NULL OR state = ?) ORDER BY position DESC LIMIT ?",
        since,
        state ?? null,
        state ?? null,
        limit,
      )
      .map(recordOf);
  }

  insert(record: ReplyRecord, endedAt: number | undefined): void {
    const content = record.content === "text" ? undefined : record.content;
    this.#replies.insert({ ...record, content, endedAt });
  }

  #update(id: string, changes: Partial<RowOf<typeof REPLIES>>): void {
    this.#replies.update(changes, "WHERE id = ?", id);
  }

  setPolicy(id: string, policy: ReplyPolicy): void {
    this.#update(id, { policy });
  }

  /** Moves a reply to another chat. None of the known message ids mean anything there. */
  move(id: string, address: Address): void {
    this.#update(id, { address, replyTo: undefined, seenMessageId: undefined });
  }

  unquote(id: string): void {
    this.#update(id, { replyTo: undefined });
  }

  keepText(id: string, text: string): void {
    this.#update(id, { text });
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
    this.#update(id, { body });
  }

  /** Stores a new revision of a card. */
  revise(id: string, address: Address, text: string, body: ReplyBody, revisedAt: number): void {
    const finishedAt = revisedAt;
    this.#update(id, {
      state: "final",
      address,
      text,
      body,
      finishedAt,
      code: undefined,
      endedAt: undefined,
    });
  }

  /** Stores the end of a reply. Its text and its contents are deleted, unless they wait for its chat. */
  end({ id, state, code, text, body, isAwaited }: ReplyRecord, endedAt: number): void {
    this.#update(id, { state, code, text, body, isAwaited, endedAt });
  }

  /** Stores that a whole reply, which has waited for its chat, continues. */
  resume(id: string): void {
    this.#update(id, { state: "final", code: undefined, endedAt: undefined });
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

  goneCode({ chatId, messengerId }: Address): string | undefined {
    return this.#gone.first("WHERE messenger_id = ? AND chat_id = ?", messengerId, chatId)?.code;
  }

  markGone({ chatId, messengerId }: Address, code: string): void {
    this.#mayHaveGone = true;
    this.#gone.put({ messengerId, chatId, code });
  }

  revive(chatId: string): void {
    this.#mayHaveGone ??= this.#gone.first("LIMIT 1") !== undefined;
    if (!this.#mayHaveGone) return;
    this.#goneTables.run("DELETE FROM gone_chat_v1 WHERE chat_id = ?", chatId);
  }
}

function recordOf({ content = "text", isAwaited = false, ...row }: RowOf<typeof REPLIES>): ReplyRecord {
  return { ...row, content, isAwaited };
}
