import { createExecutionContext } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { createWorker } from "../../../src/index.ts";
import { createWorld } from "../support/world.ts";
import { testEnv } from "../test-env.ts";
import { ScriptedBot } from "../worker.ts";

/** What the runtime's console got during the test, as text. */
function captureConsole(): () => string {
  const written: string[] = [];
  const take = (...values: unknown[]): void => {
    written.push(
      ...values.map((value) => (value instanceof Error ? String(value.stack) : JSON.stringify(value))),
    );
  };
  for (const level of ["log", "warn", "error"] as const) vi.spyOn(console, level).mockImplementation(take);
  return () => written.join("\n");
}

async function request(root: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
  const worker = createWorker(ScriptedBot, { root, authorize: () => true });
  if (worker.fetch === undefined) throw new Error("createWorker() made no fetch handler");
  const incoming = new Request(`https://bot.example${path}`, { headers });
  return worker.fetch(incoming as Parameters<typeof worker.fetch>[0], testEnv, createExecutionContext());
}

describe("headers by which objects speak among themselves", () => {
  it.each(["/", "/agents/scripted-bot/ROOT"])("does not take them from a request to %s", async (path) => {
    const log = captureConsole();
    const seen: (string | null)[] = [];
    const world = createWorld({
      onRequest: (incoming) => {
        for (const name of incoming.headers.keys()) seen.push(name);
        return new Response("the bot's own page");
      },
    });
    const response = await request(world.root, path.replace("ROOT", world.root), {
      "x-agents-lifecycle-props": '{"not json',
      "x-cf-agents-subagent-url": "https://elsewhere.example/",
      "x-harmless": "1",
    });
    expect([response.status, await response.text()]).toEqual([200, "the bot's own page"]);
    expect(seen).toContain("x-harmless");
    expect(seen.filter((name) => name?.includes("agents"))).toEqual([]);
    expect(log()).toBe("");
  });
});

describe("an object that the bot's own code keeps from starting", () => {
  const fail = (): never => {
    throw new Error("EXCEPTION-DETAIL\n    at what somebody wrote");
  };
  const isSilent = (text: string): void => {
    expect(text).not.toMatch(/EXCEPTION-DETAIL|somebody wrote|\.[jt]s:\d|node_modules/);
  };

  it("says nothing of the error to a request, and answers when it can start", async () => {
    const log = captureConsole();
    let isBroken = true;
    const world = createWorld({
      onStart: () => (isBroken ? fail() : undefined),
      onRequest: () => new Response("the bot's own page"),
    });
    const response = await request(world.root, "/page");
    expect(response.status).toBe(500);
    isSilent(await response.text());
    expect(log()).toContain('\\"event\\":\\"bot.failed\\",\\"method\\":\\"onStart\\"');
    expect(log()).not.toMatch(/EXCEPTION-DETAIL|somebody wrote/);
    isBroken = false;
    expect(await (await request(world.root, "/page")).text()).toBe("the bot's own page");
  });

  it.each([
    ["onStart", { onStart: fail }],
    ["onConnect", { onConnect: fail }],
    ["getConnectionTags", { connectionTags: fail }],
  ])("says nothing of the error to a socket when %s throws", async (method, options) => {
    const log = captureConsole();
    const world = createWorld(options);
    const response = await request(world.root, "/", { upgrade: "websocket" });
    const socket = response.webSocket;
    const heard: string[] = [];
    if (socket) {
      const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
      socket.addEventListener("message", ({ data }) => heard.push(String(data)));
      socket.accept();
      await closed;
    } else heard.push(await response.text());
    isSilent(heard.join("\n"));
    expect(log()).toContain(`\\"method\\":\\"${method}\\"`);
    expect(log()).not.toMatch(/EXCEPTION-DETAIL|somebody wrote/);
  });
});

describe("a request on which the bot's own code fails", () => {
  it("says nothing of the error, neither in the answer nor in the log", async () => {
    const log = captureConsole();
    const world = createWorld({
      onRequest: () => {
        throw new Error("EXCEPTION-DETAIL\n    at what somebody wrote");
      },
    });
    const response = await request(world.root, "/page");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toMatch(/EXCEPTION-DETAIL|somebody wrote|\bat /);
    expect(log()).toContain("bot.failed");
    expect(log()).not.toMatch(/EXCEPTION-DETAIL|somebody wrote/);
  });
});
