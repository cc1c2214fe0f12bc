import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { guardVersions, STORE_VERSIONS } from "../../../src/agent/store-versions.ts";

const root = path.resolve(import.meta.dirname, "../../..");

/** Returns the newest version of each store whose table the code makes. */
function storesInCode(): Record<string, number> {
  const versions: Record<string, number> = {};
  for (const folder of ["src", "delivery", "providers"]) {
    for (const file of readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith(".ts")) continue;
      const text = readFileSync(path.join(root, folder, file), "utf8");
      for (const [, store = "", version] of text.matchAll(
        /(?:CREATE TABLE IF NOT EXISTS |defineTable\(\s*")(\w+)_v(\d+)/g,
      ))
        versions[store] = Math.max(Number(version), versions[store] ?? 0);
    }
  }
  return versions;
}

describe("the versions of the stores", () => {
  it("are those of the tables in the code", () => {
    const inCode = storesInCode();
    expect(Object.keys(inCode).length).toBeGreaterThan(30);
    const later = Object.entries(inCode).filter(([, version]) => version > 1);
    expect(STORE_VERSIONS).toEqual(Object.fromEntries(later));
  });

  it("refuse data of a newer version at every use, and write nothing into it", () => {
    const database = createNodeDatabase();
    database.run("CREATE TABLE inbox_v2 (seq INTEGER PRIMARY KEY)");
    const guarded = guardVersions(database);
    for (const use of [
      () => guarded.run("CREATE TABLE inbox_v1 (seq INTEGER PRIMARY KEY)"),
      () => guarded.all("SELECT 1"),
      () => guarded.transaction(() => 1),
    ])
      expect(use).toThrow(
        "The data was written by a newer version of Switchboard (inbox_v2). Install that version again, or restore a backup from before the upgrade.",
      );
    expect(database.all("SELECT name FROM sqlite_master WHERE type = 'table'")).toEqual([
      { name: "inbox_v2" },
    ]);
  });

  it("accept data of older versions, and stores that only a newer version has", () => {
    const database = createNodeDatabase();
    for (const table of ["usage_v1", "inbox_v1", "later_v1", "cf_agents_v9"])
      database.run(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY)`);
    expect(guardVersions(database).all("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });
});
