import type { OtherOwners, OwnMessages, OwnMessagesQuestion } from "../src/core/budget.ts";
import type { Database } from "../src/core/database.ts";
import type { OutboxState } from "../src/core/delivery.ts";
import type { Address } from "../src/core/surface.ts";
import { addMissingColumns } from "./add-missing-columns.ts";
import { parseAddress } from "./stored-address.ts";

const SCHEMA = `CREATE TABLE IF NOT EXISTS outbox_v1 (
  reply_id TEXT NOT NULL,
  part INTEGER NOT NULL,
  state TEXT NOT NULL,
  message_id TEXT,
  shown_hash TEXT,
  is_marked INTEGER NOT NULL,
  is_replacement INTEGER NOT NULL,
  doubts INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  code TEXT,
  failing_since INTEGER,
  retry_at INTEGER,
  begun_at INTEGER,
  sent_at INTEGER,
  after_id INTEGER,
  probed_to INTEGER,
  doubted_at INTEGER,
  is_ambiguous INTEGER,
  late_until INTEGER,
  inquiry TEXT,
  former_chat_id TEXT,
  PRIMARY KEY (reply_id, part)
) WITHOUT ROWID`;

/** Ids that are asked about one after the other, a call each. The range is fixed when the search begins. */
export interface StoredInquiry {
  readonly ids: readonly number[];
  /** Whether another thread of the chat may have a message among them. */
  readonly others: OtherOwners;
  /** It began while the post could still land. */
  readonly isEarly: boolean;
  /** There are more ids than are asked about. */
  readonly isPartial: boolean;
  /** How many were asked about, and which of them are the bot's own. */
  readonly asked: number;
  readonly hits: readonly number[];
}

/** One message of a reply, as stored. Holds no text. */
export interface OutboxRow {
  readonly replyId: string;
  /** Place in the reply, from 0. Negative: a known duplicate, which is taken away again. */
  readonly part: number;
  readonly state: OutboxState;
  readonly messageId?: string | undefined;
  /** Hash of the last content that is known to be visible and need not be sent again. */
  readonly shownHash?: string | undefined;
  /** Posted again after an unknown outcome: its text begins with the mark. */
  readonly isMarked: boolean;
  /** Posted again because the message could not be edited any more before it was whole: mostly a person deleted it. */
  readonly isReplacement: boolean;
  /** How many posts of this row ended without an answer. */
  readonly doubts: number;
  /** Posts begun, and other calls that failed. */
  readonly attempts: number;
  readonly code?: string | undefined;
  /** Epoch milliseconds of the first failure of the call that is being retried. */
  readonly failingSince?: number | undefined;
  /** Epoch milliseconds before which the row is not tried again. */
  readonly retryAt?: number | undefined;
  /** Epoch milliseconds at which the last post began, and at which a message was known to be there. */
  readonly begunAt?: number | undefined;
  readonly sentAt?: number | undefined;
  /** The newest message id of the chat's box that was known when the last post began. */
  readonly afterId?: number | undefined;
  /** An earlier post was not found among the ids up to this one, and so was made again; it began at `doubtedAt`. */
  readonly probedTo?: number | undefined;
  readonly doubtedAt?: number | undefined;
  /** Probing could not tell what became of the last post: the policy decides. */
  readonly isAmbiguous?: boolean | undefined;
  /** An earlier post was taken for not made before it was certain: until then it may land after all. */
  readonly lateUntil?: number | undefined;
  /** The search for a lost post, as far as it has come. */
  readonly inquiry?: StoredInquiry | undefined;
  /** The chat that the message is in, where its reply goes on in another one: it can neither be changed nor taken away. */
  readonly formerChatId?: string | undefined;
}

/** A post of which nothing was heard for so long has no message that another thread could look for. */
const OPEN_FOR_MS = 5 * 60 * 1000;

type Stored = {
  reply_id: string;
  part: number;
  state: string;
  message_id: string | null;
  shown_hash: string | null;
  is_marked: number;
  is_replacement: number;
  doubts: number;
  attempts: number;
  code: string | null;
  failing_since: number | null;
  retry_at: number | null;
  begun_at: number | null;
  sent_at: number | null;
  after_id: number | null;
  probed_to: number | null;
  doubted_at: number | null;
  is_ambiguous: number | null;
  late_until: number | null;
  inquiry: string | null;
  former_chat_id: string | null;
};

