import { createExecutionContext } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { createWorker } from "../../../src/index.ts";
import { telegramMessenger } from "../../../providers/telegram/index.ts";
import { testEnv } from "../test-env.ts";
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

  it("knows no other address, and only GET here", async () => {
    const ask = serve(createWorld());
    expect((await ask("/switchboard/else", ADMIN)).status).toBe(404);
    expect((await ask("/switchboard/bot", { ...ADMIN, method: "POST" })).status).toBe(405);
  });
});
