import { createExecutionContext } from "cloudflare:test";
import { dynamicTool, tool } from "ai";
import type { ToolSet } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { action, createWorker, getTurn } from "../../../src/index.ts";
import { testEnv } from "../test-env.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { ScriptedBot } from "../worker.ts";

const SORRY = "Sorry, something went wrong and I couldn't answer. Please try again in a moment.";
const inputSchema = z.object({});
const execute = (): string => "done";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

/** Without the type of `needsApproval`, which the AI SDK wants elsewhere by now. */
const approval: object = { needsApproval: true };

/** Each with the code of its problem. */
const UNUSABLE: readonly (readonly [string, string, ToolSet[string]])[] = [
  [
    "needs an approval, and the provider runs it",
    "tool-needs-approval",
    {
      type: "provider",
      id: "acme.pay",
      args: {},
      inputSchema,
      isProviderExecuted: true,
      ...approval,
    },
  ],
  ["has no execute function", "tool-without-execute", tool({ inputSchema })],
  [
    "has fields instead of a schema",
    "tool-input-schema",
    { ...tool({ inputSchema, execute }), inputSchema: { day: z.string() } } as unknown as ToolSet[string],
  ],
  [
    "is defined by the provider and left to the bot",
    "tool-without-execute",
    { type: "provider", id: "acme.shell", args: {}, inputSchema, isProviderExecuted: false },
  ],
];

/** Each can be called without anything more. */
const USABLE: readonly (readonly [string, ToolSet[string]])[] = [
  ["of the bot", tool({ inputSchema, execute })],
  ["that needs an approval", { ...tool({ inputSchema, execute }), ...approval }],
  ["of an MCP server", dynamicTool({ inputSchema, execute })],
  [
    "that the provider runs",
    { type: "provider", id: "acme.search", args: {}, inputSchema, isProviderExecuted: true },
  ],
];

async function health(world: World): Promise<unknown> {
  const worker = createWorker(ScriptedBot, { root: world.root });
  if (worker.fetch === undefined) throw new Error("createWorker() made no fetch handler");
  const request = new Request("https://bot.example/health") as Parameters<typeof worker.fetch>[0];
  return (await worker.fetch(request, testEnv, createExecutionContext())).json();
}

describe("a tool that nobody could run", () => {
  it.each(UNUSABLE)("is named by /health, once in the log: it %s", async (_what, code, pay) => {
    const world = createWorld({ getTools: () => ({ pay }) });
    const expected = { status: "misconfigured", problem: { code } };
    expect(await health(world)).toMatchObject(expected);
    expect(await health(world)).toMatchObject({
      problem: { message: expect.stringContaining('"pay"') as unknown },
    });
    const lines = log.filter(({ event }) => event === "bot.failed");
    expect(lines).toEqual([expect.objectContaining({ method: "getTools", code })]);
  });

  it.each(UNUSABLE)("ends the turn before the model is asked: it %s", async (_what, code, pay) => {
    // Tools that take a moment to list are known only when a turn begins.
    const world = createWorld({
      getTools: () => Promise.resolve({ pay }),
      script: () => [callTool("pay")],
    });
    expect(await health(world)).toMatchObject({ status: "ok" });
    await world.write("c1", "Pay");
    await world.shows("c1", SORRY);
    expect(world.requests).toEqual([]);
    expect(log).toContainEqual(
      expect.objectContaining({
        event: "bot.failed",
        method: "getTools",
        code,
        message: expect.stringContaining('"pay"') as unknown,
      }),
    );
  });
});

