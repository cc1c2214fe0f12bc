import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ActionConnector, createCodemodeRuntime, McpConnector } from "../../../src/codemode/index.ts";
import { action } from "../../../src/index.ts";
import type { ConnectorTool } from "../../../src/codemode/index.ts";
import type { ThinkActions } from "../../../src/index.ts";
import { expectShown } from "../support/asking-bot.ts";
import { codeScript, useCodemode } from "../support/code-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());
let end: () => void;
beforeAll(() => void (end = useCodemode()));
afterAll(() => end());

const order = z.object({ order: z.string().min(2) });

function shop(done: string[]): ThinkActions {
  return {
    find: action({
      description: "Finds an order.",
      inputSchema: order,
      execute: (input) => {
        done.push(`find ${input.order}`);
        return { total: 40 };
      },
    }),
    refund: action({
      description: "Refunds an order.",
      inputSchema: order,
      approval: true,
      permissions: ["refund"],
      idempotencyKey: ({ input }) => input.order,
      preview: () => [{ label: "Balance", from: 0, to: 40 }],
      execute: (input) => {
        done.push(`refund ${input.order}`);
        return { paid: input.order };
      },
    }),
    docs__search: action({
      description: "Searches the documents.",
      inputSchema: z.object({ query: z.string() }),
      execute: ({ query }) => [query],
    }),
    docs__publish: action({
      description: "Publishes a document.",
      inputSchema: z.object({ name: z.string() }),
      execute: ({ name }) => {
        done.push(`publish ${name}`);
        return name;
      },
    }),
  };
}

class DocsConnector extends McpConnector {
  name(): string {
    return "docs";
  }

  protected override tool(name: string, tool: ConnectorTool): ConnectorTool {
    return name === "publish" ? { ...tool, requiresApproval: true } : tool;
  }
}

function bot(mayRefund = true): { readonly world: World; readonly done: string[] } {
  const done: string[] = [];
  const world = createWorld({
    script: codeScript,
    getActions: () => shop(done),
    authorizeAction: ({ action: name }) => mayRefund || !name.endsWith("refund"),
    getTools: (agent) => {
      const { ctx, env } = agent as unknown as { readonly ctx: object; readonly env: object };
      const connectors = [new ActionConnector(ctx, env, ["find", "refund"]), new DocsConnector(ctx, env)];
      return { codemode: createCodemodeRuntime({ ctx, connectors }).tool() as never };
    },
  });
  return { world, done };
}

const REFUND =
  "run async () => { const { total } = await actions.find({ order: 'A1' }); const one = await actions.refund({ order: 'A1' }); return [total, one.paid]; }";

describe("the bot's actions in code", () => {
  it("run with their consent, and each once", async () => {
    const { done, world } = bot();
    await world.write("c1", REFUND);
    const card = await expectShown(world, "Refunds an order");
    expect(card.texts.at(-1)).toContain("Done before it in this run: Finds an order\nBalance: 0 → 40");
    expect(done).toEqual(["find A1"]);
    await world.press("c1", "More");
    await expectShown(world, "actions.refund({ order: 'A1' })");
    await world.press("c1", "Approve");
    await expectShown(world, '"result":[40,"A1"]');
    expect(done).toEqual(["find A1", "refund A1"]);
  });

  it("share their keys with calls outside of the code", async () => {
    const { done, world } = bot();
    await world.write("c1", REFUND);
    await expectShown(world, "Refunds an order");
    await world.press("c1", "Approve");
    await expectShown(world, "Told:");
    await world.write("c1", `${REFUND} //`, { id: "again" });
    await expectShown(world, '"result":[40,"A1"]');
    expect(done.filter((one) => one === "refund A1")).toHaveLength(1);
  });

  it("are refused to people who lack their permission", async () => {
    const { done, world } = bot(false);
    await world.write("c1", REFUND);
    await expectShown(world, '"status":"error"');
    expect(world.chats.button("c1", "Approve")).toBeUndefined();
    expect(done).toEqual(["find A1"]);
  });

  it("never get an input that their schema refuses", async () => {
    const { done, world } = bot();
    await world.write(
      "c1",
      "run async () => { try { await actions.find({ order: 'A' }); } catch (error) { return 'refused'; } }",
    );
    await expectShown(world, '"result":"refused"');
    expect(done).toEqual([]);
  });

  it("ask a person if their connector says so", async () => {
    const { done, world } = bot();
    await world.write("c1", "run async () => docs.publish({ name: 'plan' })");
    await expectShown(world, "Publishes a document");
    expect(done).toEqual([]);
    await world.press("c1", "Approve");
    await expectShown(world, '"result":"plan"');
    expect(done).toEqual(["publish plan"]);
  });

  it("are there only by the names that a connector has", async () => {
    const { world } = bot();
    await world.write(
      "c1",
      "run async () => [await docs.search({ query: 'q' }), typeof (await actions.docs__search({ query: 'q' }).catch(() => 1))]",
    );
    await expectShown(world, '"result":[["q"],"number"]');
  });
});
