import type { PlatformHost } from "../../../src/core/chat/messenger.ts";
import { DAY_MS } from "../../../src/core/time/civil-time.ts";
import { LazyTables } from "../../../src/core/store/lazy-tables.ts";
import { Sweep } from "../../../src/core/store/sweep-store.ts";
import { blob, defineTable, flag, integer, Table, text } from "../../../src/core/store/table.ts";

const KEEP_MS = 7 * DAY_MS;
/** An answer is acted on for less than this long, or its process has died and comes back. */
const ANSWER_MS = 5 * 60_000;
const SWEEP_EVERY_MS = 60 * 60_000;

const FILES = defineTable(
  "kept_file_v1",
  {
    id: text("PRIMARY KEY"),
    chatId: text("NOT NULL"),
    name: text("NOT NULL"),
    sizeBytes: integer("NOT NULL"),
    /** Key of the answer that is being acted on. */
    answer: text(),
    answeredAt: integer(),
    isEnded: flag("NOT NULL"),
    keptAt: integer("NOT NULL"),
  },
  "STRICT",
);
const PIECES = defineTable(
  "kept_file_piece_v1",
  {
    fileId: text("PRIMARY KEY"),
    piece: integer("PRIMARY KEY"),
    /** For those who delete all of a chat. */
    chatId: text("NOT NULL"),
    bytes: blob("NOT NULL"),
    keptAt: integer("NOT NULL"),
  },
  "STRICT",
);

export interface KeptFile {
  readonly chatId: string;
  readonly name: string;
  readonly sizeBytes: number;
}

/**
 * - `unknown`: there is no such file in this chat, or no longer
 * - `busy`: another answer is acted on, or was
 * - `own`: this answer is the one to act on
 */
export type Turn = { readonly kind: "unknown" } | { readonly kind: "busy" } | OwnTurn;

export interface OwnTurn {
  readonly kind: "own";
  readonly file: KeptFile;
  /** Whether it was acted on before, until the process died. */
  readonly isAgain: boolean;
}

/** Files that wait for an answer of a person, by an id that nobody can guess. They are kept for a week. */
export interface KeptFileCalls {
  keepPiece(id: string, chatId: string, piece: number, bytes: Uint8Array): Promise<void>;
  /** Keeps a file whose pieces are kept. */
  keepFile(id: string, file: KeptFile): Promise<void>;
  /** Begins to act on an answer. Of several answers one is acted on, again after a crash. */
  beginAnswer(id: string, chatId: string, answer: string): Promise<Turn>;
  /** Takes back that an answer is acted on, so that another one can be. */
  forgetAnswer(id: string): Promise<void>;
  piece(id: string, piece: number): Promise<Uint8Array | undefined>;
  /** Deletes the bytes of a file. Later answers are `busy`. */
  endFile(id: string): Promise<void>;
}

export function createKeptFiles({
  database,
  deps: { clock },
}: Pick<PlatformHost, "database" | "deps">): KeptFileCalls {
  const tables = new LazyTables(database, FILES, PIECES);
  const files = new Table(tables, FILES);
  const pieces = new Table(tables, PIECES);
  const old = [FILES, PIECES].map(({ table }) => ({ table, since: "kept_at", keepMs: KEEP_MS }));
  const sweep = new Sweep(database, clock, old, SWEEP_EVERY_MS);
  return {
    async keepPiece(fileId, chatId, piece, bytes) {
      sweep.run();
      // Copied, because the piece may be a view into a larger buffer.
      pieces.put({ fileId, piece, chatId, bytes: bytes.slice().buffer, keptAt: clock.now() });
    },
    async keepFile(id, { chatId, name, sizeBytes }) {
      files.put({ id, chatId, name, sizeBytes, isEnded: false, keptAt: clock.now() });
    },
    async beginAnswer(id, chatId, answer) {
      const now = clock.now();
      const file = files.first("WHERE id = ? AND chat_id = ?", id, chatId);
      if (file === undefined || file.keptAt < now - KEEP_MS) return { kind: "unknown" };
      const isOthers = file.answer !== answer && (file.answeredAt ?? 0) > now - ANSWER_MS;
      if (file.isEnded || isOthers) return { kind: "busy" };
      files.update({ answer, answeredAt: now }, "WHERE id = ?", id);
      const { name, sizeBytes } = file;
      return { kind: "own", file: { chatId, name, sizeBytes }, isAgain: file.answer === answer };
    },
    async forgetAnswer(id) {
      tables.run("UPDATE kept_file_v1 SET answer = NULL, answered_at = NULL WHERE id = ?", id);
    },
    async piece(id, piece) {
      const row = pieces.first("WHERE file_id = ? AND piece = ?", id, piece);
      return row && new Uint8Array(row.bytes);
    },
    async endFile(id) {
      files.update({ isEnded: true }, "WHERE id = ?", id);
      pieces.delete("WHERE file_id = ?", id);
    },
  };
}
