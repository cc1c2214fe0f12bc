import type { Database } from "../../../src/core/store/database.ts";
import type { Life } from "../machine/life.ts";

/** Statements that change a run of code, a call of it, or what can be undone. */
const CHANGES = /^\s*(?:INSERT|UPDATE|DELETE)\b[^(]*\b(?:code_run|code_call|undo)_v1\b/;

/** Makes a boundary around each change of what is stored of code and of undo. */
export function watchCode(database: Database, life: Life): Database {
  const watched = <Value>(statement: string, write: () => Value): Value =>
    CHANGES.test(statement) ? life.write("code", write) : write();
  return {
    all: (statement, ...bindings) => watched(statement, () => database.all(statement, ...bindings)),
    run: (statement, ...bindings) => watched(statement, () => database.run(statement, ...bindings)),
    transaction: (body) => database.transaction(body),
  };
}
