import type { Database } from "../../../src/core/store/database.ts";
import type { Life } from "../machine/life.ts";

/** Statements that change a question, a call that waits for one, or an answer that its runs get. */
const CHANGES = /^\s*(?:INSERT|UPDATE|DELETE)\b[^(]*\b(?:question|parked_call|run_log)_v1\b/;

/** Makes a boundary before each change of what is stored of questions, and after the write that it belongs to. */
export function watchQuestions(database: Database, life: Life): Database {
  let depth = 0;
  let hasChanged = false;
  const watched = <Value>(statement: string, write: () => Value): Value => {
    const isChange = CHANGES.test(statement);
    if (isChange) life.boundary("before question");
    const value = write();
    hasChanged ||= isChange;
    return committed(value);
  };
  const committed = <Value>(value: Value): Value => {
    if (depth > 0 || !hasChanged) return value;
    hasChanged = false;
    life.boundary("after question");
    return value;
  };
  const nested = <Value>(body: () => Value): Value => {
    depth += 1;
    try {
      return database.transaction(body);
    } finally {
      depth -= 1;
    }
  };
  return {
    all: (statement, ...bindings) => watched(statement, () => database.all(statement, ...bindings)),
    run: (statement, ...bindings) => watched(statement, () => database.run(statement, ...bindings)),
    transaction: (body) => committed(nested(body)),
  };
}
