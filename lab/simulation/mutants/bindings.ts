import type { Database, SqlValue } from "../../../src/core/store/database.ts";

/** Returns the value that an `INSERT` gives a column. Undefined if it leaves the column out. */
export function given(
  statement: string,
  bindings: readonly SqlValue[],
  column: string,
): SqlValue | undefined {
  return bindings[placeOf(statement, column)];
}

/** Returns the bindings of an `INSERT` with another value for a column that it names. */
export function giving(
  statement: string,
  bindings: readonly SqlValue[],
  column: string,
  value: SqlValue,
): readonly SqlValue[] {
  const place = placeOf(statement, column);
  return place === -1 ? bindings : bindings.with(place, value);
}

/** The database in which a text of new rows of a table is another one. */
export function changingInserts(
  database: Database,
  table: string,
  column: string,
  change: (before: string) => string,
): Database {
  return {
    all: (statement, ...bindings) => database.all(statement, ...bindings),
    transaction: (body) => database.transaction(body),
    run: (statement, ...bindings) => {
      const isRow = statement.includes(`INSERT INTO ${table}`);
      const before = isRow ? given(statement, bindings, column) : undefined;
      if (typeof before !== "string") return database.run(statement, ...bindings);
      return database.run(statement, ...giving(statement, bindings, column, change(before)));
    },
  };
}

function placeOf(statement: string, column: string): number {
  const [, names = ""] = /^\s*INSERT[^(]*\(([^)]*)\)/.exec(statement) ?? [];
  return names.split(", ").indexOf(column);
}
