import path from "node:path";
import { forEachRow, listObjects } from "./object-store.ts";
import type { Cell, Row } from "./object-store.ts";
import { answersOf } from "./question-answers.ts";
import { findTarget, namesOne } from "./targets.ts";

/** Everything that is stored about a chat or a person: rows by object and table. Bytes are base64. */
export interface ExportedData {
  readonly target: string;
  readonly exportedAt: string;
  readonly objects: readonly {
    readonly name: string;
    readonly tables: Readonly<Record<string, readonly object[]>>;
  }[];
}

/** Secrets never leave the bot, sealed or not. */
const SECRETS = "secret_v1";

/**
 * Reads everything that is stored about a chat or a person: their objects as a whole, and the rows about them in other
 * objects. May run beside the bot.
 *
 * @throws {ServeError} `target-unknown`
 */
export function exportData(dataDirectory: string, id: string, now: () => number): ExportedData {
  const target = findTarget(dataDirectory, id);
  const own = new Set(target.objects.map(({ file }) => file));
  const objects = listObjects(path.join(dataDirectory, "objects")).flatMap(({ file, name }) => {
    const tables: Record<string, object[]> = {};
    const isAnswer = answersOf(file, target.ids);
    forEachRow(file, (table, row) => {
      const isMeant =
        own.has(file) ||
        isAnswer(table, row) ||
        Object.values(row).some((value) => namesOne(value, target.ids));
      if (isMeant && table !== SECRETS && !table.startsWith("_cf_"))
        (tables[table] ??= []).push(readable(row));
    });
    return Object.keys(tables).length === 0 ? [] : [{ name: name ?? "", tables }];
  });
  return { target: id, exportedAt: new Date(now()).toISOString(), objects };
}

function readable(row: Row): object {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, readableCell(value)]));
}

function readableCell(value: Cell): string | number | null {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return typeof value === "bigint" ? Number(value) : value;
}
