import { SwitchboardError } from "../../src/core/base/errors.ts";
import type { Database } from "../../src/core/store/database.ts";
import { LazyTables } from "../../src/core/store/lazy-tables.ts";
import { blob, defineTable, integer, Table, text } from "../../src/core/store/table.ts";

/**
 * Bytes of outgoing files, in pieces. The tables are created with the first file, because most conversations send none.
 */
const FILES = defineTable(
  "file_v1",
  {
    id: integer("PRIMARY KEY AUTOINCREMENT"),
    hash: text("UNIQUE"),
    sizeBytes: integer("NOT NULL"),
    createdAt: integer("NOT NULL"),
  },
  "STRICT",
);
const PIECES = defineTable(
  "file_piece_v1",
  { fileId: integer("PRIMARY KEY"), piece: integer("PRIMARY KEY"), bytes: blob("NOT NULL") },
  "STRICT",
);
const USES = defineTable("file_use_v1", { replyId: text("PRIMARY KEY"), hash: text("PRIMARY KEY") });

/** With the number of a storing: stands for the reply that it was made for, until that reply exists. */
const NEXT_REPLY = "next:";

/** Number of bytes that are enough to recognize a file's format. */
export const HEAD_BYTES = 64;

/** A row has 2 MB at most. */
export const MAX_PIECE_BYTES = 1024 * 1024;

/**
 * The bytes of files to send, by their SHA-256. A file is stored once for all replies that show it, and deleted when
 * the last of them has ended.
 *
 * 1. A file without a hash is being written. If a crash interrupts that, `sweep` deletes it.
 * 2. A file with a hash is complete and never changes.
 * 3. A file that a reply uses is not deleted.
 * 4. Nor is one that was stored for a reply that does not exist yet, when an earlier reply with the same file ends. Each
 *    storing leaves a mark, and each reply takes one. `sweep` deletes the marks that no reply has taken.
 */
export class FileStore {
  readonly #database: Database;
  readonly #tables: LazyTables;
  readonly #files: Table<typeof FILES>;
  readonly #pieces: Table<typeof PIECES>;
  readonly #uses: Table<typeof USES>;

  constructor(database: Database) {
    this.#database = database;
    this.#tables = new LazyTables(database, PIECES, USES, FILES);
    this.#files = new Table(this.#tables, FILES);
    this.#pieces = new Table(this.#tables, PIECES);
    this.#uses = new Table(this.#tables, USES);
  }

