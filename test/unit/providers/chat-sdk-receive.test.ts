import { createMockAdapter, createTestMessage } from "@chat-adapter/tests";
import type { Adapter, ChatInstance, WebhookOptions } from "chat";
import { describe, expect, it } from "vitest";
import { chatSdkMessenger, type ChatSdkMessengerOptions } from "../../../providers/chat-sdk/index.ts";
import { errorCode } from "../../../src/core/base/errors.ts";
import { createPlatformContext, createReceiver, throughStorage } from "./platform-context.ts";

const author = { userId: "U1", userName: "ada", fullName: "Ada", isBot: false, isMe: false } as const;
const threadId = "slack:C1:1";
const metadata = { dateSent: new Date(1_800_000_000_000), edited: false };

type Webhook = (
  chat: ChatInstance,
  adapter: Adapter,
  options: WebhookOptions | undefined,
) => Response | Promise<Response>;

/** A messenger over the mock adapter, whose webhook does what the test says. */
function createRig(webhook: Webhook, overrides: Partial<Adapter> = {}) {
  let chat: ChatInstance | undefined;
  const adapter: Adapter = createMockAdapter("slack", {
    initialize: async (instance) => void (chat = instance),
    handleWebhook: async (_request, options) => {
      if (chat === undefined) throw new Error("not initialized");
      return webhook(chat, adapter, options);
    },
    ...overrides,
  });
  const { platform } = chatSdkMessenger({ adapter, verifyWebhook: false });
  const { context, log, fireTimers } = createPlatformContext({});
  const receive = async (durable?: () => Promise<void>) => {
    const receiver = createReceiver(durable);
    const request = new Request("https://bot.example/", { method: "POST", body: "{}" });
    const response = await platform.receive(request, context, receiver);
    return { response, accepted: receiver.accepted, ignored: receiver.ignored };
  };
  return { platform, context, adapter, log, fireTimers, receive };
}

const message = (overrides: object = {}) =>
  createTestMessage("1", "hello", { threadId, author, metadata, raw: { ts: "1" }, ...overrides });

describe("what an adapter reports", () => {
  it("reaches the inbox through the deprecated way in too", async () => {
    const { receive } = createRig((chat, adapter) => {
      // oxlint-disable-next-line typescript/no-deprecated -- adapters written for older versions call it
      void chat.handleIncomingMessage(adapter, threadId, message());
      return new Response("ok");
    });
    expect((await receive()).accepted.map((event) => event.key)).toEqual(["m:slack:C1:1"]);
  });

  it("reaches the inbox when it is reported from background work", async () => {
    const { receive } = createRig((chat, adapter, options) => {
      const later = async () => {
        await new Promise((resolve) => setImmediate(resolve));
        await chat.processMessage(adapter, threadId, message(), options);
      };
      options?.waitUntil?.(later());
      return new Response("ok");
    });
    expect((await receive()).accepted).toHaveLength(1);
  });

  it("stores several events of one request, and none of the bot's own", async () => {
    const { receive } = createRig((chat, adapter) => {
      void chat.processMessage(adapter, threadId, message());
      void chat.processMessage(adapter, threadId, message({ id: "2", author: { ...author, isMe: true } }));
      void chat.processMessage(adapter, threadId, message({ id: "3" }));
      return new Response("ok");
    });
    const { accepted, ignored } = await receive();
    expect(accepted.map((event) => event.key)).toEqual(["m:slack:C1:1", "m:slack:C1:3"]);
    expect(ignored).toEqual(["own message"]);
  });

  it("records a deletion", async () => {
    const { receive, platform, context } = createRig((chat, adapter) => {
      void chat.processMessageDeleted({ adapter, channelId: "slack:C1", messageId: "1", raw: {}, threadId });
      return new Response("ok");
    });
    const { accepted } = await receive();
    const [incoming] = throughStorage(accepted);
    expect(incoming?.key).toBe("d:slack:C1:1");
    if (incoming === undefined) return;
    expect(await platform.parse(incoming, context)).toMatchObject({
      kind: "message-deleted",
      message: { id: "1" },
    });
  });

  it("tells two edits apart on a platform that does not say when they were made", async () => {
    let text = "one";
    const { receive } = createRig((chat, adapter) => {
      void chat.processMessageUpdated({ adapter, message: message({ text }), threadId });
      return new Response("ok");
    });
    const first = await receive();
    text = "two";
    const second = await receive();
    const again = await receive();
    expect(first.accepted[0]?.key).not.toBe(second.accepted[0]?.key);
    expect(again.accepted[0]?.key).toBe(second.accepted[0]?.key);
  });

  it("survives an object of the platform that JSON cannot hold", async () => {
    const raw: Record<string, unknown> = {};
    raw.self = raw;
    const { receive } = createRig((chat, adapter) => {
      void chat.processMessage(adapter, threadId, message({ raw }));
      return new Response("ok");
    });
    const { accepted, response } = await receive();
    expect(response.status).toBe(200);
    expect(throughStorage(accepted)).toHaveLength(1);
  });

  it("stores no rendered tree of the message", async () => {
    const { receive } = createRig((chat, adapter) => {
      void chat.processMessage(adapter, threadId, message({ text: "**bold** and more" }));
      return new Response("ok");
    });
    expect(JSON.stringify((await receive()).accepted)).not.toContain("children");
  });

  it("quotes the message that is answered", async () => {
    const replyTo = message({ id: "0", text: "mine", author: { ...author, isMe: true } });
    const { receive, platform, context } = createRig((chat, adapter) => {
      void chat.processMessage(adapter, threadId, message({ replyTo }));
      return new Response("ok");
    });
    const [incoming] = throughStorage((await receive()).accepted);
    if (incoming === undefined) throw new Error("nothing was stored");
    expect((await platform.parse(incoming, context)).message?.quoted).toMatchObject({
      id: "0",
      text: "mine",
      isFromBot: true,
    });
  });
});

