import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SQLOutputValue } from "node:sqlite";
import { gunzipSync, gzipSync } from "node:zlib";

/** The data of a bot and of its simulator at one moment, in one file. */
interface KeptData {
  /** The moment, in epoch milliseconds. */
  readonly at: number;
  /** Contents in base64, by path. */
  readonly files: Readonly<Record<string, string>>;
}

const HOUR_MS = 60 * 60 * 1000;

/** Writes the files of a folder whose path begins with one of these names. */
export async function keepData(folder: string, names: readonly string[], to: string): Promise<void> {
  const files: Record<string, string> = {};
  for (const name of (await readdir(folder, { recursive: true })).toSorted()) {
    if (!names.includes(name.split(path.sep)[0] ?? "") || !/\.(?:sqlite|json)$/.test(name)) continue;
    const file = path.join(folder, name);
    if (name.endsWith(".sqlite")) mergeLog(file);
    files[name] = (await readFile(file)).toString("base64");
  }
  const kept: KeptData = { at: Date.now(), files };
  await writeFile(to, gzipSync(JSON.stringify(kept), { level: 9 }));
}

/** Writes kept data into a folder as if it had been kept just now. */
export async function unpackData(from: string, folder: string): Promise<void> {
  const kept = JSON.parse(gunzipSync(await readFile(from)).toString("utf8")) as KeptData;
  for (const [name, content] of Object.entries(kept.files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, Buffer.from(content, "base64"));
    if (file.endsWith(".sqlite")) moveTimes(file, kept.at, Date.now() - kept.at);
  }
}

/** Brings the rows of the write-ahead log into the file itself. */
function mergeLog(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

/** Moves all times near the moment of the copy, in every table. Alarms stay: they are overdue. */
function moveTimes(file: string, at: number, byMs: number): void {
  const isTime = (value: unknown): value is number =>
    typeof value === "number" && value > at - HOUR_MS && value < at + 40 * 24 * HOUR_MS;
  const move = (value: SQLOutputValue): SQLOutputValue => {
    if (typeof value !== "string") return isTime(value) ? value + byMs : value;
    return value.replace(/\b\d{13}\b/g, (digits) =>
      isTime(Number(digits)) ? String(Number(digits) + byMs) : digits,
    );
  };
  const database = new DatabaseSync(file);
  database.function("moved", move);
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  for (const table of tables.map(({ name }) => String(name)).filter((name) => /_v\d+$/.test(name))) {
    for (const { name } of database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all()) {
      database.exec(
        `UPDATE ${table} SET "${String(name)}" = moved("${String(name)}")
         WHERE typeof("${String(name)}") IN ('integer', 'text')`,
      );
    }
  }
  database.close();
}
