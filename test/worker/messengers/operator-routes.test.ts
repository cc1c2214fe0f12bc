import { createExecutionContext, evictDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { createWorker } from "../../../src/index.ts";
import { telegramMessenger } from "../../../providers/telegram/index.ts";
import { testEnv } from "../test-env.ts";
import { echo } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { ScriptedBot } from "../worker.ts";

const ADMIN = { headers: { authorization: "Bearer of-the-operator" } };

function serve(world: World, adminToken: string | undefined = "of-the-operator") {
  const worker = createWorker<object>(ScriptedBot, { root: world.root, authorize: () => true });
  return async (path: string, init?: RequestInit): Promise<Response> => {
    const request = new Request(`https://bot.example${path}`, init) as never;
    const response = await worker.fetch?.(
      request,
      { ...testEnv, ADMIN_TOKEN: adminToken },
      createExecutionContext(),
    );
    if (response === undefined) throw new Error("no response");
    return response;
  };
}

describe("what the operator asks", () => {
  it("gets the messengers with their paths, the updates that the bot handles and its menu", async () => {
    const world = createWorld({
      commands: { hours: { description: "When we are open", handler: () => "9 to 5" } },
      messengers: () => ({
        news: telegramMessenger({ token: "12:abc", secretToken: "s", reactions: true, path: "/hooks/news" }),
      }),
    });
    const response = await serve(world)("/switchboard/bot", ADMIN);
    expect(response.status).toBe(200);
    const body = await response.text();
    expect(JSON.parse(body)).toEqual({
      agent: "ScriptedBot",
      model: expect.any(String),
      messengers: [
        {
          id: "news",
          provider: "telegram",
          path: "/hooks/news",
          updates: [
            "message",
            "edited_message",
            "channel_post",
            "edited_channel_post",
            "callback_query",
            "my_chat_member",
            "stopped_message_generation",
            "message_reaction",
          ],
          commands: expect.arrayContaining([{ name: "hours", description: "When we are open" }]),
        },
      ],
    });
    expect(body).not.toContain("12:abc");
  });

  it.each([
    ["without the token", {}, "of-the-operator"],
    ["with another token", { headers: { authorization: "Bearer wrong" } }, "of-the-operator"],
    ["of a bot without ADMIN_TOKEN", { headers: { authorization: "Bearer " } }, ""],
  ])("refuses a request %s, whatever `authorize` says", async (_how, init, adminToken) => {
    const response = await serve(createWorld(), adminToken)("/switchboard/bot", init);
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain("provider");
  });

  it("gets the figures of all conversations together, for which no object makes a call", async () => {
    const inner = vi.spyOn(ScriptedBot.prototype, "inner");
    const world = createWorld();
    const ask = serve(world);
    for (const chat of ["c1", "c2"]) {
      await world.post({ id: chat, chat, user: "ada", text: "Hello" });
      await world.shows(chat, "You said: Hello");
    }
    await vi.waitFor(async () => {
      const response = await ask("/metrics", ADMIN);
      expect(response.headers.get("content-type")).toContain("text/plain");
      const text = await response.text();
      expect(text).toContain('switchboard_turns_total{outcome="done"} 2\n');
      expect(text).toContain('switchboard_webhook_seconds_count{status="200"} 2\n');
      expect(text).toContain("switchboard_conversations 2\n");
      expect(text).toContain("switchboard_ready 1\n");
      expect(text).toMatch(/switchboard_platform_calls_total\{purpose="(?:post|final)"\} [12]\n/);
    });
    // They came with the calls of any bot. Only the scrape itself is one more.
    const methods = new Set(inner.mock.calls.map(([method]) => method));
    expect([...methods].filter((method) => /figure|metric/.test(method))).toEqual(["bot.metrics"]);
    inner.mockRestore();
  });

  it("still gets them after the idle root has left the memory", async () => {
    const world = createWorld();
    const ask = serve(world);
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    const done = 'switchboard_turns_total{outcome="done"} 1\n';
    await vi.waitFor(async () => expect(await (await ask("/metrics", ADMIN)).text()).toContain(done));
    await evictDurableObject(world.stub);
    expect(await (await ask("/metrics", ADMIN)).text()).toContain(done);
  });

  it("warns in /health of a model that fails, until it works again", async () => {
    let isAway = true;
    const world = createWorld({
      settings: { modelPatienceMs: 0 },
      script: (request) => {
        if (isAway) throw Object.assign(new Error("words of the provider"), { statusCode: 401 });
        return echo(request);
      },
    });
    const ask = serve(world);
    await world.post({ id: "1", chat: "c1", user: "ada", text: "Hello" });
    const health = async (): Promise<unknown> => (await ask("/health")).json();
    await vi.waitFor(async () =>
      expect(await health()).toEqual({
        status: "ok",
        agent: "ScriptedBot",
        warnings: [{ code: expect.stringMatching(/^model-/), message: expect.stringContaining("failed at") }],
      }),
    );
    expect(JSON.stringify(await health())).not.toContain("words of the provider");
    isAway = false;
    await world.post({ id: "2", chat: "c1", user: "ada", text: "Again" });
    await vi.waitFor(async () => expect(await health()).toEqual({ status: "ok", agent: "ScriptedBot" }));
  });

  it("gets no figures without the token", async () => {
    expect((await serve(createWorld())("/metrics")).status).toBe(401);
  });

  it("knows no other address, and only GET here", async () => {
    const ask = serve(createWorld());
    expect((await ask("/switchboard/else", ADMIN)).status).toBe(404);
    expect((await ask("/switchboard/bot", { ...ADMIN, method: "POST" })).status).toBe(405);
  });
});
