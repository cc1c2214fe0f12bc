import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue } from "node:sqlite";
import { deserialize, serialize } from "node:v8";

/** workerd's own file beside the objects of a class. It has their alarms. */
const METADATA = "metadata.sqlite";
/** The key under which an object keeps its name; see `object-name.ts`. */
const NAME_KEY = "__ps_name";
/** The key under which an object keeps the class of its root; see `object-name.ts`. */
const ROOT_CLASS_KEY = "switchboard-root-class";
/** Tables of Switchboard. Those of the agents package have no ids of chats in objects that stay. */
export const OUR_TABLE = /_v\d+$/;
const FILE = /^[0-9a-f]{64}\.sqlite$/;

export type Cell = string | number | bigint | null | Uint8Array;
export type Row = Readonly<Record<string, Cell>>;

/** A Durable Object on disk. */
export interface StoredObject {
  /** Folder of its class: `<bot>-<class>`. */
  readonly classKey: string;
  readonly id: string;
  readonly file: string;
  /** Undefined if the object has never run as an agent. */
  readonly name: string | undefined;
}

/** Lists the objects of a data directory. May run beside the bot. */
export function listObjects(objectsDirectory: string): StoredObject[] {
  return objectFiles(objectsDirectory).map((found) => ({ ...found, name: nameIn(found.file) }));
}

function objectFiles(objectsDirectory: string): Omit<StoredObject, "name">[] {
  return classFolders(objectsDirectory).flatMap((classKey) =>
    readdirSync(path.join(objectsDirectory, classKey))
      .filter((file) => FILE.test(file))
      .map((base) => ({
        classKey,
        id: base.slice(0, -".sqlite".length),
        file: path.join(objectsDirectory, classKey, base),
      })),
  );
}

