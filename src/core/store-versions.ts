import type { Database } from "./database.ts";
import { SwitchboardError } from "./errors.ts";

/**
 * The stores of an object and the newest version of each that this code can read. The version is part of the name of
 * the store's table: `inbox_v1`.
 *
 * A change that older code can live with, such as a new column, keeps the version. Any other change gets the next one,
 * with code that takes over the rows of the table before.
 */
export const STORE_VERSIONS: Readonly<Record<string, number>> = {
  action: 1,
  alias: 1,
  approval: 1,
  attachment: 1,
  box: 1,
  broadcast: 1,
  broadcast_target: 1,
  card: 1,
  chat: 1,
  directory: 2,
  file: 1,
  file_piece: 1,
  file_use: 1,
  gate: 1,
  gate_card: 1,
  gone_chat: 1,
  grant: 1,
  identity: 2,
  ignored: 1,
  inbox: 1,
  mark: 1,
  menu: 1,
  model_wait: 1,
  moved_chat: 1,
  note: 1,
  occurrence: 1,
  outbox: 1,
  press: 1,
  probe: 1,
  prompt: 1,
  refusal: 1,
  reply: 1,
  rich_rest: 1,
  scheduled_task: 1,
  sent_file: 1,
  subscriber: 1,
  thread: 1,
  topic: 1,
  transcript: 1,
  turn: 1,
  usage: 2,
};

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

/** Returns a table that is newer than the code, if there is one. Unknown stores do no harm. */
function newerTable(database: Database, known: Readonly<Record<string, number>>): string | undefined {
  const tables = database.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  return tables
    .map(({ name }) => name)
    .find((name) => {
      const [, store = "", version] = /^(\w+)_v(\d+)$/.exec(name) ?? [];
      return Object.hasOwn(known, store) && Number(version) > (known[store] ?? 0);
    });
}
