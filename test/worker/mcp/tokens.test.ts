import { runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import { durableDatabase } from "../../../src/core/store/database.ts";
import { McpTokens } from "../../../src/mcp/tokens.ts";
import { sentToken } from "../../../src/mcp/token.ts";
import type { NewToken } from "../../../src/mcp/token.ts";
import { createMcpWorld, dropMcpServer } from "../support/mcp-world.ts";
import type { McpWorld } from "../support/mcp-world.ts";
import { testEnv } from "../test-env.ts";

afterEach(dropMcpServer);

const getActions = () => ({
  ping: action({ description: "Answers.", inputSchema: z.object({}), execute: () => "pong" }),
});

interface SentRequest {
  readonly method?: string;
  readonly body?: string | null;
  readonly headers?: Record<string, string>;
}

async function statusOf(
  mcp: McpWorld,
  authorization: string | undefined,
  { headers = {}, ...init }: SentRequest = {},
) {
  const response = await mcp.fetch("/mcp", {
    method: "POST",
    body: "not json",
    ...init,
    headers: { ...(authorization !== undefined && { authorization }), ...headers },
  });
  const challenge = response.headers.get("www-authenticate");
  return { status: response.status, challenge, body: await response.text(), headers: response.headers };
}

describe("a request without a valid token", () => {
  it("gets one answer, whatever is wrong, before its body is read", async () => {
    const mcp = createMcpWorld({ getActions });
    const { record, token } = await mcp.token();
    const [good, wrong] = [
      `Bearer ${token}`,
      `Bearer ${token.slice(0, -1)}${token.endsWith("a") ? "b" : "a"}`,
    ];
    expect((await statusOf(mcp, good)).status).toBe(400);
    expect((await mcp.operate(`/switchboard/tokens/${record.id}`, { method: "DELETE" })).status).toBe(204);
    const unknown = `Bearer swb_${"a".repeat(12)}_${"b".repeat(64)}`;
    const answers = [];
    for (const sent of [undefined, "Bearer", "Basic abc", "Bearer swb_x_y", unknown, wrong, good])
      answers.push(await statusOf(mcp, sent));
    for (const { body, challenge, status } of answers) {
      expect(status).toBe(401);
      expect(challenge).toMatch(/^Bearer /);
      expect(body).toBe(answers[0]?.body);
    }
  });

  it("is refused when a page of a browser sends it, also with a token", async () => {
    const mcp = createMcpWorld({ getActions }, { origins: ["https://good.example"] });
    const { token } = await mcp.token();
    const from = async (origin: string) => statusOf(mcp, `Bearer ${token}`, { headers: { origin } });
    expect((await from("https://bot.example")).status).toBe(403);
    expect((await from("null")).status).toBe(403);
    expect((await from("https://good.example")).status).toBe(400);
    const { headers, status } = await statusOf(mcp, undefined, {
      method: "OPTIONS",
      body: null,
      headers: { origin: "https://bad.example", "access-control-request-method": "POST" },
    });
    expect(status).toBe(403);
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("a request with a token", () => {
  it("may have a body of 1 MiB, and no list of requests", async () => {
    const mcp = createMcpWorld({ getActions });
    const { token } = await mcp.token();
    expect((await mcp.post(token, "x".repeat(1024 * 1024 + 1))).status).toBe(413);
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await mcp.post(token, [ping, ping])).status).toBe(400);
    expect((await mcp.post(token, `${"[".repeat(9000)}${"]".repeat(9000)}`)).status).toBe(400);
    const answer = await mcp.fetch("/mcp", { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(405);
  });

  it("is one of so many in a minute", async () => {
    const mcp = createMcpWorld({ getActions });
    const { token } = await mcp.token({ perMinute: 2 });
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await mcp.post(token, ping)).status).toBe(200);
    expect((await mcp.post(token, ping)).status).toBe(200);
    const refused = await mcp.post(token, ping);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("the operator", () => {
  it("sees tokens without their secrets, and nobody else does", async () => {
    const mcp = createMcpWorld({ getActions });
    const { record, token } = await mcp.token({ name: "CI", scopes: ["orders:read"], days: 1 });
    await mcp.call(token, "shop__ping", {});
    const listed = await (await mcp.operate("/switchboard/tokens")).text();
    const { tokens } = JSON.parse(listed) as { readonly tokens: readonly { readonly createdAt: number }[] };
    expect(tokens).toEqual([
      {
        id: record.id,
        name: "CI",
        scopes: ["orders:read"],
        perMinute: 60,
        atOnce: 4,
        createdAt: expect.any(Number),
        expiresAt: (tokens[0]?.createdAt ?? 0) + 86_400_000,
        lastUsedAt: expect.any(Number),
      },
    ]);
    expect(listed).not.toContain(token.split("_")[2] ?? "");
    for (const path of ["/switchboard/tokens", `/switchboard/tokens/${record.id}`])
      expect((await mcp.fetch(path, { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
    const stored = await runInDurableObject(mcp.world.stub, (_bot, { storage }) =>
      JSON.stringify(storage.sql.exec("SELECT * FROM mcp_token_v1").toArray()),
    );
    expect(stored).not.toContain(token.split("_")[2] ?? "");
  });

  it.each([
    [{}, 400],
    [{ name: "x", days: 4000 }, 400],
    [{ name: "x", scopes: ["a b"] }, 400],
    [{ name: "x", colour: "red" }, 400],
    [{ name: "x", person: { messenger: "elsewhere", userId: "1" } }, 422],
  ])("is told what is wrong with %j", async (asked, status) => {
    const mcp = createMcpWorld({ getActions });
    const response = await mcp.operate("/switchboard/tokens", {
      method: "POST",
      body: JSON.stringify(asked),
    });
    expect(response.status).toBe(status);
  });
});

it("has no address in a bot without the import", async () => {
  const mcp = createMcpWorld({ getActions });
  dropMcpServer();
  expect((await mcp.operate("/switchboard/tokens")).status).toBe(404);
  expect((await statusOf(mcp, undefined)).status).toBe(404);
});

it("ends with its time, keeps 200 valid ones, and lends its budget back minute by minute", async () => {
  await runInDurableObject(
    testEnv.TestObject.getByName(crypto.randomUUID()),
    async (_object, { storage }) => {
      let now = 1_000_000;
      const clock = { now: () => now, setTimeout: () => 0, clearTimeout: () => undefined };
      const tokens = new McpTokens(durableDatabase(storage), { clock, newId: () => crypto.randomUUID() });
      const asked: NewToken = {
        name: "x",
        scopes: [],
        person: undefined,
        validMs: 600_000,
        perMinute: 1,
        atOnce: 1,
      };
      const { token } = await tokens.create(asked);
      const request = new Request("https://x", { headers: { authorization: `Bearer ${token}` } });
      const sent = (await sentToken(request)) ?? { id: "", secretHash: "" };
      expect((await tokens.checkToken(sent)).kind).toBe("accepted");
      expect(await tokens.checkToken(sent)).toEqual({ kind: "too-many", retryAfterMs: 60_000 });
      now += 60_000;
      expect((await tokens.checkToken(sent)).kind).toBe("accepted");
      now += 600_000;
      expect(await tokens.checkToken(sent)).toEqual({ kind: "refused" });
      for (let made = 0; made < 200; made += 1) await tokens.create(asked);
      await expect(tokens.create(asked)).rejects.toMatchObject({ code: "tokens-too-many" });
    },
  );
});
