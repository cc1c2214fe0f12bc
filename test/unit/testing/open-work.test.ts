import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { WORK_TABLES } from "../../../testing/open-work-store.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const SOURCES = globSync("{src,delivery}/**/*.ts", { cwd: root }).map((file) =>
  readFileSync(path.join(root, file), "utf8"),
);

/** Every table as it is on disk. */
const stored: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(path.join(root, "test/fixtures/stored-tables.json"), "utf8"),
);

it.each(Object.entries(WORK_TABLES))("reads the newest version of %s", (table, query) => {
  const [name = "", version] = table.split("_v");
  const newer = `${name}_v${Number(version) + 1}`;
  expect(SOURCES.filter((source) => source.includes(newer))).toEqual([]);
  const database = new DatabaseSync(":memory:");
  for (const one of Object.keys(WORK_TABLES)) database.exec(stored[one] ?? "");
  database.exec(stored["broadcast_v1"] ?? "");
  expect(database.prepare(query).all()).toEqual([]);
});