export class OutboxStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.run(SCHEMA);
    addMissingColumns(database, "outbox_v1", {
      begun_at: "INTEGER",
      sent_at: "INTEGER",
      after_id: "INTEGER",
      probed_to: "INTEGER",
      doubted_at: "INTEGER",
      is_ambiguous: "INTEGER",
      late_until: "INTEGER",
      inquiry: "TEXT",
      former_chat_id: "TEXT",
    });
  }

  rowsOf(replyId: string): OutboxRow[] {
    return this.#database
      .all<Stored>("SELECT * FROM outbox_v1 WHERE reply_id = ? ORDER BY part", replyId)
      .map(rowOf);
  }

  write(row: OutboxRow): void {
    this.#database.run(
      `INSERT INTO outbox_v1 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (reply_id, part) DO UPDATE SET state = excluded.state, message_id = excluded.message_id,
         shown_hash = excluded.shown_hash, is_marked = excluded.is_marked,
         is_replacement = excluded.is_replacement, doubts = excluded.doubts, attempts = excluded.attempts,
         code = excluded.code, failing_since = excluded.failing_since, retry_at = excluded.retry_at,
         begun_at = excluded.begun_at, sent_at = excluded.sent_at, after_id = excluded.after_id,
         probed_to = excluded.probed_to, doubted_at = excluded.doubted_at,
         is_ambiguous = excluded.is_ambiguous, late_until = excluded.late_until,
         inquiry = excluded.inquiry, former_chat_id = excluded.former_chat_id`,
      row.replyId,
      row.part,
      row.state,
      row.messageId ?? null,
      row.shownHash ?? null,
      row.isMarked ? 1 : 0,
      row.isReplacement ? 1 : 0,
      row.doubts,
      row.attempts,
      row.code ?? null,
      row.failingSince ?? null,
      row.retryAt ?? null,
      row.begunAt ?? null,
      row.sentAt ?? null,
      row.afterId ?? null,
      row.probedTo ?? null,
      row.doubtedAt ?? null,
      row.isAmbiguous === true ? 1 : 0,
      row.lateUntil ?? null,
      row.inquiry === undefined ? null : JSON.stringify(row.inquiry),
      row.formerChatId ?? null,
    );
  }

  /** Which of these message ids belong to a row, with the address of its reply. One read of the whole table. */
  owners(messageIds: readonly string[]): { readonly messageId: string; readonly address: Address }[] {
    if (messageIds.length === 0) return [];
    return this.#database
      .all<{ message_id: string; address: string }>(
        `SELECT message_id, address FROM outbox_v1 JOIN reply_v1 ON reply_v1.id = outbox_v1.reply_id
         WHERE former_chat_id IS NULL AND message_id IN (${messageIds.map(() => "?").join(", ")})`,
        ...messageIds,
      )
      .map(({ message_id: messageId, address }) => ({ messageId, address: parseAddress(address) }));
  }

  /** What was sent into a chat. One read of the whole table, without the rows that are of no interest. */
  ownMessages({ messengerId, chatId, afterId, sinceAt }: OwnMessagesQuestion): OwnMessages {
    const rows = this.#database
      .all<{
        message_id: string | null;
        is_open: number;
        is_sending: number;
        begun_at: number | null;
        address: string;
      }>(
        `SELECT message_id, begun_at, address, outbox_v1.state = 'sending' AS is_sending,
           outbox_v1.state IN ('sending', 'unknown') OR doubts > 0 OR late_until IS NOT NULL
             OR probed_to IS NOT NULL AS is_open
         FROM outbox_v1 JOIN reply_v1 ON reply_v1.id = outbox_v1.reply_id
         WHERE former_chat_id IS NULL AND (is_open OR CAST(message_id AS INTEGER) > ?)`,
        afterId,
      )
      .filter(({ address }) => {
        const known = parseAddress(address);
        return known.messengerId === messengerId && known.chatId === chatId;
      });
    const isOpen = ({ is_open: isOpenRow, begun_at: begunAt }: (typeof rows)[number]): boolean =>
      isOpenRow === 1 && (begunAt ?? 0) > sinceAt - OPEN_FOR_MS;
    return {
      ids: rows.flatMap(({ message_id: id }) => (id === null ? [] : [Number(id)])),
      hasLostPost: rows.some((row) => row.is_sending === 0 && isOpen(row)),
      isPosting: rows.some((row) => row.is_sending === 1 && isOpen(row)),
    };
  }

  delete(row: OutboxRow): void {
    this.#database.run("DELETE FROM outbox_v1 WHERE reply_id = ? AND part = ?", row.replyId, row.part);
  }

  deleteOf(replyId: string): void {
    this.#database.run("DELETE FROM outbox_v1 WHERE reply_id = ?", replyId);
  }
}

function rowOf(stored: Stored): OutboxRow {
  return {
    replyId: stored.reply_id,
    part: stored.part,
    state: stored.state as OutboxState,
    messageId: stored.message_id ?? undefined,
    shownHash: stored.shown_hash ?? undefined,
    isMarked: stored.is_marked === 1,
    isReplacement: stored.is_replacement === 1,
    doubts: stored.doubts,
    attempts: stored.attempts,
    code: stored.code ?? undefined,
    failingSince: stored.failing_since ?? undefined,
    retryAt: stored.retry_at ?? undefined,
    begunAt: stored.begun_at ?? undefined,
    sentAt: stored.sent_at ?? undefined,
    afterId: stored.after_id ?? undefined,
    probedTo: stored.probed_to ?? undefined,
    doubtedAt: stored.doubted_at ?? undefined,
    isAmbiguous: stored.is_ambiguous === 1,
    lateUntil: stored.late_until ?? undefined,
    formerChatId: stored.former_chat_id ?? undefined,
    inquiry: stored.inquiry === null ? undefined : (JSON.parse(stored.inquiry) as StoredInquiry),
  };
}
