import type { SqlValue } from "../../../src/core/database.ts";

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

function placeOf(statement: string, column: string): number {
  const [, names = ""] = /^\s*INSERT[^(]*\(([^)]*)\)/.exec(statement) ?? [];
  return names.split(", ").indexOf(column);
}