describe("what goes wrong", () => {
  it("answers as the adapter does when it refuses a request", async () => {
    const { receive } = createRig(() => new Response("bad signature", { status: 401 }));
    expect((await receive()).response.status).toBe(401);
  });

  it("answers 503 when the adapter throws", async () => {
    const { receive, log } = createRig(() => {
      throw new Error("xoxb-secret");
    });
    const { response } = await receive();
    expect(response.status).toBe(503);
    expect(`${await response.text()}${log.join()}`).not.toContain("xoxb");
  });

  it("answers 503 when a message that the adapter still loads cannot be loaded", async () => {
    const { receive } = createRig((chat, adapter) => {
      void chat.processMessage(adapter, threadId, () => Promise.reject(new Error("timeout")));
      return new Response("ok");
    });
    expect((await receive()).response.status).toBe(503);
  });

  it("answers 503 while the adapter cannot be initialized, and tries again", async () => {
    let failures = 1;
    let chat: ChatInstance | undefined;
    const { receive } = createRig(() => new Response("unused"), {
      initialize: async (instance) => {
        failures -= 1;
        if (failures >= 0) throw new Error("platform is down");
        chat = instance;
      },
      handleWebhook: async () => new Response(chat === undefined ? "no chat" : "ok"),
    });
    expect((await receive()).response.status).toBe(503);
    const { response } = await receive();
    expect([response.status, await response.text()]).toEqual([200, "ok"]);
  });

  it("answers 503 when an adapter's work takes too long: it may still report a message (I1)", async () => {
    const { receive, fireTimers, log } = createRig((_chat, _adapter, options) => {
      options?.waitUntil?.(new Promise(() => undefined));
      return new Response("ok");
    });
    const receiving = receive();
    await turns();
    fireTimers();
    expect((await receiving).response.status).toBe(503);
    expect(log.join()).toContain("chat-sdk.background-slow");
  });

  it("answers 503 when an event is still not durable by then", async () => {
    const { receive, fireTimers } = createRig((chat, adapter) => {
      void chat.processMessage(adapter, threadId, message());
      return new Response("ok");
    });
    const receiving = receive(() => new Promise(() => undefined));
    await turns();
    fireTimers();
    expect((await receiving).response.status).toBe(503);
  });

  it("does not care for background work that fails when the events are durable", async () => {
    const { receive } = createRig((chat, adapter, options) => {
      options?.waitUntil?.(Promise.reject(new Error("typing failed")));
      void chat.processMessage(adapter, threadId, message());
      return new Response("ok");
    });
    expect((await receive()).response.status).toBe(200);
  });
});

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("options", () => {
  it.each([
    [{ verifyWebhook: false }, "chat-sdk-adapter-missing", "createSlackAdapter"],
    [{ adapter: createMockAdapter() }, "chat-sdk-verification-missing", "verifyWebhook"],
    [{ adapter: createMockAdapter(), verifyWebhook: true }, "chat-sdk-verification-missing", "verifyWebhook"],
    [
      { adapter: createMockAdapter(), verifyWebhook: false, capabilities: { maxMessageLength: 0 } },
      "chat-sdk-capabilities",
      "above 0",
    ],
    [
      { adapter: createMockAdapter(), verifyWebhook: false, attachmentHost: ["x.example"] },
      "messenger-option-invalid",
      'attachmentHost of chatSdkMessenger does not exist. Did you mean "attachmentHosts"?',
    ],
    [
      { adapter: createMockAdapter(), verifyWebhook: false, capabilities: { canEdit: false } },
      "messenger-option-invalid",
      "capabilities.canEdit of chatSdkMessenger does not exist.",
    ],
  ])("says how to fix %#", (options, code, fix) => {
    let thrown: unknown;
    try {
      chatSdkMessenger(options as ChatSdkMessengerOptions);
    } catch (error) {
      thrown = error;
    }
    expect(errorCode(thrown)).toBe(code);
    expect((thrown as Error).message).toContain(fix);
  });

  it("hands on what every messenger understands, and names the adapter", () => {
    const definition = chatSdkMessenger({
      adapter: createMockAdapter("discord"),
      verifyWebhook: false,
      respondTo: ["mention"],
    });
    expect(Object.keys(definition).sort()).toEqual(["adapterName", "platform", "respondTo", "verifyWebhook"]);
    expect(definition).toMatchObject({ adapterName: "discord", platform: { provider: "discord" } });
  });

  it("makes no call and no SDK object when it is built", () => {
    let calls = 0;
    const adapter = createMockAdapter("slack", { initialize: async () => void (calls += 1) });
    chatSdkMessenger({ adapter, verifyWebhook: false });
    expect(calls).toBe(0);
  });
});
