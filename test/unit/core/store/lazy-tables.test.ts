import { expect, it } from "vitest";
import { addMissingColumns } from "../../../../src/core/store/add-missing-columns.ts";
import { LazyTables } from "../../../../src/core/store/lazy-tables.ts";
import { guardVersions } from "../../../../src/agent/store-versions.ts";
import type { Database } from "../../../../src/core/store/database.ts";
import { createNodeDatabase } from "../../../../lab/support/node-database.ts";
import type { NodeDatabase } from "../../../../lab/support/node-database.ts";

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

const add = (database: Database, tables: LazyTables, name: string): void => {
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
      expect(tables.all("SELECT name FROM bird_v1")).toHaveLength(1);
      throw new Error("The transaction fails.");
    });
  expect(failing).toThrow("The transaction fails.");
  expect(tables.all("SELECT name FROM bird_v1")).toEqual([]);
  add(database, tables, "jay");
  expect(tables.all("SELECT name FROM bird_v1")).toEqual([{ name: "jay" }]);
});

it("adds missing columns again after a transaction that failed has taken them away", () => {
  const database = createNodeDatabase();
  database.run("CREATE TABLE bird_v1 (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT");
  const tables = new LazyTables(database, OPTIONS);
  const failing = (): void =>
    database.transaction(() => {
      add(database, tables, "owl");
      throw new Error("The transaction fails.");
    });
  expect(failing).toThrow("The transaction fails.");
  expect(tables.all("SELECT color FROM bird_v1")).toEqual([]);
});

it("finds tables that another store has made after a transaction that failed had taken them away", () => {
  const database = guardVersions(createNodeDatabase());
  const [reader, writer] = [new LazyTables(database, OPTIONS), new LazyTables(database, OPTIONS)];
  const failing = (): void =>
    database.transaction(() => {
      add(database, writer, "owl");
      throw new Error("The transaction fails.");
    });
  expect(failing).toThrow("The transaction fails.");
  expect(reader.all("SELECT name FROM bird_v1")).toEqual([]);
  add(database, writer, "jay");
  expect(reader.all("SELECT name FROM bird_v1")).toEqual([{ name: "jay" }]);
});

/** Records the statements of a database. */
function recorded(database: NodeDatabase): { database: Database; statements: string[] } {
  const statements: string[] = [];
  const record = (statement: string): string => {
    statements.push(statement);
    return statement;
  };
  const wrapped: Database = {
    all: (statement, ...bindings) => database.all(record(statement), ...bindings),
    run: (statement, ...bindings) => database.run(record(statement), ...bindings),
    transaction: (body) => database.transaction(body),
  };
  return { database: wrapped, statements };
}

it("asks nothing about the tables of a new object, whose names were read at the start", () => {
  const inner = createNodeDatabase();
  const { database, statements } = recorded(inner);
  const guarded = guardVersions(database);
  guarded.run("CREATE TABLE IF NOT EXISTS nest_v1 (id INTEGER PRIMARY KEY, color TEXT)");
  addMissingColumns(guarded, "nest_v1", { color: "TEXT" });
  const tables = new LazyTables(guarded, OPTIONS);
  const others = new LazyTables(guarded, OPTIONS);
  expect([tables.all("SELECT * FROM bird_v1"), others.ready()]).toEqual([[], false]);
  expect(statements.filter((statement) => /sqlite_master|PRAGMA/.test(statement))).toHaveLength(1);
  add(guarded, tables, "owl");
  expect(others.all("SELECT name FROM bird_v1")).toEqual([{ name: "owl" }]);
});

it("asks once about tables that it has made, when no transaction can take them away any more", async () => {
  const { database, statements } = recorded(createNodeDatabase());
  const guarded = guardVersions(database);
  const tables = new LazyTables(guarded, OPTIONS);
  guarded.transaction(() => add(guarded, tables, "owl"));
  await Promise.resolve();
  statements.length = 0;
  add(guarded, tables, "jay");
  expect(tables.all("SELECT name FROM bird_v1 ORDER BY id")).toEqual([{ name: "owl" }, { name: "jay" }]);
  expect(statements.filter((statement) => statement.includes("sqlite_master"))).toHaveLength(1);
  expect(statements.filter((statement) => statement.startsWith("CREATE"))).toEqual([]);
});

it("makes the tables again, in a later run of code, after a transaction that failed has taken them away", async () => {
  const database = createNodeDatabase();
  const guarded = guardVersions(database);
  const tables = new LazyTables(guarded, OPTIONS);
  const failing = (): void =>
    database.transaction(() => {
      add(guarded, tables, "owl");
      throw new Error("The transaction fails.");
    });
  expect(failing).toThrow("The transaction fails.");
  await Promise.resolve();
  expect(tables.all("SELECT name FROM bird_v1")).toEqual([]);
  add(guarded, tables, "jay");
  await Promise.resolve();
  expect(tables.all("SELECT name FROM bird_v1")).toEqual([{ name: "jay" }]);
});

it("finds in the next life what this one has made, and adds the columns that it lacks", () => {
  const inner = createNodeDatabase();
  inner.run("CREATE TABLE bird_v1 (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT");
  inner.run("CREATE TABLE nest_v1 (id INTEGER PRIMARY KEY)");
  const guarded = guardVersions(inner);
  guarded.run("CREATE TABLE IF NOT EXISTS nest_v1 (id INTEGER PRIMARY KEY, color TEXT)");
  addMissingColumns(guarded, "nest_v1", { color: "TEXT" });
  expect(guarded.all("SELECT color FROM nest_v1")).toEqual([]);
  add(guarded, new LazyTables(guarded, OPTIONS), "owl");
  expect(guarded.all("SELECT name, color FROM bird_v1")).toEqual([{ name: "owl", color: null }]);
});
