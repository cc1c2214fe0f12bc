import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import type { ActionOptions } from "../../../src/index.ts";
import { createMcpWorld, dropMcpServer } from "../support/mcp-world.ts";

afterEach(dropMcpServer);

const inputSchema = z.object({});
const returns = z.object({ cartId: z.string(), count: z.int().default(1) });
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

const options = (rest: Partial<ActionOptions<typeof inputSchema, unknown>>) =>
  action({ description: "Acts.", inputSchema, returns, execute: () => ({ cartId: "c_1" }), ...rest });

describe.each(["auto", "legacy"] as const)("the official client (%s) finds", (mode) => {
  it("that an output fits the schema that the tool was listed with", async () => {
    const mcp = createMcpWorld({ getActions: () => ({ add: options({}) }) });
    const { token } = await mcp.token();
    const client = await mcp.connect(token, { mode });
    const { tools } = await client.listTools();
    expect(tools[0]?.outputSchema).toMatchObject({
      type: "object",
      anyOf: [
        { type: "object", required: ["cartId", "count"], additionalProperties: false },
        { required: ["status", "taskId"] },
      ],
    });
    const result = await client.callTool({ name: "shop__add", arguments: {} });
    expect(result).toMatchObject({ structuredContent: { cartId: "c_1", count: 1 } });
    await client.close();
  });

  it("that word of a task fits it, too, in place of an output", async () => {
    const mcp = createMcpWorld({ getActions: () => ({ add: options({ approval: true, askIn: "here" }) }) });
    const { token } = await mcp.token();
    const client = await mcp.connect(token, { mode });
    await client.listTools();
    const result = await client.callTool({ name: "shop__add", arguments: {} });
    expect(result).toMatchObject({ structuredContent: { status: "working" } });
    await client.close();
  });

  it("that a failure, and an output that was cut, are errors", async () => {
    const mcp = createMcpWorld({
      getActions: () => ({
        wrong: options({ execute: () => ({ cartId: 7 }) }),
        long: options({ execute: () => ({ cartId: "c".repeat(30_000) }) }),
      }),
    });
    const { token } = await mcp.token();
    const client = await mcp.connect(token, { mode });
    await client.listTools();
    const wrong = await client.callTool({ name: "shop__wrong", arguments: {} });
    expect(wrong).toMatchObject({ isError: true, structuredContent: { name: "ActionOutputError" } });
    const long = await client.callTool({ name: "shop__long", arguments: {} });
    expect(long).toMatchObject({
      isError: true,
      structuredContent: { code: -32_005, name: "OutputTooLong" },
      content: [
        { text: expect.stringContaining("The action was done") },
        { text: expect.stringContaining("cccc") },
      ],
    });
    await client.close();
  });
});

it("tells a client with tasks the schema of the outputs alone", async () => {
  const mcp = createMcpWorld({ getActions: () => ({ add: options({}) }) });
  const { token } = await mcp.token();
  const { tools } = await mcp.ask(token, "tools/list", {}, { capabilities: TASKS });
  expect(tools).toMatchObject([
    {
      outputSchema: {
        type: "object",
        properties: { cartId: { type: "string" } },
        required: ["cartId", "count"],
      },
    },
  ]);
});

it("leaves the schema out where outputs are not checked, are no objects, or cannot be described", async () => {
  const mcp = createMcpWorld({
    getActions: () => ({
      loose: options({ strictOutput: false }),
      word: options({ returns: z.string(), execute: () => "done" }),
      changed: options({ returns: z.object({ at: z.string().transform(Number) }) }),
      any: options({ returns: undefined as never }),
    }),
  });
  const { token } = await mcp.token();
  const { tools } = await mcp.ask(token, "tools/list", {}, { capabilities: TASKS });
  expect(tools).toHaveLength(4);
  for (const tool of tools as readonly object[]) expect(tool).not.toHaveProperty("outputSchema");
  expect(await mcp.call(token, "shop__word", {})).toMatchObject({ content: [{ text: "done" }] });
});
