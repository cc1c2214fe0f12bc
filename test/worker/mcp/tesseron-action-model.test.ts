import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { ActionError, defineAction } from "../../../src/index.ts";
import type { ActionContext, ThinkActions } from "../../../src/index.ts";
import { createMcpWorld, dropMcpServer } from "../support/mcp-world.ts";
import type { McpWorld } from "../support/mcp-world.ts";
import { say } from "../support/scripted-model.ts";

/**
 * The page "Action model" of Tesseron, section by section. Where a name or a way differs, the test says which decision
 * record has the reason.
 */

afterEach(dropMcpServer);

const cart = {
  id: "c_1",
  isLocked: false,
  add: async (sku: string, quantity: number) => {
    await Promise.resolve();
    if (cart.isLocked) throw new ActionError("Cart is locked");
    return { id: `i_${sku}_${quantity}` };
  },
};

const addItem = defineAction("addItem") // action name
  .describe("Add an item to the cart")
  .input(z.object({ sku: z.string(), quantity: z.number().int().positive() }))
  .output(z.object({ cartId: z.string(), itemId: z.string() }))
  .annotate({ destructive: false })
  .timeout({ ms: 10_000 })
  .handler(async ({ sku, quantity }, ctx) => {
    expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
    const item = await cart.add(sku, quantity);
    return { cartId: cart.id, itemId: item.id };
  });

async function createShop(
  actions: ThinkActions,
): Promise<{ readonly mcp: McpWorld; readonly token: string }> {
  const mcp = createMcpWorld({
    getActions: () => actions,
    script: ({ isStreamed }) => [say(isStreamed ? "Hello." : "four")],
  });
  const { token } = await mcp.token({ name: "billing-agent" });
  return { mcp, token };
}

describe("Declaration", () => {
  it("has each builder step, with 60 seconds and a passthrough of outputs by default", () => {
    expect(addItem).toMatchObject({
      name: "addItem",
      description: "Add an item to the cart",
      annotations: { destructive: false },
      timeoutMs: 10_000,
      strictOutput: false,
    });
    const ping = defineAction("ping").handler(() => "pong");
    expect(ping).toMatchObject({ timeoutMs: 60_000, strictOutput: false });
    expect(
      defineAction("ping")
        .timeout(5)
        .handler(() => "pong"),
    ).toMatchObject({ timeoutMs: 5 });
  });
});

describe("Naming and the MCP tool list", () => {
  it("names the tool <app.id>__<action.name>", async () => {
    const { mcp, token } = await createShop({ addItem });
    const client = await mcp.connect(token);
    const { tools } = await client.listTools();
    expect(tools[0]).toMatchObject({
      name: "shop__addItem",
      description: "Add an item to the cart",
      annotations: { destructiveHint: false },
    });
    await client.close();
  });
});

describe("Invocation wire format", () => {
  it("answers with the result, and with an error of code -32005 and its message", async () => {
    const { mcp, token } = await createShop({ addItem });
    const input = { sku: "SKU-1", quantity: 2 };
    expect(await mcp.call(token, "shop__addItem", input, { id: 7 })).toMatchObject({
      structuredContent: { cartId: "c_1", itemId: "i_SKU-1_2" },
    });
    cart.isLocked = true;
    try {
      expect(await mcp.call(token, "shop__addItem", input, { id: 8 })).toMatchObject({
        isError: true,
        structuredContent: { code: -32_005, message: "Cart is locked" },
      });
    } finally {
      cart.isLocked = false;
    }
  });
});

describe("Validation passes", () => {
  it("never runs the handler for a wrong input, and returns the issues with code -32004", async () => {
    const { mcp, token } = await createShop({ addItem });
    const result = await mcp.call(token, "shop__addItem", { sku: "SKU-1", quantity: 0 });
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { code: -32_004, issues: [{ path: ["quantity"] }] },
    });
  });

  it("passes a wrong output through, unless strictOutput makes it a failure with its issues", async () => {
    const loose = defineAction("loose").output(z.object({ cartId: z.string() }));
    const wrong = { cartId: 7 } as never;
    const { mcp, token } = await createShop({
      loose: loose.handler(() => wrong),
      strict: defineAction("strict")
        .output(z.object({ cartId: z.string() }))
        .strictOutput()
        .handler(() => wrong),
    });
    expect(await mcp.call(token, "shop__loose", {}, { id: 1 })).toMatchObject({
      structuredContent: { cartId: 7 },
    });
    expect(await mcp.call(token, "shop__strict", {}, { id: 2 })).toMatchObject({
      isError: true,
      structuredContent: { code: -32_005, issues: [{ path: ["cartId"] }] },
    });
  });
});

describe("Annotations", () => {
  it("ask people by themselves: the bot does not leave that to the agent that calls (decision 14)", async () => {
    const runs: string[] = [];
    const of = (name: "destructive" | "requiresConfirmation") =>
      defineAction(name)
        .annotate({ [name]: true })
        .handler(() => runs.push(name));
    const { mcp, token } = await createShop({
      destructive: of("destructive"),
      requiresConfirmation: of("requiresConfirmation"),
    });
    for (const name of ["destructive", "requiresConfirmation"])
      expect(await mcp.call(token, `shop__${name}`, {}, { id: name })).toMatchObject({
        structuredContent: { status: "working" },
      });
    expect(runs).toEqual([]);
  });
});

describe("What the handler receives", () => {
  it("is each helper; the calling agent is ctx.caller, because ctx.agent is the bot (decision 14)", async () => {
    const contexts: ActionContext[] = [];
    const ask = defineAction("ask").handler(async (_input, ctx) => {
      contexts.push(ctx);
      ctx.progress({ message: "Asking", fraction: 0.5 });
      ctx.log({ level: "info", message: "asked", meta: { rows: 2 } });
      // Nobody can be asked in a call of another agent.
      const isSure = await ctx.confirm({ message: "Sure?" });
      const { why } = await ctx.elicit({ message: "Which size?", schema: z.enum(["S", "M"]) });
      return { isSure, why, said: await ctx.sample({ prompt: "Two and two?" }) };
    });
    const { mcp, token } = await createShop({ ask });
    expect(await mcp.call(token, "shop__ask", {})).toMatchObject({
      structuredContent: { isSure: false, why: "nobody", said: "four" },
    });
    expect(contexts[0]).toMatchObject({
      client: { kind: "mcp" },
      caller: {
        name: "billing-agent",
        capabilities: { progress: true, sampling: true, elicitation: false },
      },
    });
    expect(contexts[0]?.signal.aborted).toBe(false);
  });
});
