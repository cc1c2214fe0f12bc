import type { Database, SqlValue } from "../../../src/core/store/database.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import type { Leg } from "../../../src/schedules/rules/occurrence.ts";
import { given, giving } from "./bindings.ts";
import type { Mutant } from "../machine/mutant.ts";

/** Defects of scheduled tasks. A digest that cuts into a running turn is a defect of the queue: see `promptMutants`. */
export const scheduleMutants: readonly Mutant[] = [
  {
    name: "occurrence-again",
    what: "an occurrence begins again after a crash",
    onScheduleStart: (database) => {
      if (!hasTables(database)) return;
      database.run(
        "UPDATE occurrence_v1 SET state = 'due', legs = '[]', targets = '[]' WHERE state = 'running' AND legs <> '[]'",
      );
    },
  },
  {
    name: "target-left-out",
    what: "all chats of a digest but the first are left out",
    scheduleDatabase: withFirstTarget,
  },
  {
    name: "target-told-twice",
    what: "the chats of a digest are asked under two ids",
    scheduleDatabase: (database) =>
      withValue(database, "occurrence_v1", "legs", (stored) => {
        const legs = JSON.parse(textOf(stored)) as readonly Leg[];
        const first = legs.find(({ isBroadcast }) => isBroadcast === true);
        const isMade = legs.some(({ submissionId }) => submissionId.endsWith("+"));
        if (first === undefined || isMade || first.state !== "new") return stored;
        const again: Leg = { ...first, submissionId: `${first.submissionId}+` };
        return JSON.stringify([...legs, again]);
      }),
  },
  {
    name: "late-alarm-catches-up",
    what: "a late wake-up runs every occurrence that was missed",
    scheduleDatabase: catchingUp,
  },
  {
    name: "failure-forgotten",
    what: "each failure counts as the first one, and is told again",
    scheduleDatabase: (database) => withValue(database, "scheduled_task_v1", "failures", () => 0),
  },
  {
    name: "digest-forgotten",
    what: "a digest is not part of the memory of its chat's conversation",
    threadDatabase: (database) =>
      withValue(database, "turn_v1", "session", (session, kind) =>
        kind === "prompt" ? `${textOf(session)} of a digest` : session,
      ),
  },
  {
    name: "quote-dropped",
    what: "the model does not read the message that a person replies to",
    event: withoutQuote,
  },
];

/** Stores only the first target of each delivery. */
function withFirstTarget(database: Database): Database {
  const known = new Set<SqlValue | undefined>();
  return {
    all: <Row extends Record<string, SqlValue>>(
      statement: string,
      ...bindings: readonly SqlValue[]
    ): Row[] => {
      if (!statement.includes("INTO broadcast_target_v1") || !known.has(bindings[0])) {
        if (statement.includes("INTO broadcast_target_v1")) known.add(bindings[0]);
        return database.all<Row>(statement, ...bindings);
      }
      return [];
    },
    run: (statement, ...bindings) => database.run(statement, ...bindings),
    transaction: (body) => database.transaction(body),
  };
}

function withoutQuote({ message, ...event }: MessengerEvent): MessengerEvent {
  if (message === undefined) return { ...event, message };
  const { quoted: _quoted, ...rest } = message;
  return { ...event, message: rest };
}

function hasTables(database: Database): boolean {
  return database.all("SELECT 1 AS found FROM sqlite_master WHERE name = 'occurrence_v1'").length > 0;
}

/** Changes what new rows of a table have in a column. `change` also gets the `kind` of the row. */
function withValue(
  database: Database,
  table: string,
  column: string,
  change: (value: SqlValue, kind: SqlValue | undefined) => SqlValue,
): Database {
  return {
    all: (asked, ...bindings) => database.all(asked, ...bindings),
    run: (asked, ...bindings) => {
      const value = asked.includes(`INTO ${table} `) ? given(asked, bindings, column) : undefined;
      if (value === undefined) return database.run(asked, ...bindings);
      const changed = change(value, given(asked, bindings, "kind"));
      return database.run(asked, ...giving(asked, bindings, column, changed));
    },
    transaction: (body) => database.transaction(body),
  };
}

/** The next occurrence follows from the one before, not from the time. */
function catchingUp(database: Database): Database {
  const due = new Map<string, { readonly at: number; readonly everyMs: number }>();
  return {
    all: <Row extends Record<string, SqlValue>>(
      statement: string,
      ...bindings: readonly SqlValue[]
    ): Row[] => {
      const rows = database.all<Row>(statement, ...bindings);
      if (!statement.includes("FROM scheduled_task_v1 WHERE run_at <=")) return rows;
      return rows.map((row) => {
        const { everyMs } = JSON.parse(textOf(row["rule"])) as { readonly everyMs: number };
        const at = Number(row["scheduled_for"]);
        due.set(textOf(row["id"]), { at, everyMs });
        // A rule without a later occurrence: none counts as missed.
        return { ...row, rule: JSON.stringify({ kind: "once", at }) };
      });
    },
    run: (statement, ...bindings) => {
      const isTask = statement.includes("INTO scheduled_task_v1");
      const id = isTask ? textOf(given(statement, bindings, "id")) : "";
      const known = due.get(id);
      const isNext = isTask && given(statement, bindings, "scheduled_for") !== undefined;
      if (!isNext || known === undefined) return database.run(statement, ...bindings);
      due.delete(id);
      const next = known.at + known.everyMs;
      const rule = JSON.stringify({ kind: "interval", everyMs: known.everyMs });
      const changed = { rule, scheduled_for: next, run_at: next };
      const all = Object.entries(changed).reduce((so, change) => giving(statement, so, ...change), bindings);
      return database.run(statement, ...all);
    },
    transaction: (body) => database.transaction(body),
  };
}

function textOf(value: SqlValue | undefined): string {
  return typeof value === "string" ? value : "";
}
