import { jsonSchema } from "ai";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import type { ThinkActions } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { createMcpWorld, dropMcpServer } from "../support/mcp-world.ts";
import type { McpWorld } from "../support/mcp-world.ts";

vi.setConfig({ testTimeout: 60_000 });
beforeEach(() => void captureLog());
afterEach(dropMcpServer);

const RUNS = { numRuns: 150 };
const SECRET = "hunter2-of-the-handler";

interface Fuzzed {
  readonly mcp: McpWorld;
  readonly token: string;
  /** Effects of actions whose permission the token lacks. */
  readonly forbidden: string[];
}

/** A bot whose actions are forbidden for its token, except one that fails with a secret, and one that asks. */
async function createFuzzed(): Promise<Fuzzed> {
  const forbidden: string[] = [];
  const effect = (name: string) => () => {
    forbidden.push(name);
    return "done";
  };
  const anything = z.looseObject({});
  const getActions = (): ThinkActions => ({
    fixed: action({
      description: "Needs a permission.",
      inputSchema: anything,
      permissions: ["money"],
      execute: effect("fixed"),
    }),
    depends: action({
      description: "Needs one that depends on the input.",
      inputSchema: anything,
      permissions: ({ input }) => ["money", ...Object.keys(input)],
      execute: effect("depends"),
    }),
    asks: action({
      description: "Needs consent, and a permission.",
      inputSchema: anything,
      permissions: () => ["money"],
      approval: true,
      execute: effect("asks"),
    }),
    fails: action({
      description: "Fails.",
      inputSchema: anything,
      execute: () => {
        throw new Error(SECRET);
      },
    }),
  });
  const mcp = createMcpWorld({ getActions, authorizeAction: () => true });
  const { token } = await mcp.token({ scopes: ["reading"], perMinute: 6000, atOnce: 32 });
  return { mcp, token, forbidden };
}

/** Parts of messages, right and wrong, so that many messages come deep into the protocol. */
const strange = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string(), fc.constant("__proto__"));
const id = fc.oneof(fc.integer(), fc.string(), strange);
const tool = fc.constantFrom("shop__fixed", "shop__depends", "shop__asks", "shop__fails", "shop__task");
const method = fc.oneof(
  fc.constantFrom(
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tasks/get",
    "tasks/cancel",
    "tasks/update",
    "subscriptions/listen",
    "notifications/cancelled",
    "notifications/initialized",
    "resources/list",
    "completion/complete",
    "logging/setLevel",
  ),
  fc.string(),
);
const meta = fc.record(
  {
    "io.modelcontextprotocol/protocolVersion": fc.oneof(fc.constantFrom("2026-07-28", "2025-11-25"), strange),
    "io.modelcontextprotocol/clientInfo": fc.oneof(fc.constant({ name: "fuzz", version: "1" }), strange),
    "io.modelcontextprotocol/clientCapabilities": fc.oneof(
      fc.constantFrom({}, { elicitation: {} }, { extensions: { "io.modelcontextprotocol/tasks": {} } }),
      strange,
    ),
    idempotencyKey: strange,
    progressToken: strange,
  },
  { requiredKeys: [] },
);
const answers = fc.record(
  {
    requestState: strange,
    inputResponses: fc.oneof(
      fc.constant({ consent: { action: "accept", content: { approve: true } } }),
      fc.dictionary(fc.string(), strange, { maxKeys: 3 }),
      strange,
    ),
  },
  { requiredKeys: [] },
);
const call = fc
  .record({
    name: fc.oneof(tool, strange),
    arguments: strange,
    more: answers,
    _meta: fc.oneof(meta, strange),
  })
  .map(({ more, ...params }) => ({ ...params, ...more }));
const message = fc.oneof(
  fc.record({ jsonrpc: fc.constant("2.0"), id, method: fc.constant("tools/call"), params: call }),
  fc.record(
    {
      jsonrpc: fc.constantFrom("2.0", "1.0"),
      id,
      method,
      params: fc.oneof(
        fc.record({ taskId: strange, requestId: strange, _meta: meta }, { requiredKeys: [] }),
        strange,
      ),
    },
    { requiredKeys: [] },
  ),
  strange,
);
const header = fc.record(
  {
    "mcp-protocol-version": fc.oneof(
      fc.constantFrom("2026-07-28", "2025-11-25"),
      fc.stringMatching(/^[ -~]{0,40}$/),
    ),
    "mcp-method": fc.oneof(fc.constant("tools/call"), fc.stringMatching(/^[ -~]{0,40}$/)),
    "mcp-name": fc.oneof(tool, fc.stringMatching(/^[ -~]{0,40}$/)),
    "mcp-session-id": fc.stringMatching(/^[ -~]{0,40}$/),
    "idempotency-key": fc.stringMatching(/^[ -~]{0,300}$/),
    accept: fc.constantFrom("*/*", "text/html", "application/json"),
    "content-type": fc.constantFrom("text/plain", "application/json", "multipart/form-data"),
  },
  { requiredKeys: [] },
);

