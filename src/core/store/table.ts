import { addMissingColumns } from "./add-missing-columns.ts";
import type { Database, SqlValue } from "./database.ts";
import { LazyTables } from "./lazy-tables.ts";
import type { StoredTable } from "./lazy-tables.ts";

/** `type` is SQL, with the constraints. */
export interface AnyColumn {
  readonly type: string;
  readonly isAdded?: boolean;
}
/** A column. A row that was read has a `T`, a new row may have a `Given`. */
export interface Column<T, Given = T> extends AnyColumn {
  readonly read: (stored: SqlValue) => T;
  readonly write: (value: Given) => SqlValue;
}
export type Columns = Readonly<Record<string, AnyColumn>>;
type NamedColumn = Column<unknown, never> & { readonly property: string; readonly name: string };

/** Makes columns of one kind, with constraints of SQL. NULL is undefined in a row. */
export interface Kind<Any> {
  <T extends Any = Any>(constraints: "PRIMARY KEY" | "NOT NULL" | "NOT NULL UNIQUE"): Column<T>;
  <T extends Any = Any>(constraints: Supplied): Column<T, T | undefined>;
  <T extends Any = Any>(constraints?: "UNIQUE"): Column<T | undefined>;
}
type Supplied = "PRIMARY KEY AUTOINCREMENT" | `NOT NULL DEFAULT ${string}`;

const same = (value: unknown): unknown => value;
function kind<T>(type: string, read: (stored: never) => unknown = same, write: (value: T) => unknown = same) {
  const codec = {
    read: (stored: SqlValue) => (stored === null ? undefined : read(stored as never)),
    write: (value: T | undefined) => (value === undefined ? null : write(value)),
  };
  return ((...more: string[]): object => ({ ...codec, type: [type, ...more].join(" ") })) as Kind<T>;
}
export const text = kind<string>("TEXT");
export const integer = kind<number>("INTEGER");
export const real = kind<number>("REAL");
export const blob = kind<ArrayBuffer>("BLOB");
export const flag = kind<boolean>("INTEGER", (stored) => stored === 1, Number);
/** Values that are stored as a text of their own form. @param write default JSON */
export function encoded<T>(read: (stored: string) => T, write?: (value: T) => string): Kind<T> {
  return kind("TEXT", read, write ?? JSON.stringify);
}
/** Texts that are checked when they are read. */
export function checked<T extends string>(schema: { parse(value: unknown): T }): Kind<T> {
  return encoded<T>((stored) => schema.parse(stored), String);
}
/** Values that are stored as JSON, and checked when they are read. */
export function json<T>(schema: { parse(value: unknown): T }): Kind<T> {
  return encoded<T>((stored) => schema.parse(JSON.parse(stored)));
}
/** Marks a column that tables of an earlier release lack. They get it when they are opened. */
export const added = <C extends AnyColumn>(column: C): C => ({ ...column, isAdded: true });

type Read<C> = { readonly [K in keyof C]: C[K] extends Column<infer T, never> ? T : never };
type Given<C> = { readonly [K in keyof C]: C[K] extends Column<unknown, infer G> ? G : never };
type Filled<Row> = { [K in keyof Row]: undefined extends Row[K] ? never : K }[keyof Row];
type Loose<Row> = Partial<Row> & Pick<Row, Filled<Row>>;

/** A row as it is read. */
export type RowOf<D> = D extends TableDefinition<infer C> ? Read<C> : never;
/** A row as it is inserted. Columns that may be NULL or have a default may be left out. */
export type NewRowOf<D> = D extends TableDefinition<infer C> ? Loose<Given<C>> : never;

/** A table. All of it follows from its columns. `shape` is for the compiler only. */
export interface TableDefinition<C extends Columns = Columns> extends StoredTable {
  readonly columns: readonly NamedColumn[];
  readonly shape?: C;
}

/** Defines a table. The property `sentAt` is the column `sent_at`. @param indexes such as `{ post_sent: "(sent_at)" }` */
export function defineTable<C extends Columns>(
  table: string,
  shape: C,
  kind: "STRICT, WITHOUT ROWID" | "STRICT" | "WITHOUT ROWID" | "" = "STRICT, WITHOUT ROWID",
  indexes: Readonly<Record<string, string>> = {},
): TableDefinition<C> {
  const columns = Object.entries(shape).map(([property, column]) => {
    const name = property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return { ...(column as Column<unknown, never>), property, name };
  });
  const keys = columns.filter(isKey).map(({ name }) => name);
  const typeOf = ({ type }: AnyColumn) => (keys.length > 1 ? type.replace("PRIMARY KEY", "NOT NULL") : type);
  const lines = columns.map((column) => `${column.name} ${typeOf(column)}`);
  if (keys.length > 1) lines.push(`PRIMARY KEY (${keys.join(", ")})`);
  const make = `CREATE TABLE IF NOT EXISTS ${table} (${lines.join(", ")}) ${kind}`.trimEnd();
  const more = Object.entries(indexes).map(
    ([as, on]) => `CREATE INDEX IF NOT EXISTS ${as} ON ${table} ${on}`,
  );
  const late = columns.filter(({ isAdded }) => isAdded).map(({ name, type }) => [name, type]);
  return { table, columns, schema: [make, ...more], added: Object.fromEntries(late) };
}
const isKey = ({ type }: AnyColumn): boolean => type.includes("PRIMARY KEY");

