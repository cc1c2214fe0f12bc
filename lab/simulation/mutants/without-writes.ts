import type { Database, SqlValue } from "../../../src/core/store/database.ts";

/** The database without certain writes. */
export function withoutWrites(
  database: Database,
  isLeftOut: (statement: string, bindings: readonly SqlValue[]) => boolean,
): Database {
  return {
    // An insertion that returns its row.
    all: (statement, ...bindings) =>
      /^\s*INSERT/.test(statement) && isLeftOut(statement, bindings)
        ? []
        : database.all(statement, ...bindings),
    run: (statement, ...bindings) =>
      isLeftOut(statement, bindings) ? 0 : database.run(statement, ...bindings),
    transaction: (body) => database.transaction(body),
  };
}
