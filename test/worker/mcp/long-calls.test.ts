import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import { conversationOfToken } from "../../../src/mcp/mcp-calls.ts";
import { fakeTime } from "../support/fake-time.ts";
import { captureLog } from "../support/log-lines.ts";
import { createMcpWorld, dropMcpServer } from "../support/mcp-world.ts";
import type { MadeToken, McpWorld } from "../support/mcp-world.ts";

beforeEach(() => void captureLog());
afterEach(dropMcpServer);

const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

interface Export {
  readonly mcp: McpWorld;
  readonly made: MadeToken;
  readonly work: { runs: number; isDone: boolean; isStopped: boolean };
  readonly call: (id?: string) => Promise<Record<string, unknown>>;
  readonly look: (taskId: unknown) => Promise<Record<string, unknown>>;
}

/** An action that runs until the test says so, or its caller stops it. */
async function createExport(atOnce = 4): Promise<Export> {
  const work = { runs: 0, isDone: false, isStopped: false };
  const mcp = createMcpWorld({
    getActions: () => ({
      export_orders: action({
        description: "Exports all orders.",
        inputSchema: z.object({}),
        timeoutMs: 600_000,
        execute: async (_input, { progress, signal }) => {
          work.runs += 1;
          progress({ message: "Reading page 1" });
          while (!work.isDone && !signal.aborted) await scheduler.wait(1);
          work.isStopped = signal.aborted;
          return { orders: 7 };
        },
      }),
    }),
  });
  const made = await mcp.token({ atOnce });
  return {
    mcp,
    made,
    work,
    call: (id = "an-id-that-is-long-enough") =>
      mcp.call(made.token, "shop__export_orders", {}, { id, capabilities: TASKS }),
    look: (taskId) => mcp.ask(made.token, "tasks/get", { taskId }, { id: "look", capabilities: TASKS }),
  };
}

/** Calls it, and waits until the call has become a task. */
async function callLong({ call, work }: Export, time = fakeTime()): Promise<Record<string, unknown>> {
  const called = call();
  await expect.poll(() => work.runs).toBe(1);
  await time.pass(46_000);
  return called;
}

it("becomes a task before its client gives up, and runs once", async () => {
  const exported = await createExport();
  const { call, look, work } = exported;
  const time = fakeTime();
  const task = await callLong(exported, time);
  expect(task).toMatchObject({ resultType: "task", status: "working" });
  expect(await look(task["taskId"])).toMatchObject({
    statusMessage: expect.stringContaining("⏳ Reading page 1"),
  });
  const again = call();
  await time.pass(46_000);
  expect(await again).toMatchObject({ taskId: task["taskId"], status: "working" });
  work.isDone = true;
  await expect
    .poll(async () => look(task["taskId"]))
    .toMatchObject({
      status: "completed",
      result: { structuredContent: { orders: 7 } },
    });
  expect(await call()).toMatchObject({ structuredContent: { orders: 7 } });
  expect(work.runs).toBe(1);
});

it("counts as one of the token's calls while it runs", async () => {
  const exported = await createExport(1);
  await callLong(exported);
  expect(await exported.call("another-id-that-is-long")).toMatchObject({
    isError: true,
    structuredContent: { name: "TooManyCalls" },
  });
  exported.work.isDone = true;
});

it("is stopped by tasks/cancel", async () => {
  const exported = await createExport();
  const { look, made, mcp, work } = exported;
  const { taskId } = await callLong(exported);
  await mcp.ask(made.token, "tasks/cancel", { taskId }, { id: "cancel", capabilities: TASKS });
  await expect.poll(() => work.isStopped).toBe(true);
  await expect.poll(async () => look(taskId)).toMatchObject({ result: { isError: true } });
});

it("has an unknown outcome if its process dies, and never runs again", async () => {
  const exported = await createExport();
  const { call, look, made, mcp, work } = exported;
  const { taskId } = await callLong(exported);
  const conversation = mcp.world.child(conversationOfToken(made.record.id));
  await runInDurableObject(conversation, (_bot, state) => state.abort("killed by a test")).catch(
    () => undefined,
  );
  work.isDone = true;
  const unknown = { isError: true, structuredContent: { name: "ActionUnknownError" } };
  expect(await look(taskId)).toMatchObject({ status: "completed", result: unknown });
  expect(await call()).toMatchObject({
    isError: true,
    structuredContent: { name: "ActionPendingError" },
  });
  expect(work.runs).toBe(1);
});
