import type { Database } from "./database.ts";

/**
 * Adds columns that a table of an earlier release lacks. Call it after the statement that makes the table. The names
 * must be constants.
 */
export function addMissingColumns(
  database: Database,
  table: string,
  columns: Readonly<Record<string, string>>,
): void {
  // A table that this process has made has all columns.
  if (database.history?.isNew(table) === true) return;
  const known = new Set(
    database.all<{ name: string }>(`PRAGMA table_info(${table})`).map(({ name }) => name),
  );
  for (const [name, type] of Object.entries(columns)) {
    if (!known.has(name)) database.run(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`);
  }
}
