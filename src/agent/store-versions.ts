import type { Database, TableHistory } from "../core/store/database.ts";
import { SwitchboardError } from "../core/base/errors.ts";

/**
 * The newest version of each store that this code can read. A store that is not here has version 1. The version is part
 * of the name of the store's table: `inbox_v1`.
 *
 * A change that older code can live with, such as a new column, keeps the version. Any other change gets the next one,
 * with code that takes over the rows of the table before.
 */
export const STORE_VERSIONS: Readonly<Record<string, number>> = { directory: 2, identity: 2, usage: 2 };

/**
 * Guards the database of an object against data of a newer version, which this code would misunderstand. Nothing is
 * read or written there. Data of older versions passes.
 *
 * The check reads the names of all tables, once. So the guarded database also has their `history`, which saves a new
 * object most questions about tables.
 *
 * @throws {SwitchboardError} `data-newer`, at every use of the database
 */
export function guardVersions(database: Database, known = STORE_VERSIONS): Database {
  let found: ReadonlySet<string> | undefined;
  const made = new Set<string>();
  const checked = (): ReadonlySet<string> => {
    if (found !== undefined) return found;
    const names = tableNames(database);
    const table = names.find((name) => isNewer(name, known));
    if (table !== undefined) {
      throw new SwitchboardError(
        "data-newer",
        `The data was written by a newer version of Switchboard (${table}). Install that version again, or restore a backup from before the upgrade.`,
      );
    }
    found = new Set(names);
    return found;
  };
  const history: TableHistory = {
    isNew: (table) => !checked().has(table),
    isMissing: (table) => !checked().has(table) && !made.has(table),
  };
  return {
    history,
    all: (statement, ...bindings) => {
      checked();
      return database.all(statement, ...bindings);
    },
    run: (statement, ...bindings) => {
      checked();
      const [, table] = MAKES_TABLE.exec(statement) ?? [];
      if (table !== undefined) made.add(table);
      return database.run(statement, ...bindings);
    },
    transaction: (body) => {
      checked();
      return database.transaction(body);
    },
  };
}

const MAKES_TABLE = /^\s*CREATE TABLE(?: IF NOT EXISTS)? (\w+)/;

function tableNames(database: Database): readonly string[] {
  return database
    .all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .map(({ name }) => name);
}

/** Whether a table is newer than the code. */
function isNewer(table: string, known: Readonly<Record<string, number>>): boolean {
  const [, store = "", version] = /^(?!cf_)(\w+)_v(\d+)$/.exec(table) ?? [];
  return Number(version) > (known[store] ?? 1);
}
