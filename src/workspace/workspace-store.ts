import type { Database } from "../core/store/database.ts";
import { LazyTables } from "../core/store/lazy-tables.ts";
import { defineTable, flag, integer, Table, text } from "../core/store/table.ts";
import type { RowOf } from "../core/store/table.ts";
import { insideOf } from "./file-path.ts";

/** The files of a conversation. Their bytes are in `file_piece_v1`, or in the bucket for large files. */
const FILES = defineTable("workspace_file_v1", {
  path: text("PRIMARY KEY"),
  /** New with each write. Holds the bytes. */
  version: text("NOT NULL"),
  hash: text("NOT NULL"),
  sizeBytes: integer("NOT NULL"),
  mediaType: text("NOT NULL"),
  /** Whether the bytes are in the bucket. */
  isLarge: flag("NOT NULL"),
  changedAt: integer("NOT NULL"),
  userId: text(),
  userName: text(),
});
/** Calls of tools that have changed files, in the transaction of the change, so that no crash repeats one. */
const CALLS = defineTable("workspace_call_v1", {
  key: text("PRIMARY KEY"),
  output: text("NOT NULL"),
  at: integer("NOT NULL"),
});
/** Files of people: where they are, or why they were not kept. */
const SENT = defineTable("workspace_sent_v1", {
  key: text("PRIMARY KEY"),
  path: text(),
  problem: text(),
  at: integer("NOT NULL"),
});
/** Objects in the bucket. `unusedSince`: no file has these bytes. */
const OBJECTS = defineTable("workspace_object_v1", {
  hash: text("PRIMARY KEY"),
  unusedSince: integer(),
});

export type FileRow = RowOf<typeof FILES>;
export type SentRow = RowOf<typeof SENT>;

/** Calls and facts about people's files are kept as long as an interrupted call may be asked about. */
const KEEP_MS = 90 * 24 * 60 * 60 * 1000;
/** Objects that no file has are deleted after this time: a write may be on its way. */
export const OBJECT_REST_MS = 10 * 60 * 1000;

export class WorkspaceStore {
  readonly #tables: LazyTables;
  readonly #calls: LazyTables;
  readonly #sent: LazyTables;
  readonly #objects: LazyTables;
  readonly #fileRows: Table<typeof FILES>;
  readonly #callRows: Table<typeof CALLS>;
  readonly #sentRows: Table<typeof SENT>;
  readonly #objectRows: Table<typeof OBJECTS>;

  constructor(database: Database) {
    this.#tables = new LazyTables(database, FILES);
    this.#calls = new LazyTables(database, CALLS);
    this.#sent = new LazyTables(database, SENT);
    this.#objects = new LazyTables(database, OBJECTS);
    this.#fileRows = new Table(this.#tables, FILES);
    this.#callRows = new Table(this.#calls, CALLS);
    this.#sentRows = new Table(this.#sent, SENT);
    this.#objectRows = new Table(this.#objects, OBJECTS);
  }

  /** Makes the tables that a change may need, outside of its transaction. */
  make(): void {
    this.#tables.make();
  }

  file(path: string): FileRow | undefined {
    return this.#fileRows.first("WHERE path = ?", path);
  }

  /** Returns the files of a folder and of the folders in it, by path. */
  filesIn(folder: string): FileRow[] {
    const inside = insideOf(folder);
    // The slash is followed by the digit 0.
    return this.#fileRows.all("WHERE path > ? AND path < ? ORDER BY path", inside, `${inside.slice(0, -1)}0`);
  }

  /** Returns those of the paths that are files. */
  filesAmong(paths: readonly string[]): FileRow[] {
    if (paths.length === 0) return [];
    return this.#fileRows.all(`WHERE path IN (${paths.map(() => "?").join(", ")})`, ...paths);
  }

  hasFilesIn(folder: string): boolean {
    const inside = insideOf(folder);
    const [found] = this.#tables.all(
      "SELECT 1 AS found FROM workspace_file_v1 WHERE path > ? AND path < ? LIMIT 1",
      inside,
      `${inside.slice(0, -1)}0`,
    );
    return found !== undefined;
  }

  /** The number of files, and of their bytes. */
  used(): { readonly files: number; readonly bytes: number } {
    const [row] = this.#tables.all<{ files: number; bytes: number }>(
      "SELECT count(*) AS files, coalesce(sum(size_bytes), 0) AS bytes FROM workspace_file_v1",
    );
    return { files: row?.files ?? 0, bytes: row?.bytes ?? 0 };
  }

  put(row: FileRow): void {
    this.#fileRows.put(row);
  }

  delete(path: string): void {
    this.#tables.run("DELETE FROM workspace_file_v1 WHERE path = ?", path);
  }

  /** Returns the output of a call that has changed files. */
  call(key: string): string | undefined {
    return this.#callRows.first("WHERE key = ?", key)?.output;
  }

  addCall(key: string, output: string, now: number): void {
    this.#calls.run("DELETE FROM workspace_call_v1 WHERE at < ?", now - KEEP_MS);
    this.#callRows.put({ key, output, at: now });
  }

  sent(key: string): SentRow | undefined {
    return this.#sentRows.first("WHERE key = ?", key);
  }

  addSent(row: SentRow): void {
    this.#sent.run("DELETE FROM workspace_sent_v1 WHERE at < ?", row.at - KEEP_MS);
    this.#sentRows.put(row);
  }

  /** Notes that an object may be in the bucket, before it is. */
  expectObject(hash: string, now: number): void {
    if (this.#isUsed(hash)) return;
    this.#objectRows.put({ hash, unusedSince: now });
  }

  /** Notes whether a file has the bytes of an object. */
  markObject(hash: string, now: number): void {
    const unusedSince = this.#isUsed(hash) ? undefined : now;
    this.#objectRows.update({ unusedSince }, "WHERE hash = ?", hash);
  }

  /** Returns the objects that no file has had since `before`. */
  unusedObjects(before: number): string[] {
    return this.#objectRows
      .all("WHERE unused_since <= ? ORDER BY unused_since LIMIT 100", before)
      .map(({ hash }) => hash);
  }

  forgetObject(hash: string): void {
    this.#objects.run("DELETE FROM workspace_object_v1 WHERE hash = ? AND unused_since IS NOT NULL", hash);
  }

  /** The time at which an object became unused first. */
  unusedSince(): number | undefined {
    const [row] = this.#objects.all<{ since: number | null }>(
      "SELECT min(unused_since) AS since FROM workspace_object_v1",
    );
    return row?.since ?? undefined;
  }

  #isUsed(hash: string): boolean {
    const [found] = this.#tables.all(
      "SELECT 1 AS found FROM workspace_file_v1 WHERE hash = ? AND is_large = 1 LIMIT 1",
      hash,
    );
    return found !== undefined;
  }
}
