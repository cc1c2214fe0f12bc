import { createGoogleChatAdapter } from "@chat-adapter/gchat";
import { type ChatInstance, ConsoleLogger, getEmoji, type Logger } from "chat";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createSdkLogger } from "../../../../providers/chat-sdk/sdk-log.ts";
import { createPlatformContext } from "../platform-context.ts";
import { author, createMockRig, type Handle, messageOf } from "./rig.ts";

const threadId = "slack:C1:1";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("every event leaves one log line", () => {
  const base = { threadId, user: author, raw: {} };
  const view = { callbackId: "form", viewId: "V1", user: author, raw: {} };
  const cases: Readonly<Record<string, Handle>> = {
    reaction: (chat, adapter) => {
      const emoji = getEmoji("thumbs_up");
      void chat.processReaction({ ...base, adapter, added: true, emoji, messageId: "1", rawEmoji: "+1" });
      return new Response("ok");
    },
    "own message": (chat, adapter) => {
      void chat.processMessage(adapter, threadId, messageOf({ threadId, author: { ...author, isMe: true } }));
      return new Response("ok");
    },
    "press outside of a chat": (chat, adapter) => {
      const press = { ...base, adapter, threadId: "", actionId: "yes", messageId: "" };
      void chat.processAction(press, undefined);
      return new Response("ok");
    },
    "modal submitted": async (chat, adapter) => {
      await chat.processModalSubmit({ ...view, adapter, values: { note: "psst" } }, "ctx");
      return new Response("ok");
    },
    "modal closed": (chat, adapter) => {
      chat.processModalClose({ ...view, adapter }, "ctx");
      return new Response("ok");
    },
    "app home opened": (chat, adapter) => {
      chat.processAppHomeOpened({ adapter, channelId: "slack:D1", userId: "U1" });
      return new Response("ok");
    },
    "member joined": (chat, adapter) => {
      chat.processMemberJoinedChannel({ adapter, channelId: "slack:C1", userId: "U1" });
      return new Response("ok");
    },
    "assistant thread started": (chat, adapter) => {
      const context = {};
      const thread = { channelId: "D1", context, threadId: "slack:D1:1", threadTs: "1", userId: "U1" };
      chat.processAssistantThreadStarted({ adapter, ...thread });
      return new Response("ok");
    },
  };

  it.each(Object.keys(cases))("for: %s", async (kind) => {
    const rig = createMockRig(cases[kind] as Handle);
    const { response, ignored } = await rig.receive();
    expect(response.status).toBe(200);
    expect(ignored).toEqual([kind]);
    expect(rig.outcomes()).toEqual([`ignored: ${kind}`]);
    expect(rig.log).toHaveLength(1);
    expect(rig.log.join()).not.toContain("psst");
  });

  it("for a request of which the adapter reports nothing", async () => {
    const rig = createMockRig(() => new Response("ok"));
    await rig.receive();
    expect(rig.outcomes()).toEqual(["ignored: the adapter reported no event (answered 200)"]);
  });
});

describe("what adapters print (I10)", () => {
  const printing = (logger: Logger) => {
    const child = logger.child("deep");
    const parts = { bridge: { logger }, reader: { options: { logger: child } } };
    const closure = () => logger.warn("From a closure: psst");
    const own = { logger, ...parts };
    const rig = createMockRig(() => {
      const adapter = rig.adapter as unknown as typeof own;
      adapter.logger.error("Failed to send message to psst", { text: "psst" });
      adapter.bridge.logger.info("psst");
      adapter.reader.options.logger.warn("psst");
      adapter.logger.child("later").warn("psst");
      closure();
      return new Response("ok");
    }, own as object);
    return rig;
  };

  it("goes through our log without its content, from all parts of an adapter with the SDK's logger", async () => {
    const printed = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const infos = vi.spyOn(console, "info").mockImplementation(() => undefined);
    const rig = printing(new ConsoleLogger("info").child("slack"));
    await rig.receive();
    for (const spy of [printed, errors, infos]) expect(spy).not.toHaveBeenCalled();
    expect(rig.log.join()).toContain('"about":"failed to send message to …"');
    expect(rig.log.join()).not.toContain("psst");
  });

  it("goes through our log also where the bot gave the adapter a logger of its own", async () => {
    const lines: unknown[] = [];
    const write = (...words: unknown[]) => void lines.push(words);
    const custom: Logger = { child: () => custom, debug: write, info: write, warn: write, error: write };
    const rig = createMockRig(
      () => {
        (rig.adapter as unknown as { readonly logger: Logger }).logger.error("psst");
        return new Response("ok");
      },
      { logger: custom } as object,
    );
    await rig.receive();
    expect(lines).toEqual([]);
    expect(rig.log.join()).not.toContain("psst");
  });

  it("goes through our log where the adapter asks the SDK for a logger", async () => {
    const rig = createMockRig((chat) => {
      chat.getLogger("slack").error("Failed to verify token xoxb-psst", { token: "xoxb-psst" });
      return new Response("ok");
    });
    await rig.receive();
    expect(rig.log.join()).toContain('"about":"failed to verify token …"');
    expect(rig.log.join()).not.toContain("psst");
  });

  it("survives an adapter whose parts refer to each other, throw when they are read, or cannot be changed", async () => {
    const loop: Record<string, unknown> = { logger: new ConsoleLogger("silent") };
    loop.self = loop;
    Object.defineProperty(loop, "late", {
      enumerable: true,
      get: () => {
        throw new Error("not yet");
      },
    });
    const frozen = Object.freeze({ logger: Object.freeze(new ConsoleLogger("silent")) });
    const closed = new Proxy({}, { ownKeys: () => [][1] as never });
    const rig = createMockRig(() => new Response("ok"), { loop, frozen, closed } as object);
    expect((await rig.receive()).response.status).toBe(200);
  });

  it.each([
    ["Could not send: my password is hunter", "could not send … is …"],
    ["hunter2", undefined],
    ["", undefined],
    [42, undefined],
  ])("keeps of %j only technical words", (line, about) => {
    const { context, log } = createPlatformContext({});
    createSdkLogger(context.log, "slack").error(line as string);
    expect(JSON.parse(log[0] ?? "")).toEqual({
      time: expect.any(String) as unknown,
      level: "error",
      event: "chat-sdk.error",
      provider: "slack",
      ...(about === undefined ? {} : { about }),
    });
  });

  it("leave out what needs nothing of the owner", async () => {
    const { context, log } = createPlatformContext({});
    const logger = createSdkLogger(context.log, "gchat");
    const credentials = { client_email: "bot@example.org", private_key: "key" };
    const adapter = createGoogleChatAdapter({ credentials, googleChatProjectNumber: "1", logger });
    await adapter.initialize({ getState: () => ({}) } as unknown as ChatInstance);
    expect(log).toEqual([]);
  });
});
