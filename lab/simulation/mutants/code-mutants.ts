import type { ThinkActions } from "../../../src/actions/declare/action.ts";
import type { BotObject } from "../../../src/agent/bot-object.ts";
import type { Database, SqlValue } from "../../../src/core/store/database.ts";
import type { Feature } from "../../../src/feature/feature.ts";
import type { Mutant } from "../machine/mutant.ts";
import { given } from "./bindings.ts";
import { withoutWrites } from "./without-writes.ts";

/** Defects of code that a model writes, and of undo. */
export const codeMutants: readonly Mutant[] = [
  {
    name: "code-asks-nobody",
    what: "a call of code needs no consent",
    needs: "code",
    actions: (actions) =>
      Object.fromEntries(
        Object.entries(actions).map(([name, action]) => [
          name,
          name.startsWith("ask_") ? { ...action, approval: undefined, kind: "server" } : action,
        ]),
      ),
  },
  {
    name: "code-call-not-stored",
    what: "a call of code begins before its run is stored",
    needs: "code",
    threadDatabase: (database) =>
      withoutWrites(
        database,
        (statement, bindings) =>
          statement.includes("INSERT INTO action_v1") && bindings.some((one) => isOfCode(one)),
      ),
  },
  {
    name: "code-goes-on-after-no",
    what: "code goes on with its other calls after somebody has said no",
    needs: "code",
    object: ({ features }) => {
      const { consent } = features;
      if (consent === undefined) return;
      const stateOf = consent.stateOf.bind(consent);
      Object.assign(consent, {
        stateOf: (id: string) => {
          const state = stateOf(id);
          return state?.kind === "ended" ? { ...state, hasRun: true } : state;
        },
      });
    },
  },
  {
    name: "code-lost-by-crash",
    what: "a run of code that people have agreed to does not go on after a restart",
    needs: "code",
    onThreadStart: (database) => {
      const tables = database.all("SELECT 1 FROM sqlite_master WHERE name = 'code_run_v1'");
      if (tables.length > 0) database.run("UPDATE code_run_v1 SET is_resumed = 0 WHERE state = 'running'");
    },
  },
  {
    name: "code-gets-another-result",
    what: "a replay gives each call the result of the first one",
    needs: "code",
    threadDatabase: (database) =>
      changingRows(database, (statement, bindings) =>
        statement.includes("FROM code_call_v1 WHERE run = ? AND position = ?") && bindings[1] !== 0
          ? (rows) => {
              const [first] = database.all(statement, bindings[0] ?? null, 0);
              return rows.map((row) =>
                row["state"] === "applied" ? { ...row, result: first?.["result"] ?? null } : row,
              );
            }
          : undefined,
      ),
  },
  {
    name: "code-ignores-stop",
    what: "code goes on after its turn was stopped",
    needs: "code",
    object: ignoreStop,
  },
  {
    name: "undo-by-anybody",
    what: "Undo counts whoever presses it",
    needs: "code",
    object: ({ database, features }) => {
      const undo = features.imported<Feature>("undo");
      const pressed = undo.pressed?.bind(undo);
      undo.pressed = (press) => {
        const { undo: card = "" } = press.payload as { readonly undo?: string };
        const query = "SELECT requester FROM undo_v1 WHERE card = ? AND requester IS NOT NULL";
        const [row] = card === "" ? [] : database.all<{ requester: string }>(query, card);
        return pressed?.(row === undefined ? press : { ...press, person: { userId: row.requester } });
      };
    },
  },
  {
    name: "undo-by-anybodys-words",
    what: "whoever asks in words to undo something is taken for the person who had asked for it",
    needs: "undo-words",
    object: ({ database, features }) => {
      const undo = features.imported<Feature>("undo");
      const before = undo.actions?.bind(undo);
      const actions = (): ThinkActions => before?.() ?? {};
      undo.actions = () =>
        Object.fromEntries(
          Object.entries(actions()).map(([name, action]) => {
            const execute: typeof action.execute = (input, ctx) =>
              action.execute(input, { ...(ctx as object), people: newestRequesters(database) } as never);
            return [name, { ...action, enabled: () => true, execute }];
          }),
        );
    },
  },
  {
    name: "undo-oldest-first",
    what: "the calls of a card are undone in the order in which they were made",
    needs: "code",
    threadDatabase: (database) =>
      changingRows(database, (statement) =>
        statement.includes("FROM undo_v1 WHERE card = ?") ? (rows) => rows.toReversed() : undefined,
      ),
  },
  {
    name: "undo-not-stored",
    what: "nothing is stored of an undo",
    needs: "code",
    threadDatabase: (database) =>
      withoutWrites(
        database,
        (statement, bindings) =>
          (statement.startsWith("UPDATE undo_v1") && bindings.includes("undone")) ||
          (statement.includes("INSERT INTO action_v1") && isUndo(given(statement, bindings, "action"))),
      ),
  },
  {
    name: "undo-does-nothing",
    what: "people are told that something is undone, and it is not",
    needs: "code",
    actions: (actions) =>
      Object.fromEntries(
        Object.entries(actions).map(([name, action]) => [
          name,
          action.revert === undefined ? action : { ...action, revert: () => "undone" },
        ]),
      ),
  },
];

/** The person who has asked for the newest call that can be undone, if there is one. */
function newestRequesters(database: Database): readonly { readonly userId: string | null }[] {
  if (database.all("SELECT 1 FROM sqlite_master WHERE name = 'undo_v1'").length === 0) return [];
  const query =
    "SELECT requester AS userId FROM undo_v1 WHERE state = 'open' AND requester IS NOT NULL ORDER BY seq DESC LIMIT 1";
  return database.all<{ userId: string | null }>(query);
}

function isOfCode(binding: SqlValue): boolean {
  return typeof binding === "string" && /^(?:do|ask)_m\d+$/.test(binding);
}

function isUndo(binding: SqlValue | undefined): boolean {
  return typeof binding === "string" && binding.startsWith("undo:");
}

/** The tool that runs code hears of no stop. */
function ignoreStop({ actions }: BotObject): void {
  const tools = actions.tools.bind(actions);
  Object.assign(actions, {
    tools: async (...given: Parameters<typeof tools>) => {
      const all = await tools(...given);
      const execute = all["codemode"]?.execute;
      if (execute === undefined) return all;
      const deaf: typeof execute = (input, options) => execute(input, { ...options, abortSignal: undefined });
      return { ...all, codemode: { ...all["codemode"], execute: deaf } };
    },
  });
}

type Row = Record<string, SqlValue>;

/** The database whose answers to some questions are others. */
function changingRows(
  database: Database,
  changeOf: (
    statement: string,
    bindings: readonly SqlValue[],
  ) => ((rows: readonly Row[]) => readonly Row[]) | undefined,
): Database {
  return {
    all: <Found extends Row>(statement: string, ...bindings: readonly SqlValue[]): Found[] => {
      const rows = database.all<Found>(statement, ...bindings);
      const change = changeOf(statement, bindings);
      return change === undefined ? rows : (change(rows) as Found[]);
    },
    run: (statement, ...bindings) => database.run(statement, ...bindings),
    transaction: (body) => database.transaction(body),
  };
}
