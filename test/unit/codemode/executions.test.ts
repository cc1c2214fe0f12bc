import { expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { codeObject } from "../../../src/codemode/bot-objects.ts";
import { CodeRuns } from "../../../src/codemode/code-runs.ts";
import { CodeStore } from "../../../src/codemode/code-store.ts";
import type { CodeRun } from "../../../src/codemode/code-store.ts";
import { createCodemodeRuntime } from "../../../src/codemode/index.ts";
import { DAY_MS } from "../../../src/core/time/civil-time.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

/** The runs of an object, as its runtimes list them. */
function createRuns() {
  const database = createNodeDatabase();
  const clock = createVirtualClock();
  const store = new CodeStore(database);
  const consent = { stateOf: () => ({ kind: "waiting" }) };
  const host = { database, deps: { clock }, features: { asking: undefined, consent } };
  const runs = new CodeRuns({
    host: host as never,
    store,
    runtimeOf: () => undefined,
    load: () => Promise.resolve(),
  });
  const ctx = {};
  codeObject(ctx).feature = { store, runs } as never;
  const insert = (id: string, end: Pick<CodeRun, "state" | "endedAt">, runtime = "codemode"): void => {
    const createdAt = clock.now();
    store.insert({
      id,
      runtime,
      requestId: "turn",
      toolCallId: id,
      code: "async () => 1",
      context: {},
      isResumed: false,
      resumedBy: undefined,
      result: 1,
      error: undefined,
      logs: undefined,
      createdAt,
      ...end,
    });
    store.addCall({
      run: id,
      position: 0,
      connector: "mail",
      method: "send",
      args: {},
      hash: "hash",
      state: end.endedAt === undefined ? "pending" : "applied",
      result: 1,
      asked: "approval:a",
      createdAt,
    });
  };
  return { clock, ctx, insert, runs, store };
}

it("lists runs with their logs for a year after their end, and one that waits for longer", async () => {
  const { clock, ctx, insert, runs, store } = createRuns();
  const runtime = createCodemodeRuntime({ ctx, connectors: [] });
  const listed = async (): Promise<readonly string[]> => {
    runs.work();
    const all = await runtime.executions();
    return all.map(({ id, log, status }) => `${id} ${status} ${log.map(({ method }) => method).join()}`);
  };

  insert("old", { state: "completed", endedAt: clock.now() });
  insert("waits", { state: "paused", endedAt: undefined });
  await clock.advance(365 * DAY_MS);
  insert("new", { state: "error", endedAt: clock.now() });
  expect(await listed()).toEqual(["new error send", "waits paused send", "old completed send"]);
  await clock.advance(DAY_MS);
  expect(await listed()).toEqual(["new error send", "waits paused send"]);
  expect(store.calls("old")).toEqual([]);
});

it("lists as many runs of one runtime as it is asked for, whatever others have run since", async () => {
  const { clock, ctx, insert } = createRuns();
  const ended = { state: "completed", endedAt: clock.now() } as const;
  for (const id of ["first", "second"]) insert(id, ended);
  for (const id of ["a", "b", "c"]) insert(id, ended, "other");
  const ids = async (name: string, limit: number): Promise<readonly string[]> => {
    const found = await createCodemodeRuntime({ ctx, connectors: [], name }).executions(limit);
    return found.map(({ id }) => id);
  };
  expect(await ids("codemode", 2)).toEqual(["second", "first"]);
  expect(await ids("other", 2)).toEqual(["c", "b"]);
});
