import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.join(import.meta.dirname, "../../..");
/** Columns that a release has added to a table: a constant, or the last argument of the call. */
const ADDED = /(?:const ADDED[^=]*= |addMissingColumns\(\s*database,\s*"\w+",\s*)\{([^}]*)\}/g;
const stores = globSync("{src,delivery}/**/*-store.ts", { cwd: root })
  .map((file) => ({ file, code: readFileSync(path.join(root, file), "utf8") }))
  .filter(({ code }) => code.includes("addMissingColumns(") || code.includes("added: ADDED"));

it("looks at the stores that add columns", () => {
  expect(stores.length).toBeGreaterThan(8);
});

// An object that makes a table does not ask for its columns.
it.each(stores)("$file makes new tables with all added columns", ({ code }) => {
  const added = [...code.matchAll(ADDED)].flatMap(([, columns = ""]) =>
    [...columns.matchAll(/(\w+):\s*"/g)].map(([, name = ""]) => name),
  );
  expect(added.length).toBeGreaterThan(0);
  const tables = code.match(/CREATE TABLE IF NOT EXISTS[^`"]*/g) ?? [];
  const columns = new Set(tables.flatMap((table) => table.match(/\w+/g) ?? []));
  expect(added.filter((name) => !columns.has(name))).toEqual([]);
});
