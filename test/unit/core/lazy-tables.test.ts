import { expect, it } from "vitest";
import { LazyTables } from "../../../src/core/lazy-tables.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { NodeDatabase } from "../../../lab/support/node-database.ts";

const OPTIONS = {
  table: "bird_v1",
  schema: [
    "CREATE TABLE IF NOT EXISTS bird_v1 (id INTEGER PRIMARY KEY, name TEXT NOT NULL, color TEXT) STRICT",
    "CREATE INDEX IF NOT EXISTS bird_v1_name ON bird_v1 (name)",
  ],
  added: { color: "TEXT" },
};

const tablesOf = (database: NodeDatabase): string[] =>
  database.all<{ name: string }>("SELECT name FROM sqlite_master ORDER BY name").map(({ name }) => name);

const add = (database: NodeDatabase, tables: LazyTables, name: string): void => {
  tables.make();
  database.run("INSERT INTO bird_v1 (name) VALUES (?)", name);
};

it("makes no table while nothing is stored, whatever is asked", () => {
  const database = createNodeDatabase();
  const tables = new LazyTables(database, OPTIONS);
  expect(tables.ready()).toBe(false);
  expect(tables.all("SELECT * FROM bird_v1")).toEqual([]);
  tables.run("DELETE FROM bird_v1");
  expect(tablesOf(database)).toEqual([]);
});

it("makes the tables with the first row, and finds the row in this life and the next one", () => {
  const database = createNodeDatabase();
  const tables = new LazyTables(database, OPTIONS);
  add(database, tables, "owl");
  expect(tablesOf(database)).toEqual(["bird_v1", "bird_v1_name"]);
  for (const one of [tables, new LazyTables(database, OPTIONS)])
    expect(one.all("SELECT name FROM bird_v1")).toEqual([{ name: "owl" }]);
});

it("adds the columns that a table of an earlier release lacks, and keeps its rows", () => {
  const database = createNodeDatabase();
  database.run("CREATE TABLE bird_v1 (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT");
  database.run("INSERT INTO bird_v1 (name) VALUES ('owl')");
  const tables = new LazyTables(database, OPTIONS);
  expect(tables.all("SELECT name, color FROM bird_v1")).toEqual([{ name: "owl", color: null }]);
});

it("makes the tables again after a transaction that failed has taken them away", () => {
  const database = createNodeDatabase();
  const tables = new LazyTables(database, OPTIONS);
  const failing = (): void =>
    database.transaction(() => {
      add(database, tables, "owl");
      throw new Error("The transaction fails.");
    });
  expect(failing).toThrow("The transaction fails.");
  expect(tables.all("SELECT name FROM bird_v1")).toEqual([]);
  add(database, tables, "jay");
  expect(tables.all("SELECT name FROM bird_v1")).toEqual([{ name: "jay" }]);
});
