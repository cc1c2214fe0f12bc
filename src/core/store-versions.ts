import type { Database } from "./database.ts";
import { SwitchboardError } from "./errors.ts";

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
 * @throws {SwitchboardError} `data-newer`, at every use of the database
 */
export function guardVersions(database: Database, known = STORE_VERSIONS): Database {
  let isChecked = false;
  const checked = (): Database => {
    if (isChecked) return database;
    const table = newerTable(database, known);
    if (table !== undefined) {
      throw new SwitchboardError(
        "data-newer",
        `The data was written by a newer version of Switchboard (${table}). Install that version again, or restore a backup from before the upgrade.`,
      );
    }
    isChecked = true;
    return database;
  };
  return {
    all: (statement, ...bindings) => checked().all(statement, ...bindings),
    run: (statement, ...bindings) => checked().run(statement, ...bindings),
    transaction: (body) => checked().transaction(body),
  };
}

/** Returns a table that is newer than the code, if there is one. */
function newerTable(database: Database, known: Readonly<Record<string, number>>): string | undefined {
  const tables = database.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  return tables
    .map(({ name }) => name)
    .find((name) => {
      const [, store = "", version] = /^(?!cf_)(\w+)_v(\d+)$/.exec(name) ?? [];
      return Number(version) > (known[store] ?? 1);
    });
}
