import { createNodeDatabase } from "../../support/node-database.ts";
import type { NodeDatabase } from "../../support/node-database.ts";

/**
 * Databases of finished runs, by kind of object. Creating tables and preparing statements takes a tenth of a run's
 * time, so the next run reuses them, emptied.
 */
const spare = new Map<string, NodeDatabase[]>();

/** Tables that are made when they are first needed, so that it makes a difference whether they are there. */
const MADE_LATE: ReadonlySet<string> = new Set([
  "prompt_v1",
  "model_wait_v1",
  "scheduled_task_v1",
  "occurrence_v1",
  "scheduled_run_v1",
]);

/** An empty database for one run. `kind` names who makes which tables in it. */
export function takeStorage(kind: string): NodeDatabase {
  return spare.get(kind)?.pop() ?? createNodeDatabase();
}

/** Takes back the database of a finished run and empties it. */
export function returnStorage(kind: string, database: NodeDatabase): void {
  const tables = database.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  for (const { name } of tables) {
    if (MADE_LATE.has(name)) {
      database.run(`DROP TABLE ${name}`);
      continue;
    }
    // The counters of row numbers are a table of SQLite's own.
    if (!name.startsWith("sqlite_") || name === "sqlite_sequence") database.run(`DELETE FROM ${name}`);
  }
  spare.set(kind, [...(spare.get(kind) ?? []), database]);
}
