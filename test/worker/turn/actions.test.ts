import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { tool } from "ai";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { action, ActionError, roles } from "../../../src/index.ts";
import type { Action, ActionTurnContext, ThinkActions } from "../../../src/index.ts";
import { BOT } from "../../../src/agent/bot-root.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { callsOver } from "../../../src/core/chat/inner-calls.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelRequest, ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import type { ScriptedBot } from "../worker.ts";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

const inputSchema = z.object({ orderId: z.string() });
const paid = { id: "paid" };

/** The results of tools at the end of a prompt, as JSON. */
function resultOf({ prompt }: ModelRequest): string | undefined {
  const last = prompt.at(-1);
  return last?.role === "tool" ? JSON.stringify(last.content) : undefined;
}

/** Calls `refund` for the order that the person names, then says what the result was. */
const refunds: ModelScript = (request) => {
  const result = resultOf(request);
  if (result === undefined) return [callTool("refund", { orderId: /\d+/.exec(request.said)?.[0] ?? "none" })];
  const { output } = JSON.parse(result)[0] as {
    output: { value: { id?: string; error?: { message: string } } };
  };
  return [say(output.value.error?.message ?? output.value.id ?? result)];
};

function refundWorld(refund: Action, options: Parameters<typeof createWorld>[0] = {}): World {
  return createWorld({ script: refunds, getActions: () => ({ refund }), ...options });
}

/** The object dies at once, with everything that it was doing. */
async function die(agent: unknown): Promise<never> {
  const { ctx } = agent as { readonly ctx: DurableObjectState };
  await ctx.storage.sync();
  ctx.abort("killed by a test");
  return new Promise(() => {});
}

async function wake(stub: DurableObjectStub<ScriptedBot>): Promise<void> {
  await runDurableObjectAlarm(stub).catch(() => undefined);
}

describe("an action", () => {
  it("is offered beside the tools, and gets its input and its surroundings", async () => {
    const seen: unknown[] = [];
    const world = refundWorld(
      action({
        description: "Refund an order.",
        inputSchema,
        execute: ({ orderId }, ctx) => {
          const { agent, attempt, chat, messages, person, requestId, signal, toolCallId } = ctx;
          seen.push(orderId, person?.userId, chat?.chatId, attempt, messages.length > 0, signal.aborted);
          seen.push(typeof requestId, toolCallId.startsWith("call-"), typeof agent.say);
          return paid;
        },
      }),
      { getTools: () => ({ look: tool({ inputSchema: z.object({}), execute: () => "seen" }) }) },
    );
    await world.write("c1", "Refund 7");
    await world.shows("c1", "paid");
    expect(world.requests[0]?.tools).toEqual(["look", "refund"]);
    expect(seen).toEqual(["7", "ada", "c1", 1, true, false, "string", true, "function"]);
  });

  it("tells the model of a wrong input and of an ActionError, and of nothing else that it throws", async () => {
    const world = refundWorld(
      action({
        description: "Refund an order.",
        inputSchema: z.object({ orderId: z.enum(["1", "2"]) }),
        execute: ({ orderId }) => {
          if (orderId === "1") throw new ActionError("It is paid back already.");
          throw new Error("secret of the shop");
        },
      }),
    );
    await world.write("c1", "Refund 1");
    await world.shows("c1", "It is paid back already.");
    expect(log.filter(({ event }) => event === "bot.failed")).toEqual([]);
    const refused = log.find(({ event }) => event === "action.refused");
    expect(refused).toMatchObject({ level: "info", action: "refund" });
    expect(refused).not.toHaveProperty("message");
    expect(refused).not.toHaveProperty("at");
    await world.write("c1", "Refund 2");
    await world.shows("c1", "It is paid back already.", "The action failed. Its log says why.");
    expect(log).toContainEqual(expect.objectContaining({ event: "bot.failed", method: "action refund" }));
  });

  it.each<[string, Parameters<typeof createWorld>[0], string]>([
    [
      "a tool's name",
      { getTools: () => ({ refund: tool({ inputSchema, execute: () => "" }) }) },
      "tool-name-twice",
    ],
    [
      "another action's name",
      {
        getActions: () => ({
          refund: action({ description: "", inputSchema, execute: () => "" }),
          other: action({ name: "refund", description: "", inputSchema, execute: () => "" }),
        }),
      },
      "action-name-twice",
    ],
    [
      "no action() around it, so that nobody has checked its options",
      {
        getActions: () =>
          ({
            refund: { description: "", inputSchema, approval: true, execute: () => "" },
          }) as unknown as ThinkActions,
      },
      "action-not-made",
    ],
  ])("is named by /health when it has %s, and ends the turn", async (_what, options, code) => {
    const world = refundWorld(action({ description: "", inputSchema, execute: () => "" }), options);
    expect(await callsOver(BOT, () => world.stub, systemDeps.clock).healthProblem()).toMatchObject({ code });
    await world.write("c1", "Refund 7");
    await expect.poll(() => world.chats.visible("c1").at(-1)).toMatch(/^Sorry/);
    expect(world.requests).toEqual([]);
  });

  it("waits for the end of what the person writes, as every tool with an effect", async () => {
    const runs: string[] = [];
    const world = refundWorld(
      action({ description: "", inputSchema, execute: ({ orderId }) => void runs.push(orderId) }),
      { messenger: { burstMs: 60_000, delivery: { stoppedResponseText: "Stopped.", editEveryMs: 0 } } },
    );
    await world.write("c1", "Refund 7", { sentAt: Date.now() });
    await vi.waitFor(() => expect(world.requests).toHaveLength(1), 8000);
    await world.write("c1", "/stop");
    await world.shows("c1", "Stopped.");
    expect(runs).toEqual([]);
  });
});