describe("a call that does not reach its tool", () => {
  const look = tool({ inputSchema: z.object({ day: z.string() }), execute });
  const refund = action({ description: "Pays back.", inputSchema: z.object({ order: z.string() }), execute });

  it.each([
    ["a tool that the bot does not have", "book_table", "book_table", "tool-unknown"],
    ["words in place of a name", "my secret 4711081547 is no name", "(not a name)", "tool-unknown"],
    ["an input that zod refuses", "look", "look", "input-invalid"],
    ["an input of an action that zod refuses", "refund", "refund", "input-invalid"],
  ])("leaves a line with the tool's name: %s", async (_what, called, named, code) => {
    const world = createWorld({
      getTools: () => ({ look }),
      getActions: () => ({ refund }),
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool" ? [say("Done.")] : [callTool(called, { day: 4711081547 })],
    });
    await world.write("c1", "Look");
    await world.shows("c1", "Done.");
    const lines = log.filter(({ event }) => event === "tool.call-refused");
    expect(lines).toMatchObject([{ level: "warn", tool: named, code }]);
    expect(JSON.stringify(log)).not.toContain("4711081547");
  });
});

describe("tools while the person may still be writing", () => {
  it("run at once when they change nothing, and wait otherwise, also when they may run twice", async () => {
    const runs: string[] = [];
    const named = (name: string) => tool({ inputSchema, execute: () => runs.push(name) });
    const world = createWorld({
      messenger: { burstMs: 60_000, delivery: { stoppedResponseText: "Stopped.", editEveryMs: 0 } },
      getTools: () => ({
        order: named("order"),
        remind: { ...named("remind"), recovery: "rerun" },
        look: { ...named("look"), annotations: { readOnly: true } },
      }),
      // The tools of one step begin together, in this order.
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool"
          ? [say("Done.")]
          : [callTool("order"), callTool("remind"), callTool("look")],
    });
    await world.write("c1", "Look", { sentAt: Date.now() });
    await vi.waitFor(() => expect(runs).toContain("look"), 8000);
    await world.write("c1", "/stop");
    await world.shows("c1", "Stopped.");
    expect(runs).toEqual(["look"]);
  });
});

describe("a tool that can be run", () => {
  it.each(USABLE)("is offered to the model: one %s", async (_what, search) => {
    const world = createWorld({ getTools: () => ({ search }), script: () => [say("Hello.")] });
    expect(await health(world)).toMatchObject({ status: "ok" });
    await world.write("c1", "Hi");
    await world.shows("c1", "Hello.");
    expect(world.requests.map(({ tools }) => tools)).toEqual([["search"]]);
  });

  it("sees a turn that no other code of the bot has changed", async () => {
    const seen: unknown[] = [];
    const look = (): string => {
      const turn = getTurn();
      seen.push([turn?.authors.length, turn?.answerTo.length, turn?.event?.author?.userId]);
      Object.assign(turn?.authors ?? [], { length: 0 });
      Object.assign(turn?.answerTo ?? [], { length: 0 });
      Object.assign(turn?.event?.author ?? {}, { userId: "eve" });
      return "seen";
    };
    const world = createWorld({
      getTools: () => ({ look: tool({ inputSchema, execute: look }) }),
      script: ({ prompt }) => {
        const calls = prompt.filter(({ role }) => role === "tool").length;
        return calls < 2 ? [callTool("look")] : [say("Hello.")];
      },
    });
    await world.write("c1", "Hi");
    await world.shows("c1", "Hello.");
    expect(seen).toEqual([
      [1, 1, "ada"],
      [1, 1, "ada"],
    ]);
  });

  it("is no matter of /health when it cannot be listed outside of a turn", async () => {
    const world = createWorld({
      getTools: (agent) => {
        const context = agent.getMessengerContext();
        if (context === undefined) throw new TypeError("There is no turn.");
        return { of: tool({ inputSchema, execute }) };
      },
      script: () => [say("Hello.")],
    });
    expect(await health(world)).toMatchObject({ status: "ok" });
    await world.write("c1", "Hi");
    await world.shows("c1", "Hello.");
    expect(log.filter(({ event }) => event === "bot.failed")).toEqual([]);
  });

  it("is not listed again by every /health", async () => {
    let listed = 0;
    const world = createWorld({
      getTools: () => {
        listed += 1;
        return Promise.reject(new Error("no server"));
      },
    });
    for (let count = 0; count < 3; count += 1) expect(await health(world)).toMatchObject({ status: "ok" });
    expect(listed).toBe(1);
  });
});