/** Opens a table that every object has: makes it, and adds the columns that it lacks. */
export function openTable<D extends TableDefinition>(database: Database, definition: D): Table<D> {
  addMissingColumns(database, definition.table, definition.added);
  for (const statement of definition.schema) database.run(statement);
  return new Table(database, definition);
}

/** Opens a table that most objects never need: it is made with its first row. */
export function lazyTable<D extends TableDefinition>(database: Database, definition: D): Table<D> {
  return new Table(new LazyTables(database, definition), definition);
}

/** The rows of a table. Conditions are SQL, with the names of the database. */
export class Table<D extends TableDefinition> {
  readonly #tables: Database | LazyTables;
  readonly #definition: TableDefinition;

  constructor(tables: Database | LazyTables, definition: D) {
    this.#tables = tables;
    this.#definition = definition;
  }

  /** @param rest such as `WHERE id = ? ORDER BY seq` */
  all(rest: string, ...bindings: readonly SqlValue[]): RowOf<D>[] {
    return this.#rows(`SELECT * FROM ${this.#definition.table} ${rest}`, ...bindings);
  }

  first(rest: string, ...bindings: readonly SqlValue[]): RowOf<D> | undefined {
    return this.all(rest, ...bindings)[0];
  }

  insert(row: NewRowOf<D>): void {
    this.#tables.run(...this.#insertion(row, ""));
  }

  /** Returns the new row as it is stored. Undefined if there is one with the same key, which stays as it is. */
  insertNew(row: NewRowOf<D>): RowOf<D> | undefined {
    return this.#rows(...this.#insertion(row, "ON CONFLICT DO NOTHING RETURNING *"))[0];
  }

  /** Inserts a row. If there is one with the same key, changes all of it: columns that are left out get their default. */
  put(row: NewRowOf<D>): void {
    const changed = this.#definition.columns.filter((column) => !isKey(column));
    const set = changed.map(({ name }) => `${name} = excluded.${name}`).join(", ");
    this.#tables.run(...this.#insertion(row, `ON CONFLICT DO UPDATE SET ${set}`));
  }

  /** Changes the given columns of rows. */
  update(changes: Partial<RowOf<D>>, rest: string, ...bindings: readonly SqlValue[]): void {
    const changed = this.#storedIn(changes);
    const set = changed.map(([name]) => `${name} = ?`).join(", ");
    const values = [...changed.map(([, value]) => value), ...bindings];
    this.#tables.run(`UPDATE ${this.#definition.table} SET ${set} ${rest}`, ...values);
  }

  /** Deletes rows. @param rest such as `WHERE id = ?` */
  delete(rest: string, ...bindings: readonly SqlValue[]): void {
    this.#tables.run(`DELETE FROM ${this.#definition.table} ${rest}`, ...bindings);
  }

  /** Returns the rows of another statement, as the database has them. */
  query<Row extends Record<string, SqlValue>>(statement: string, ...bindings: readonly SqlValue[]): Row[] {
    return this.#tables.all<Row>(statement, ...bindings);
  }

  /** Makes a table that is made when it is needed: before a transaction that may fail. */
  make(): void {
    if ("make" in this.#tables) this.#tables.make();
  }

  #insertion(row: NewRowOf<D>, end: string): [statement: string, ...values: SqlValue[]] {
    this.make();
    const given = this.#storedIn(row).filter(([, value]) => value !== null);
    const names = given.map(([name]) => name).join(", ");
    const places = given.map(() => "?").join(", ");
    const statement = `INSERT INTO ${this.#definition.table} (${names}) VALUES (${places}) ${end}`;
    return [statement, ...given.map(([, value]) => value)];
  }

  #storedIn(row: object): [name: string, value: SqlValue][] {
    const given = this.#definition.columns.filter(({ property }) => property in row);
    return given.map(({ name, property, write }) => [name, write(row[property as never])]);
  }

  #rows(statement: string, ...bindings: readonly SqlValue[]): RowOf<D>[] {
    return this.#tables.all(statement, ...bindings).map((stored) => {
      const row: Record<string, unknown> = {};
      for (const { name, property, read } of this.#definition.columns)
        row[property] = read(stored[name] ?? null);
      return row as RowOf<D>;
    });
  }
}