  /** Begins a file. Returns its number, for `add` and `finish`. */
  begin(now: number): number {
    if (!this.#tables.ready()) this.#database.transaction(() => this.#tables.make());
    return this.#files.insertNew({ sizeBytes: 0, createdAt: now })?.id ?? 0;
  }

  /** Adds a piece of at most `MAX_PIECE_BYTES`. */
  add(id: number, piece: number, bytes: Uint8Array): void {
    // Copied, because the piece may be a view into a larger buffer.
    this.#pieces.insert({ fileId: id, piece, bytes: bytes.slice().buffer });
  }

  /** Completes a file. If a file with this hash is stored already, that one is kept. */
  finish(id: number, hash: string, sizeBytes: number, now: number): void {
    this.#database.transaction(() => {
      if (this.#find(hash) !== undefined) {
        this.#delete(id);
        // Nothing may use the stored file at the moment, and it must not be swept before this reply uses it.
        this.#database.run("UPDATE file_v1 SET created_at = ? WHERE hash = ?", now, hash);
      } else
        this.#database.run("UPDATE file_v1 SET hash = ?, size_bytes = ? WHERE id = ?", hash, sizeBytes, id);
      this.#use(`${NEXT_REPLY}${id}`, hash);
    });
  }

  /** Deletes a file that could not be read to its end. */
  discard(id: number): void {
    this.#database.transaction(() => this.#delete(id));
  }

  has(hash: string): boolean {
    return this.#tables.ready() && this.#find(hash) !== undefined;
  }

  /**
   * Returns the first bytes of a file, and its size, and keeps it for one more reply. Undefined if it is gone.
   *
   * @param mark a new id
   */
  reuse(
    hash: string,
    mark: string,
    now: number,
  ): { readonly head: Uint8Array; readonly sizeBytes: number } | undefined {
    const id = this.#tables.ready() ? this.#find(hash) : undefined;
    if (id === undefined) return undefined;
    const [row] = this.#database.all<{ head: ArrayBuffer; size_bytes: number }>(
      `SELECT substr(bytes, 1, ?) AS head, size_bytes FROM file_v1 JOIN file_piece_v1 ON file_id = id
       WHERE id = ? AND piece = 0`,
      HEAD_BYTES,
      id,
    );
    if (row === undefined) return undefined;
    this.#database.run("UPDATE file_v1 SET created_at = ? WHERE id = ?", now, id);
    this.#use(`${NEXT_REPLY}${mark}`, hash);
    return { head: new Uint8Array(row.head), sizeBytes: row.size_bytes };
  }

  /**
   * Streams the bytes of a file, one piece at a time.
   *
   * @throws {SwitchboardError} `file-missing`
   */
  open(hash: string): ReadableStream<Uint8Array> {
    const id = this.#tables.ready() ? this.#find(hash) : undefined;
    if (id === undefined) throw new SwitchboardError("file-missing", "The file is not stored any more.");
    let piece = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          const row = this.#pieces.first("WHERE file_id = ? AND piece = ?", id, piece);
          piece += 1;
          if (row === undefined) controller.close();
          else controller.enqueue(new Uint8Array(row.bytes));
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Keeps files for a reply that shows them. */
  hold(replyId: string, hashes: readonly string[]): void {
    for (const hash of hashes) {
      this.#use(replyId, hash);
      this.#database.run(
        `DELETE FROM file_use_v1 WHERE hash = ? AND reply_id =
           (SELECT min(reply_id) FROM file_use_v1 WHERE hash = ? AND reply_id GLOB ?)`,
        hash,
        hash,
        `${NEXT_REPLY}*`,
      );
    }
  }

  /** Deletes the files of an ended reply, except those that another reply shows. */
  release(replyId: string): void {
    if (!this.#tables.ready()) return;
    const used = this.#database.all<{ hash: string }>(
      "SELECT hash FROM file_use_v1 WHERE reply_id = ?",
      replyId,
    );
    this.#database.run("DELETE FROM file_use_v1 WHERE reply_id = ?", replyId);
    for (const { hash } of used) {
      const id = this.#find(hash);
      if (id !== undefined && !this.#isUsed(hash)) this.#delete(id);
    }
  }

  /** Deletes files that no reply shows and that were stored before `before`, in epoch milliseconds. */
  sweep(before: number): void {
    if (!this.#tables.ready()) return;
    const unused = this.#database.all<{ id: number; hash: string | null }>(
      `SELECT id, hash FROM file_v1 WHERE created_at < ?
       AND (hash IS NULL OR NOT EXISTS
         (SELECT 1 FROM file_use_v1 WHERE file_use_v1.hash = file_v1.hash AND reply_id NOT GLOB ?))`,
      before,
      `${NEXT_REPLY}*`,
    );
    this.#database.transaction(() => {
      for (const { hash, id } of unused) {
        if (hash !== null) this.#database.run("DELETE FROM file_use_v1 WHERE hash = ?", hash);
        this.#delete(id);
      }
    });
  }

  #use(replyId: string, hash: string): void {
    this.#uses.insertNew({ replyId, hash });
  }

  #find(hash: string): number | undefined {
    return this.#database.all<{ id: number }>("SELECT id FROM file_v1 WHERE hash = ?", hash)[0]?.id;
  }

  #isUsed(hash: string): boolean {
    return this.#database.all("SELECT 1 AS found FROM file_use_v1 WHERE hash = ? LIMIT 1", hash).length > 0;
  }

  #delete(id: number): void {
    this.#database.run("DELETE FROM file_piece_v1 WHERE file_id = ?", id);
    this.#database.run("DELETE FROM file_v1 WHERE id = ?", id);
  }
}
