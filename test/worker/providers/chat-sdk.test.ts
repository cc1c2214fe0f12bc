import { createTelegramAdapter } from "@chat-adapter/telegram";
import { ConsoleLogger } from "chat";
import { describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../providers/chat-sdk/index.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import type { IncomingEvent, PlatformContext, ReceiveContext } from "../../../src/core/chat/messenger.ts";

const context: PlatformContext = {
  messengerId: "bot",
  deps: systemDeps,
  log: createLog(() => undefined),
  identity: () => Promise.reject(new Error("not needed")),
  root: <Calls extends object>() => ({}) as Calls,
};

describe("a Chat SDK adapter, in workerd", () => {
  it("stores each request's own events, also when many come at once", async () => {
    vi.stubGlobal("fetch", async () =>
      Response.json({ ok: true, result: { id: 700_001, username: "support_bot" } }),
    );
    const { platform } = chatSdkMessenger({
      adapter: createTelegramAdapter({
        botToken: "700001:AAE",
        secretToken: "s3cret",
        mode: "webhook",
        logger: new ConsoleLogger("silent"),
        userName: "support_bot",
      }),
      verifyWebhook: false,
    });
    const receive = async (id: number): Promise<{ status: number; accepted: IncomingEvent[] }> => {
      const accepted: IncomingEvent[] = [];
      const receiver: ReceiveContext = {
        accept: async (events) => {
          if (id === 3) throw new Error("full");
          accepted.push(...events);
        },
        ignore: () => undefined,
        findChat: () => undefined,
      };
      const request = new Request("https://bot.example/", {
        method: "POST",
        headers: { "X-Telegram-Bot-Api-Secret-Token": "s3cret" },
        body: JSON.stringify({
          update_id: id,
          message: {
            message_id: id,
            date: 1_800_000_000,
            chat: { id: 1, type: "private", first_name: "Ada" },
            from: { id: 1, is_bot: false, first_name: "Ada" },
            text: `text ${id}`,
          },
        }),
      });
      const { status } = await platform.receive(request, context, receiver);
      return { status, accepted };
    };
    const results = await Promise.all([1, 2, 3, 4, 5].map(receive));
    vi.unstubAllGlobals();
    expect(results.map(({ status }) => status)).toEqual([200, 200, 503, 200, 200]);
    const texts = await Promise.all(
      results
        .flatMap(({ accepted }) => accepted)
        .map(async (event) => (await platform.parse(event, context)).message?.text),
    );
    expect(texts).toEqual(["text 1", "text 2", "text 4", "text 5"]);
  });
});
