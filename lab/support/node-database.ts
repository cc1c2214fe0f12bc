import { DatabaseSync } from "node:sqlite";
import type { Database, SqlValue } from "../../src/core/store/database.ts";

export interface NodeDatabaseHooks {
  /** Before and after each durable write: a statement outside of a transaction, or a commit. May throw: a crash. */
  readonly beforeWrite?: () => void;
  readonly afterWrite?: () => void;
}

export interface NodeDatabase extends Database {
  /** Returns a database with the same rows and other hooks, for another process. */
  withHooks(hooks: NodeDatabaseHooks): NodeDatabase;
  /** Counts the rows that were added, changed or deleted so far. */
  changes(): number;
  close(): void;
}

/** A `Database` over SQLite in memory, with the behaviour of a Durable Object's: synchronous, one connection. */
export function createNodeDatabase(path = ":memory:"): NodeDatabase {
  const connection = new DatabaseSync(path);
  return new Sqlite(
    { connection, statements: new Map(), facts: new Map(), isShared: path !== ":memory:" },
    {},
  );
}

/** A statement of a Durable Object takes no more. */
const MOST_BINDINGS = 100;

type Prepared = ReturnType<DatabaseSync["prepare"]>;

interface Statement {
  readonly prepared: Prepared;
  /** Names of the columns of its last rows. Many statements never have any. */
  names: readonly string[];
  readonly isSchemaChange: boolean;
  /** True if its rows are the same until the schema changes. Stores ask often, and SQLite takes its time for them. */
  readonly isFact: boolean;
}

/** Everything that the databases over one connection share. */
interface Opened {
  readonly connection: DatabaseSync;
  readonly statements: Map<string, Statement>;
  /** Rows of statements that ask for facts, by statement and bindings. */
  readonly facts: Map<string, readonly Record<string, SqlValue>[]>;
  /** True if others may change the schema. */
  readonly isShared: boolean;
}

const SCHEMA_CHANGE = /^\s*(?:CREATE|ALTER|DROP)\b/i;
const FACT = /^PRAGMA table_info\(|\bFROM sqlite_master\b/;

class Sqlite implements NodeDatabase {
  readonly #opened: Opened;
  readonly #hooks: NodeDatabaseHooks;
  #depth = 0;

  constructor(opened: Opened, hooks: NodeDatabaseHooks) {
    this.#opened = opened;
    this.#hooks = hooks;
  }

  withHooks(hooks: NodeDatabaseHooks): NodeDatabase {
    return new Sqlite(this.#opened, hooks);
  }

  all<Row extends Record<string, SqlValue>>(statement: string, ...bindings: readonly SqlValue[]): Row[] {
    checkBindings(bindings);
    const known = this.#prepare(statement);
    if (!known.isFact) return this.#read<Row>(known, bindings);
    const { facts } = this.#opened;
    const question = JSON.stringify([statement, bindings]);
    const rows = facts.get(question) ?? this.#read<Row>(known, bindings);
    facts.set(question, rows);
    return rows.map((row) => ({ ...row }) as Row);
  }

  #read<Row extends Record<string, SqlValue>>(known: Statement, bindings: readonly SqlValue[]): Row[] {
    // The rows of node:sqlite as objects have no prototype; those of a Durable Object are plain objects.
    const rows = known.prepared.all(...bindings.map(bindable)) as unknown as readonly (readonly SqlValue[])[];
    if (rows[0] === undefined) return [];
    // A column may have been added since.
    if (rows[0].length !== known.names.length) known.names = namesOf(known.prepared);
    return rows.map((cells) => plainRow(known.names, cells) as Row);
  }

  run(statement: string, ...bindings: readonly SqlValue[]): number {
    checkBindings(bindings);
    const write = (): number => {
      const { isSchemaChange, prepared } = this.#prepare(statement);
      if (isSchemaChange) this.#opened.facts.clear();
      return Number(prepared.run(...bindings.map(bindable)).changes);
    };
    return this.#depth > 0 ? write() : this.#durably(write);
  }

  transaction<T>(body: () => T): T {
    const isOuter = this.#depth === 0;
    const { connection, facts } = this.#opened;
    const savepoint = `level_${this.#depth}`;
    const commit = (): T => {
      connection.exec(`SAVEPOINT ${savepoint}`);
      this.#depth += 1;
      try {
        const result = body();
        connection.exec(`RELEASE ${savepoint}`);
        return result;
      } catch (error) {
        connection.exec(`ROLLBACK TO ${savepoint}; RELEASE ${savepoint}`);
        facts.clear();
        throw error;
      } finally {
        this.#depth -= 1;
      }
    };
    return isOuter ? this.#durably(commit) : commit();
  }

  changes(): number {
    return Number(this.all("SELECT total_changes() AS changes")[0]?.["changes"]);
  }

  close(): void {
    this.#opened.connection.close();
  }

  #durably<T>(write: () => T): T {
    this.#hooks.beforeWrite?.();
    const result = write();
    this.#hooks.afterWrite?.();
    return result;
  }

  #prepare(statement: string): Statement {
    const { connection, isShared, statements } = this.#opened;
    const known = statements.get(statement);
    if (known !== undefined) return known;
    const prepared = connection.prepare(statement);
    // Rows as arrays are several times as fast to read.
    prepared.setReturnArrays(true);
    const isSchemaChange = SCHEMA_CHANGE.test(statement);
    const entry: Statement = {
      prepared,
      names: [],
      isSchemaChange,
      isFact: !isShared && FACT.test(statement),
    };
    statements.set(statement, entry);
    return entry;
  }
}

function namesOf(prepared: Prepared): readonly string[] {
  return prepared.columns().map(({ name }) => name);
}

function plainRow(names: readonly string[], cells: readonly SqlValue[]): Record<string, SqlValue> {
  const row: Record<string, SqlValue> = {};
  for (const [at, name] of names.entries()) row[name] = cells[at] ?? null;
  return row;
}

function bindable(value: SqlValue): string | number | null | Uint8Array {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : value;
}

function checkBindings({ length }: readonly SqlValue[]): void {
  if (length > MOST_BINDINGS) throw new Error(`too many SQL variables: ${length}`);
}
