import { createNodeDatabase } from "../../support/node-database.ts";
import type { NodeDatabase } from "../../support/node-database.ts";

/**
 * Databases of finished runs, by kind of object. Creating tables and preparing statements takes a tenth of a run's
 * time, so the next run reuses them, emptied.
 */
const spare = new Map<string, NodeDatabase[]>();

/**
 * Tables that every process of an object makes at its start. Others are made when they are first needed. To make one is
 * a write, at which a process may die, so a run must not find those of another run.
 */
const MADE_AT_START: ReadonlySet<string> = new Set([
  "alias_v1",
  "box_v1",
  "chat_v1",
  "directory_v2",
  "gate_v1",
  "identity_v2",
  "ignored_v1",
  "inbox_v1",
  "menu_v1",
  "outbox_v1",
  "probe_v1",
  "refusal_v1",
  "reply_v1",
  "thread_v1",
  "topic_v1",
  "turn_v1",
]);

/** An empty database for one run. `kind` names who makes which tables in it. */
export function takeStorage(kind: string): NodeDatabase {
  return spare.get(kind)?.pop() ?? createNodeDatabase();
}

/** Takes back the database of a finished run and empties it. */
export function returnStorage(kind: string, database: NodeDatabase): void {
  const tables = database.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  for (const { name } of tables) {
    // The counters of row numbers are a table of SQLite's own.
    if (name === "sqlite_sequence" || MADE_AT_START.has(name)) database.run(`DELETE FROM ${name}`);
    else if (!name.startsWith("sqlite_")) database.run(`DROP TABLE ${name}`);
  }
  spare.set(kind, [...(spare.get(kind) ?? []), database]);
}