describe("the ledger of actions", () => {
  it.each(["conversation", "bot"] as const)("runs a key once in a %s", async (idempotencyScope) => {
    const runs: string[] = [];
    const world = refundWorld(
      action({
        description: "",
        inputSchema,
        idempotencyScope,
        idempotencyKey: ({ input }) => input.orderId,
        execute: ({ orderId }, { chat }) => {
          runs.push(`${orderId} in ${chat?.chatId}`);
          return paid;
        },
      }),
    );
    await world.write("c1", "Refund 7");
    await world.write("c1", "Refund 7");
    await world.shows("c1", "paid", "paid");
    await evictDurableObject(world.thread("c1"));
    await world.write("c1", "Refund 7");
    await world.shows("c1", "paid", "paid", "paid");
    await world.write("c2", "Refund 7");
    await world.shows("c2", "paid");
    expect(runs).toEqual(idempotencyScope === "bot" ? ["7 in c1"] : ["7 in c1", "7 in c2"]);
  });

  it("has the effect once when the object dies after it, and the answer says so", async () => {
    const effects: string[] = [];
    const attempts: number[] = [];
    const world = refundWorld(
      action({
        description: "",
        inputSchema,
        idempotencyScope: "bot",
        idempotencyKey: ({ input }) => input.orderId,
        verify: ({ input }) =>
          effects.includes(input.orderId) ? { done: true, output: paid } : { done: false },
        execute: async ({ orderId }, { agent, attempt }) => {
          attempts.push(attempt);
          effects.push(orderId);
          return die(agent);
        },
      }),
    );
    await world.write("c1", "Refund 7");
    await vi.waitFor(() => expect(effects).toEqual(["7"]), 8000);
    await wake(world.thread("c1"));
    await world.shows("c1", "paid");
    expect([effects, attempts]).toEqual([["7"], [1]]);
  });

  it("repeats a keyed run that the object died in, and says which run it is", async () => {
    const attempts: number[] = [];
    const world = refundWorld(
      action({
        description: "",
        inputSchema,
        idempotencyKey: ({ input }) => input.orderId,
        execute: async (_input, { agent, attempt }) => {
          attempts.push(attempt);
          return attempt === 1 ? die(agent) : paid;
        },
      }),
    );
    await world.write("c1", "Refund 7");
    await vi.waitFor(() => expect(attempts).toContain(1), 8000);
    await wake(world.thread("c1"));
    await world.shows("c1", "paid");
    expect(attempts).toEqual([1, 2]);
  });

  it("does not repeat a run without a key, and says that its outcome is not known", async () => {
    let runs = 0;
    const world = refundWorld(
      action({
        description: "",
        inputSchema,
        execute: async (_input, { agent }) => {
          runs += 1;
          return die(agent);
        },
      }),
    );
    await world.write("c1", "Refund 7");
    await vi.waitFor(() => expect(runs).toBe(1), 8000);
    await wake(world.thread("c1"));
    await expect.poll(() => world.chats.visible("c1").at(-1)).toMatch(/outcome is not known/);
    expect(runs).toBe(1);
  });
});

describe("authorization", () => {
  const rolesOf = roles({ billing: ["ada"] });
  const refund = action({
    description: "",
    inputSchema,
    permissions: ["billing:refund"],
    execute: () => paid,
  });
  const byRole = ({ person }: ActionTurnContext) => ({
    allowed: true,
    grantedPermissions: rolesOf(person),
    reason: "Ask billing.",
  });

  it("comes from the person who asks", async () => {
    const world = refundWorld(refund, { authorizeTurn: byRole });
    await world.write("c1", "Refund 7");
    await world.shows("c1", "paid");
    await world.write("c2", "Refund 7", { user: "bob" });
    await expect.poll(() => world.chats.visible("c2").at(-1)).toMatch(/"billing:refund".*Ask billing\./);
  });

  it("of one call is what authorizeAction says, and nothing if it throws", async () => {
    const world = refundWorld(refund, {
      authorizeAction: ({ action: name, input, isGranted }) => {
        if ((input as { orderId: string }).orderId === "8") throw new Error("a mistake");
        return isGranted && name === "refund" && (input as { orderId: string }).orderId === "7";
      },
    });
    for (const order of ["7", "8", "9"]) await world.write("c1", `Refund ${order}`);
    await expect.poll(() => world.chats.visible("c1")).toHaveLength(3);
    const [first, ...others] = world.chats.visible("c1");
    expect(first).toBe("paid");
    for (const other of others) expect(other).toContain("is not allowed");
    expect(log).toContainEqual(expect.objectContaining({ method: "authorizeAction" }));
  });

  it("denies everything where authorizeTurn reads a body, which no chat has, and says so in the log", async () => {
    const world = refundWorld(refund, {
      authorizeTurn: (context) => (context as { readonly body?: unknown }).body === "admin",
    });
    await world.write("c1", "Refund 7");
    await expect.poll(() => world.chats.visible("c1").at(-1)).toContain("billing:refund");
    expect(log).toContainEqual(expect.objectContaining({ event: "bot.failed", code: "turn-without-body" }));
  });

  it("denies everything where authorizeTurn throws", async () => {
    const world = refundWorld(refund, {
      authorizeTurn: () => {
        throw new Error("a mistake");
      },
    });
    await world.write("c1", "Refund 7");
    await expect.poll(() => world.chats.visible("c1").at(-1)).toContain("billing:refund");
  });
});
