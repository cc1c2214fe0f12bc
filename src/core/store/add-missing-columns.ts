import type { Database } from "./database.ts";

/**
 * Adds columns that a table of an earlier release lacks, if it exists. The names must be constants. Returns whether any
 * were added.
 */
export function addMissingColumns(
  database: Database,
  table: string,
  columns: Readonly<Record<string, string>> = {},
): boolean {
  if (Object.keys(columns).length === 0) return false;
  // A table that this process has made has all columns.
  if (database.history?.isNew(table) === true) return false;
  const known = new Set(
    database.all<{ name: string }>(`PRAGMA table_info(${table})`).map(({ name }) => name),
  );
  if (known.size === 0) return false;
  const missing = Object.entries(columns).filter(([name]) => !known.has(name));
  for (const [name, type] of missing) database.run(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`);
  return missing.length > 0;
}