describe("requests of any form", () => {
  it("never crash the bot, show nothing of its inside, and run nothing without its scope (I10, I13)", async () => {
    const { forbidden, mcp, token } = await createFuzzed();
    await fc.assert(
      fc.asyncProperty(message, header, async (body, headers) => {
        const response = await mcp.post(token, JSON.stringify(body) ?? "", headers);
        const text = await response.text();
        expect(response.status).not.toBe(500);
        expect(response.status).not.toBe(503);
        for (const inside of [SECRET, token, "    at ", "/src/", "node_modules", "SQLITE"])
          expect(text).not.toContain(inside);
        expect(forbidden).toEqual([]);
      }),
      RUNS,
    );
    const pong = await mcp.post(token, { jsonrpc: "2.0", id: 1, method: "ping" });
    expect(pong.status).toBe(200);
  });

  it("have one answer without a token, whatever else is in them", async () => {
    const { mcp } = await createFuzzed();
    const authorization = fc.oneof(
      fc.stringMatching(/^[ -~]{0,80}$/),
      fc.stringMatching(/^Bearer swb_[A-Za-z0-9]{12}_[A-Za-z0-9]{64}$/),
    );
    await fc.assert(
      fc.asyncProperty(message, header, authorization, async (body, headers, sent) => {
        const response = await mcp.fetch("/mcp", {
          method: "POST",
          headers: { ...headers, authorization: sent },
          body: JSON.stringify(body) ?? "",
        });
        expect(response.status).toBe(401);
        await response.body?.cancel();
      }),
      RUNS,
    );
  });
});

describe("the input of a tool", () => {
  it("reaches the action only if it fits, and otherwise is refused with issues", async () => {
    const schema = z.strictObject({
      kind: z.enum(["a", "b"]),
      count: z.int().min(0).max(9),
      tags: z.array(z.string().max(3)).max(2).optional(),
    });
    const reached: unknown[] = [];
    const mcp = createMcpWorld({
      getActions: () => ({
        put: action({
          description: "Puts.",
          inputSchema: schema,
          execute: (input) => void reached.push(input),
        }),
      }),
    });
    const { token } = await mcp.token({ perMinute: 6000 });
    const input = fc.oneof(
      fc.record(
        {
          kind: fc.oneof(fc.constantFrom("a", "b"), strange),
          count: fc.oneof(fc.integer({ min: -2, max: 11 }), strange),
          tags: fc.oneof(fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }), strange),
        },
        { requiredKeys: [] },
      ),
      fc.dictionary(fc.string(), strange, { maxKeys: 4 }),
    );
    let id = 0;
    await fc.assert(
      fc.asyncProperty(input, async (value) => {
        reached.length = 0;
        id += 1;
        const sent: unknown = JSON.parse(JSON.stringify(value));
        const result = await mcp.call(token, "shop__put", sent, { id });
        const parsed = schema.safeParse(sent);
        expect(reached).toEqual(parsed.success ? [parsed.data] : []);
        if (parsed.success) return;
        expect(result).toMatchObject({
          isError: true,
          structuredContent: { code: -32004, issues: expect.any(Array) as unknown },
        });
      }),
      RUNS,
    );
  });

  it("may have any schema: the tools are listed as objects", async () => {
    let schema: Record<string, unknown> = {};
    const mcp = createMcpWorld({
      getActions: () => ({
        put: action({ description: "Puts.", inputSchema: jsonSchema(schema as never), execute: () => null }),
      }),
    });
    const { token } = await mcp.token({ perMinute: 6000 });
    const { node } = fc.letrec<{ readonly node: Record<string, unknown> }>((tie) => ({
      node: fc.oneof(
        { depthSize: "small" },
        fc.record({ type: fc.constantFrom("string", "integer", "boolean", "null") }),
        fc.record({ enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }) }),
        fc.record({ type: fc.constant("array"), items: tie("node") }),
        fc.record({
          type: fc.constant("object"),
          properties: fc.dictionary(fc.string(), tie("node"), { maxKeys: 3 }),
        }),
        fc.record({ anyOf: fc.array(tie("node"), { minLength: 1, maxLength: 3 }) }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(node, async (made) => {
        schema = JSON.parse(JSON.stringify(made)) as Record<string, unknown>;
        const { tools } = (await mcp.ask(token, "tools/list", {})) as { readonly tools: unknown[] };
        expect(tools[0]).toMatchObject({ name: "shop__put", inputSchema: { type: "object" } });
      }),
      RUNS,
    );
  });
});
