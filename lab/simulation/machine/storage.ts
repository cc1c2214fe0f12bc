import { createNodeDatabase } from "../../support/node-database.ts";
import type { NodeDatabase } from "../../support/node-database.ts";

/**
 * Databases that a run has done with, by the kind of object that had them. Making tables and preparing statements is a
 * tenth of a run's time, so the next run gets them empty.
 */
const spare = new Map<string, NodeDatabase[]>();

/** An empty database for one run. `kind` names who makes which tables in it. */
export function takeStorage(kind: string): NodeDatabase {
  return spare.get(kind)?.pop() ?? createNodeDatabase();
}

/** The run is over: what is in the database is gone. */
export function returnStorage(kind: string, database: NodeDatabase): void {
  for (const { name } of database.all<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table'",
  )) {
    // The counters of row numbers are a table of SQLite's own.
    if (!name.startsWith("sqlite_") || name === "sqlite_sequence") database.run(`DELETE FROM ${name}`);
  }
  spare.set(kind, [...(spare.get(kind) ?? []), database]);
}
