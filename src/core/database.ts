/** A value that SQLite stores. */
export type SqlValue = string | number | null | ArrayBuffer;

/**
 * The synchronous SQLite database of one Durable Object, as far as the stores use it. Writes of one synchronous run of
 * code become durable together, before any message (a response, a request to a platform) leaves the object.
 */
export interface Database {
  /** All rows of a statement, as plain objects. */
  all<Row extends Record<string, SqlValue>>(statement: string, ...bindings: readonly SqlValue[]): Row[];
  /** Runs a statement for its effect; returns how many rows it wrote. */
  run(statement: string, ...bindings: readonly SqlValue[]): number;
  /** All or nothing: a throw inside undoes every write inside. */
  transaction<T>(body: () => T): T;
}

/** The database of a Durable Object's storage. */
export function durableDatabase(storage: DurableObjectStorage): Database {
  return {
    all<Row extends Record<string, SqlValue>>(statement: string, ...bindings: readonly SqlValue[]): Row[] {
      return storage.sql.exec<Row>(statement, ...bindings).toArray();
    },
    run: (statement, ...bindings) => {
      const cursor = storage.sql.exec(statement, ...bindings);
      cursor.toArray();
      return cursor.rowsWritten;
    },
    transaction: (body) => storage.transactionSync(body),
  };
}

/** The first row, if there is one. */
export function firstRow<Row>(rows: readonly Row[]): Row | undefined {
  return rows[0];
}
