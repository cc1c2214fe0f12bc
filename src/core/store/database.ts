/** A value that SQLite stores. */
export type SqlValue = string | number | null | ArrayBuffer;

/**
 * The synchronous SQLite database of one Durable Object, as far as the stores use it. All writes of one synchronous run
 * of code become durable together, before any response or request leaves the object.
 */
export interface Database {
  /** Returns all rows of a statement as plain objects. */
  all<Row extends Record<string, SqlValue>>(statement: string, ...bindings: readonly SqlValue[]): Row[];
  /** Runs a statement that writes. Returns the number of rows it wrote. */
  run(statement: string, ...bindings: readonly SqlValue[]): number;
  /** Runs `body` as one transaction. If it throws, all its writes are undone. */
  transaction<T>(body: () => T): T;
  /**
   * Tells whether a table was there when this process opened the database, or has been made since. Absent if only a
   * query can tell.
   */
  readonly history?: TableHistory;
}

/** Facts about the tables of a database that a process knows without a query. */
export interface TableHistory {
  /** Whether the table did not exist when this process opened the database. Then only this process has made it. */
  isNew(table: string): boolean;
  /** Whether the table does not exist: it is new, and nothing has tried to make it. */
  isMissing(table: string): boolean;
}

/** Returns the database of a Durable Object's storage. */
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