/** Lists the folders of the classes, also those without objects. */
export function classFolders(objectsDirectory: string): string[] {
  try {
    return readdirSync(objectsDirectory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .toSorted();
  } catch (error) {
    // Nothing was stored yet.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** Returns the folder in which objects are kept that others take the place of. */
export function asideOf(objectsDirectory: string, now: () => number): string {
  return `${objectsDirectory}.before-${new Date(now()).toISOString().replaceAll(/[:.]/g, "-")}`;
}

/**
 * Opens a file, and closes it when the work is done.
 *
 * @param timeoutMs longest wait for another process that is writing
 */
function withDatabase<T>(
  file: string,
  isReadOnly: boolean,
  body: (database: DatabaseSync) => T,
  timeoutMs = 5_000,
): T {
  const database = new DatabaseSync(file, { readOnly: isReadOnly });
  try {
    database.exec(`PRAGMA busy_timeout = ${timeoutMs}`);
    return body(database);
  } finally {
    database.close();
  }
}

/** Rows by the file that they were read from, and its state before that. */
export type ReadRows = Map<string, { readonly state: string; readonly rows: readonly Row[] }>;

const INDEX_HEADER_BYTES = 48;

/**
 * Reads rows from the tables of all objects, each object at one moment. An object without a table has no rows of it. May
 * run beside the bot, and never waits for it.
 *
 * @param queries by the name of their table
 * @param known rows of earlier calls with the same queries, which are not read again while their file is the same
 * @throws {Error} with the code `ERR_SQLITE_ERROR` if the bot is writing
 */
export function readAll(
  objectsDirectory: string,
  queries: Readonly<Record<string, string>>,
  known: ReadRows = new Map(),
): Row[] {
  return objectFiles(objectsDirectory).flatMap(({ file }) => {
    const state = stateOf(file);
    const read = known.get(file);
    if (read !== undefined && read.state === state) return read.rows;
    const rows = withDatabase(file, true, (database) => rowsAtOnce(database, queries), 0);
    if (state !== undefined) known.set(file, { state, rows });
    return rows;
  });
}

/**
 * Returns words that change with each commit to a file: the header of the index to its log (SQLite's WAL-index format,
 * 2.1). The times of the files do not do: what is written becomes visible only when it has reached the disk. Undefined if
 * there is no index.
 */
function stateOf(file: string): string | undefined {
  const header = Buffer.alloc(INDEX_HEADER_BYTES);
  try {
    const index = openSync(`${file}-shm`, "r");
    try {
      readSync(index, header, 0, INDEX_HEADER_BYTES, 0);
    } finally {
      closeSync(index);
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  return header.toString("base64");
}

function rowsAtOnce(database: DatabaseSync, queries: Readonly<Record<string, string>>): Row[] {
  database.exec("BEGIN");
  const tables = new Set(tablesOf(database));
  return Object.entries(queries)
    .filter(([table]) => tables.has(table))
    .flatMap(([, query]) => database.prepare(query).all());
}

function nameIn(file: string): string | undefined {
  return withDatabase(file, true, (database) => {
    if (!hasTable(database, "_cf_KV")) return undefined;
    const row = database.prepare("SELECT value FROM _cf_KV WHERE key = ?").get(NAME_KEY);
    if (!(row?.value instanceof Uint8Array)) return undefined;
    const value: unknown = deserialize(row.value);
    return typeof value === "string" ? value : undefined;
  });
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return (
    database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined
  );
}

function tablesOf(database: DatabaseSync): string[] {
  const rows = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
  return rows.map(({ name }) => String(name)).filter((name) => !name.startsWith("sqlite_"));
}

/** Writes a database and the log beside it into one file. */
export function copyDatabase(from: string, to: string): void {
  withDatabase(from, false, (database) => {
    database.prepare("VACUUM INTO ?").run(to);
  });
}

/** Returns SQLite's complaints about a file. None if it is whole. */
export function faultsIn(file: string): string[] {
  try {
    return withDatabase(file, true, (database) =>
      database
        .prepare("PRAGMA integrity_check(5)")
        .all()
        .map((row) => String(row.integrity_check))
        .filter((words) => words !== "ok"),
    );
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** Returns the time of an object's first job, in epoch milliseconds. */
function firstJobAt(file: string): number | undefined {
  return withDatabase(file, true, (database) => {
    if (!hasTable(database, "cf_agents_jobs")) return undefined;
    const time = database.prepare("SELECT MIN(time) AS time FROM cf_agents_jobs").get()?.time;
    return typeof time === "number" ? time : undefined;
  });
}

/**
 * Makes sure that every object of a copy wakes up for its jobs. workerd may not have written an alarm yet that an object
 * has just set. An alarm too many does no harm.
 */
export function completeAlarms(objectsDirectory: string): void {
  for (const { classKey, file, id } of listObjects(objectsDirectory)) {
    const at = firstJobAt(file);
    const metadata = path.join(objectsDirectory, classKey, METADATA);
    if (at === undefined) continue;
    withDatabase(metadata, false, (database) => {
      if (!hasTable(database, "_cf_ALARM")) return;
      database
        .prepare(
          "INSERT INTO _cf_ALARM (actor_id, scheduled_time) VALUES (?, ?) ON CONFLICT (actor_id) DO NOTHING",
        )
        .run(id, BigInt(Math.round(at)) * 1_000_000n);
    });
  }
}

/** Removes the alarms of objects that are gone. */
export function removeAlarms(objectsDirectory: string, classKey: string, ids: readonly string[]): void {
  if (ids.length === 0) return;
  withDatabase(path.join(objectsDirectory, classKey, METADATA), false, (database) => {
    if (!hasTable(database, "_cf_ALARM")) return;
    const remove = database.prepare("DELETE FROM _cf_ALARM WHERE actor_id = ?");
    for (const id of ids) remove.run(id);
    scrub(database);
  });
}

/** Makes an object one of the root of another class, or (`undefined`) of its own, and empties its log into its file. */
export function keepRootClass(file: string, rootClass: string | undefined): void {
  withDatabase(file, false, (database) => {
    database.prepare("DELETE FROM _cf_KV WHERE key = ?").run(ROOT_CLASS_KEY);
    if (rootClass !== undefined)
      database
        .prepare("INSERT INTO _cf_KV (key, value) VALUES (?, ?)")
        .run(ROOT_CLASS_KEY, serialize(rootClass));
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  });
}

/** An object of a class, by its id. */
type ObjectPlace = Pick<StoredObject, "classKey" | "id">;

/** Gives the alarm of an object to another one. Nothing happens if it has none. */
export function moveAlarm(objectsDirectory: string, from: ObjectPlace, to: ObjectPlace): void {
  const file = path.join(objectsDirectory, from.classKey, METADATA);
  const made = rowsOf(file, "sqlite_master").find(({ name }) => name === "_cf_ALARM");
  if (typeof made?.sql !== "string") return;
  const sql = made.sql.replace(/^CREATE TABLE(?! IF)/i, "CREATE TABLE IF NOT EXISTS");
  const alarm = withDatabase(file, true, (database) => {
    const read = database.prepare("SELECT * FROM _cf_ALARM WHERE actor_id = ?");
    read.setReadBigInts(true);
    return read.get(from.id);
  });
  if (alarm === undefined) return;
  const row: Row = { ...alarm, actor_id: to.id };
  withDatabase(path.join(objectsDirectory, to.classKey, METADATA), false, (database) => {
    database.exec(sql);
    const columns = Object.keys(row).map(quoted).join(", ");
    const places = Object.keys(row)
      .map(() => "?")
      .join(", ");
    database
      .prepare(`INSERT OR REPLACE INTO _cf_ALARM (${columns}) VALUES (${places})`)
      .run(...Object.values(row));
  });
  removeAlarms(objectsDirectory, from.classKey, [from.id]);
}

/** Calls `take` with every row of every table. */
export function forEachRow(file: string, take: (table: string, row: Row) => void): void {
  withDatabase(file, true, (database) => {
    for (const table of tablesOf(database)) {
      const statement = database.prepare(`SELECT * FROM ${quoted(table)}`);
      statement.setReadBigInts(true);
      for (const row of statement.iterate()) take(table, row);
    }
  });
}

/** Returns the rows of one table. None if there is no such table. */
export function rowsOf(file: string, table: string): Row[] {
  return withDatabase(file, true, (database) =>
    hasTable(database, table) ? database.prepare(`SELECT * FROM ${quoted(table)}`).all() : [],
  );
}

/**
 * Deletes the rows that match, from all tables whose name passes, and overwrites them on the disk. Returns their number.
 */
export function deleteRows(
  file: string,
  isTable: (table: string) => boolean,
  matches: (table: string, row: Row) => boolean,
): number {
  return withDatabase(file, false, (database) => {
    let count = 0;
    database.exec("PRAGMA secure_delete = ON; BEGIN IMMEDIATE");
    for (const table of tablesOf(database).filter(isTable)) {
      const keys = database.prepare(`PRAGMA table_info(${quoted(table)})`).all();
      const primary = keys.filter(({ pk }) => Number(pk) > 0).map(({ name }) => String(name));
      const columns = primary.length > 0 ? primary : ["rowid"];
      const select = database.prepare(`SELECT ${primary.length > 0 ? "" : "rowid, "}* FROM ${quoted(table)}`);
      select.setReadBigInts(true);
      const where = columns.map((column) => `${quoted(column)} IS ?`).join(" AND ");
      const remove = database.prepare(`DELETE FROM ${quoted(table)} WHERE ${where}`);
      for (const row of select.all()) {
        if (!matches(table, row)) continue;
        remove.run(...columns.map((column): SQLInputValue => row[column] ?? null));
        count += 1;
      }
    }
    database.exec("COMMIT");
    if (count > 0) scrub(database);
    return count;
  });
}

/** New values of the rows with a key. */
export interface RowChange {
  readonly table: string;
  readonly key: Row;
  readonly values: Row;
}

/** Changes rows in one step, and overwrites the old values on the disk. */
export function changeRows(file: string, changes: readonly RowChange[]): void {
  if (changes.length === 0) return;
  const named = (columns: Row, between: string, is = "="): string =>
    Object.keys(columns)
      .map((column) => `${quoted(column)} ${is} ?`)
      .join(between);
  withDatabase(file, false, (database) => {
    database.exec("PRAGMA secure_delete = ON; BEGIN IMMEDIATE");
    for (const { key, table, values } of changes)
      database
        .prepare(`UPDATE ${quoted(table)} SET ${named(values, ", ")} WHERE ${named(key, " AND ", "IS")}`)
        .run(...Object.values(values), ...Object.values(key));
    database.exec("COMMIT");
    scrub(database);
  });
}

/** Takes deleted bytes out of the file and its log. */
function scrub(database: DatabaseSync): void {
  database.exec("VACUUM");
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export { METADATA };
