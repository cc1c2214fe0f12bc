import { evictDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { conversationOfToken } from "../../../src/mcp/mcp-calls.ts";
import { action, ActionError } from "../../../src/index.ts";
import type { Action, ActionContext, ThinkActions } from "../../../src/index.ts";
import { createMcpWorld, dropMcpServer } from "../support/mcp-world.ts";
import type { McpWorld } from "../support/mcp-world.ts";
import type { WorldOptions } from "../support/world.ts";

afterEach(dropMcpServer);

interface Shop {
  readonly mcp: McpWorld;
  readonly added: string[];
  readonly contexts: ActionContext[];
}

function createShop(options: WorldOptions = {}, more: ThinkActions = {}): Shop {
  const added: string[] = [];
  const contexts: ActionContext[] = [];
  const add_item = action({
    description: "Add an item to the cart.",
    inputSchema: z.object({ sku: z.string().min(2), quantity: z.int().positive().default(1) }),
    annotations: { destructive: false },
    execute: ({ quantity, sku }, ctx) => {
      added.push(sku);
      contexts.push(ctx);
      return { sku, quantity };
    },
  });
  const refund = action({
    description: "Pay money back.",
    inputSchema: z.object({ orderId: z.string() }),
    permissions: ["billing:refund"],
    idempotencyKey: ({ input }) => input.orderId,
    annotations: { destructive: true },
    approval: false,
    execute: ({ orderId }) => {
      added.push(`refund ${orderId}`);
      return "done";
    },
  });
  return {
    mcp: createMcpWorld({ getActions: () => ({ add_item, refund, ...more }), ...options }),
    added,
    contexts,
  };
}

/** An action that runs until the test says so. An object cannot wait for a promise of the test. */
function slowAction(): { readonly slow: Action; readonly work: { runs: number; isDone: boolean } } {
  const work = { runs: 0, isDone: false };
  const slow = action({
    description: "Takes long.",
    inputSchema: z.object({}),
    execute: async () => {
      work.runs += 1;
      while (!work.isDone) await scheduler.wait(5);
      return { runs: work.runs };
    },
  });
  return { slow, work };
}

describe.each(["auto", "legacy"] as const)("the official client (%s)", (mode) => {
  it("lists the tools with their schemas and annotations, and calls one", async () => {
    const { added, mcp } = createShop();
    const { token } = await mcp.token();
    const client = await mcp.connect(token, { mode });
    expect(client.getServerVersion()?.name).toBe("shop");
    const { tools } = await client.listTools();
    expect(tools.slice(0, 2)).toMatchObject([
      {
        name: "shop__add_item",
        description: "Add an item to the cart.",
        inputSchema: { type: "object", properties: { sku: { type: "string", minLength: 2 } } },
        annotations: { destructiveHint: false, idempotentHint: false },
      },
      { name: "shop__refund", annotations: { destructiveHint: true, idempotentHint: true } },
    ]);
    const result = await client.callTool({ name: "shop__add_item", arguments: { sku: "mug" } });
    expect(result.structuredContent).toEqual({ sku: "mug", quantity: 1 });
    expect(result.content).toEqual([{ type: "text", text: '{"sku":"mug","quantity":1}' }]);
    expect(added).toEqual(["mug"]);
    await client.close();
  });

  it("tells a wrong input, a failure and an unknown tool apart", async () => {
    const { added, mcp } = createShop(
      {},
      {
        lock: action({
          description: "Fails.",
          inputSchema: z.object({}),
          execute: () => {
            throw new ActionError("Cart is locked");
          },
        }),
        burst: action({
          description: "Fails with an exception.",
          inputSchema: z.object({}),
          execute: () => {
            throw new Error("password=hunter2");
          },
        }),
      },
    );
    const { token } = await mcp.token();
    const client = await mcp.connect(token, { mode });
    const wrong = await client.callTool({ name: "shop__add_item", arguments: { sku: 7 } });
    expect(wrong).toMatchObject({ isError: true, structuredContent: { code: -32004 } });
    const locked = await client.callTool({ name: "shop__lock", arguments: {} });
    expect(locked).toMatchObject({
      isError: true,
      structuredContent: { code: -32005, message: "Cart is locked" },
      content: [{ type: "text", text: "Cart is locked" }],
    });
    const burst = await client.callTool({ name: "shop__burst", arguments: {} });
    expect(burst).toMatchObject({ isError: true, structuredContent: { code: -32005 } });
    expect(JSON.stringify(burst)).not.toContain("hunter2");
    await expect(client.callTool({ name: "shop__nothing", arguments: {} })).rejects.toThrow("Unknown tool");
    expect(added).toEqual([]);
    await client.close();
  });
});

it("offers an action while it is enabled for the token's person, and says if it only reads", async () => {
  const { mcp } = createShop(
    {},
    {
      look: action({
        description: "Looks.",
        inputSchema: z.object({}),
        annotations: { readOnly: true },
        enabled: ({ person }) => person?.userId === "ada",
        execute: () => "seen",
      }),
    },
  );
  const ada = await mcp.token({ person: { messenger: "fake", userId: "ada" } });
  const { tools } = (await mcp.ask(ada.token, "tools/list", {})) as { readonly tools: readonly object[] };
  expect(tools).toContainEqual(
    expect.objectContaining({
      name: "shop__look",
      annotations: { readOnlyHint: true, idempotentHint: true },
    }),
  );
  const nobody = await mcp.token();
  expect(JSON.stringify(await mcp.ask(nobody.token, "tools/list", {}))).not.toContain("shop__look");
  expect(await mcp.call(nobody.token, "shop__look", {})).toMatchObject({
    isError: true,
    structuredContent: { code: -32005, name: "ActionDisabledError" },
  });
});

describe("the scopes of a token", () => {
  it("hide tools, and refuse what a permission that depends on the input requires", async () => {
    const { added, mcp } = createShop(
      {},
      {
        pay: action({
          description: "Pays.",
          inputSchema: z.object({ cents: z.number() }),
          permissions: ({ input }) => (input.cents > 100 ? ["billing:large"] : ["billing:small"]),
          execute: ({ cents }) => {
            added.push(`paid ${cents}`);
          },
        }),
      },
    );
    const { token } = await mcp.token({ scopes: ["billing:small"] });
    const listed = await mcp.ask(token, "tools/list", {});
    const names = (listed["tools"] as { readonly name: string }[]).map(({ name }) => name);
    expect(names).toEqual(["shop__add_item", "shop__pay", "shop__task"]);
    expect(await mcp.call(token, "shop__refund", { orderId: "7" })).toMatchObject({
      error: { code: -32602, message: "Unknown tool" },
    });
    expect(await mcp.call(token, "shop__pay", { cents: 5 }, { id: 2 })).not.toHaveProperty("isError");
    const refused = await mcp.call(token, "shop__pay", { cents: 500 }, { id: 3 });
    expect(refused).toMatchObject({ isError: true, structuredContent: { name: "ActionAuthorizationError" } });
    expect(added).toEqual(["paid 5"]);
  });

  it("never give more than the person has, and no method of the bot gives more than the scopes", async () => {
    const asked: unknown[] = [];
    const { added, mcp } = createShop({
      authorizeTurn: ({ messengerId, person }) => {
        asked.push([messengerId, person?.userId]);
        return { allowed: true, grantedPermissions: person?.userId === "ada" ? ["billing"] : [] };
      },
    });
    await mcp.world.write("c1", "Hi");
    await mcp.world.shows("c1", "You said: Hi");
    asked.length = 0;
    const person = { messenger: "fake", userId: "ada" };
    const ada = await mcp.token({ scopes: ["*"], person });
    expect(await mcp.call(ada.token, "shop__refund", { orderId: "1" })).not.toHaveProperty("isError");
    expect(asked[0]).toEqual(["fake", "ada"]);
    const eli = await mcp.token({ scopes: ["*"], person: { messenger: "fake", userId: "eli" } });
    expect(await mcp.call(eli.token, "shop__refund", { orderId: "2" })).toMatchObject({ isError: true });
    expect(added).toEqual(["refund 1"]);
  });

  it("hold even if authorizeAction allows everything", async () => {
    const { added, mcp } = createShop(
      { authorizeAction: () => true },
      {
        pay: action({
          description: "Pays.",
          inputSchema: z.object({}),
          permissions: () => ["billing:large"],
          execute: () => added.push("paid"),
        }),
      },
    );
    const { token } = await mcp.token({ scopes: [] });
    expect(await mcp.call(token, "shop__pay", {})).toMatchObject({ isError: true });
    expect(added).toEqual([]);
  });
});

describe("a request that is sent again", () => {
  it("runs once, also after the object has died, until the client has the answer", async () => {
    const { added, mcp } = createShop();
    const { record, token } = await mcp.token();
    const first = await mcp.post(token, {
      jsonrpc: "2.0",
      id: 5,
      method: "tools/call",
      params: { name: "shop__add_item", arguments: { sku: "mug" } },
    });
    // The client dies before it reads the answer.
    await first.body?.cancel();
    await evictDurableObject(mcp.world.child(conversationOfToken(record.id)));
    const again = await mcp.call(token, "shop__add_item", { sku: "mug" }, { id: 5 });
    expect(again["structuredContent"]).toEqual({ sku: "mug", quantity: 1 });
    expect(added).toEqual(["mug"]);
    // A new process of the client counts from the same number.
    await mcp.call(token, "shop__add_item", { sku: "mug" }, { id: 5 });
    expect(added).toEqual(["mug", "mug"]);
  });

  it("runs once for an idempotency key, whatever the ids", async () => {
    const { added, mcp } = createShop();
    const { token } = await mcp.token();
    const meta = { idempotencyKey: "k1" };
    const results = [
      await mcp.call(token, "shop__add_item", { sku: "mug" }, { id: 1, meta }),
      await mcp.call(token, "shop__add_item", { sku: "mug" }, { id: 2, meta }),
    ];
    expect(results[1]).toEqual(results[0]);
    expect(await mcp.call(token, "shop__add_item", { sku: "cup" }, { id: 3, meta })).toMatchObject({
      isError: true,
      structuredContent: { name: "ActionKeyConflict" },
    });
    expect(added).toEqual(["mug"]);
    const other = await mcp.token();
    await mcp.call(other.token, "shop__add_item", { sku: "mug" }, { meta });
    expect(added).toEqual(["mug", "mug"]);
  });

  it("joins the run that goes on", async () => {
    const { slow, work } = slowAction();
    const { mcp } = createShop({}, { slow });
    const { token } = await mcp.token();
    const both = [
      mcp.call(token, "shop__slow", {}, { id: "a" }),
      mcp.call(token, "shop__slow", {}, { id: "a" }),
    ];
    await expect.poll(() => work.runs).toBe(1);
    work.isDone = true;
    const [one, two] = await Promise.all(both);
    expect(one).toMatchObject({ structuredContent: { runs: 1 } });
    expect(two).toEqual(one);
  });
});

it("gives an action the token's person, and no chat of anybody else", async () => {
  const { contexts, mcp } = createShop();
  await mcp.world.write("c1", "Hi");
  await mcp.world.shows("c1", "You said: Hi");
  const { record, token } = await mcp.token({ person: { messenger: "fake", userId: "ada" } });
  await mcp.call(token, "shop__add_item", { sku: "mug" });
  expect(contexts[0]).toMatchObject({ person: { userId: "ada" }, chat: { chatId: "c1" }, messages: [] });
  const nobody = await mcp.token();
  await mcp.call(nobody.token, "shop__add_item", { sku: "mug" });
  expect(contexts[1]).toMatchObject({ person: undefined, chat: undefined });
  expect(record.id).not.toBe(nobody.record.id);
  await mcp.world.shows("c1", "You said: Hi");
});

it("refuses more calls at once than the token has", async () => {
  const { slow, work } = slowAction();
  const { mcp } = createShop({}, { slow });
  const { token } = await mcp.token({ atOnce: 1 });
  const running = mcp.call(token, "shop__slow", {}, { id: 1 });
  await expect.poll(() => work.runs).toBe(1);
  expect(await mcp.call(token, "shop__add_item", { sku: "mug" }, { id: 2 })).toMatchObject({
    isError: true,
    structuredContent: { name: "TooManyCalls" },
  });
  work.isDone = true;
  await running;
  expect(await mcp.call(token, "shop__add_item", { sku: "mug" }, { id: 3 })).not.toHaveProperty("isError");
});

it("stops a call when the client of 2025 takes it back", async () => {
  let reason: unknown;
  let isRunning = false;
  const { mcp } = createShop(
    {},
    {
      slow: action({
        description: "Takes long.",
        inputSchema: z.object({}),
        execute: (_input, { signal }) =>
          new Promise((_, reject) => {
            isRunning = true;
            signal.addEventListener("abort", () => {
              reason = signal.reason;
              reject(signal.reason);
            });
          }),
      }),
    },
  );
  const { token } = await mcp.token();
  const client = await mcp.connect(token, { mode: "legacy" });
  const stop = new AbortController();
  const called = client.callTool({ name: "shop__slow", arguments: {} }, { signal: stop.signal });
  await expect.poll(() => isRunning).toBe(true);
  stop.abort("not needed");
  await expect(called).rejects.toThrow("not needed");
  await expect.poll(() => reason).toBeDefined();
  await client.close();
});

it("refuses names that no client would take, and names that clash", async () => {
  const put = action({ description: "Puts.", inputSchema: z.object({}), execute: () => null });
  const problem = async (actions: ThinkActions): Promise<unknown> => {
    const { mcp } = createShop({ getActions: () => actions });
    const health = await mcp.fetch("/health");
    return (await health.json<{ readonly problem?: { readonly code: string } }>()).problem?.code;
  };
  expect(await problem({ put })).toBeUndefined();
  expect(await problem({ "put it": put })).toBe("mcp-tool-name");
  expect(await problem({ [`p${"u".repeat(60)}t`]: put })).toBe("mcp-tool-name");
  expect(await problem({ task: put })).toBe("mcp-tool-twice");
});

describe.each(["auto", "legacy"] as const)("progress, to the official client (%s)", (mode) => {
  it("is told while the action runs", async () => {
    const work = { isDone: false };
    const { mcp } = createShop(
      {},
      {
        export_orders: action({
          description: "Exports all orders.",
          inputSchema: z.object({}),
          execute: async (_input, ctx) => {
            ctx.progress({ message: "Reading page 1", fraction: 0.5 });
            while (!work.isDone) await scheduler.wait(5);
            return "exported";
          },
        }),
      },
    );
    const { token } = await mcp.token();
    const client = await mcp.connect(token, { mode });
    const heard: (string | undefined)[] = [];
    const result = await client.callTool(
      { name: "shop__export_orders", arguments: {} },
      {
        onprogress: ({ message }) => {
          heard.push(message);
          work.isDone = true;
        },
      },
    );
    expect(result.content).toEqual([{ type: "text", text: "exported" }]);
    expect(heard).toEqual([expect.stringContaining("Reading page 1")]);
    await client.close();
  });
});
