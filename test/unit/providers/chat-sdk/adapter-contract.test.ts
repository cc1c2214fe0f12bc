import type { Adapter, ChatInstance, WebhookOptions } from "chat";
import { getEmoji } from "chat";
import { describe, expect, it } from "vitest";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import { author, createMockRig, messageOf, workDone } from "./rig.ts";

const threadId = "slack:C1:1";

type Report = (chat: ChatInstance, options: WebhookOptions, adapter: Adapter) => unknown;

/** Every way in which an adapter hands an event to the SDK with options. */
const reports: Readonly<Record<string, Report>> = {
  processMessage: (chat, options, adapter) =>
    chat.processMessage(adapter, threadId, messageOf({ threadId }), options),
  processMessageUpdated: (chat, options, adapter) =>
    chat.processMessageUpdated({ adapter, message: messageOf({ threadId }), threadId }, options),
  processMessageDeleted: (chat, options, adapter) =>
    chat.processMessageDeleted(
      { adapter, channelId: "slack:C1", messageId: "1", raw: {}, threadId },
      options,
    ),
  processAction: (chat, options, adapter) =>
    chat.processAction(
      {
        adapter,
        actionId: "yes",
        messageId: "1",
        raw: { id: 1 },
        threadId,
        user: author,
      },
      options,
    ),
  processSlashCommand: (chat, options, adapter) =>
    chat.processSlashCommand(
      {
        adapter,
        channelId: "slack:C1",
        command: "/ask",
        raw: { id: 1 },
        text: "",
        user: author,
      },
      options,
    ),
  processReaction: (chat, options) =>
    chat.processReaction(
      {
        added: true,
        emoji: getEmoji("thumbs_up"),
        messageId: "1",
        raw: {},
        rawEmoji: "+1",
        threadId,
        user: author,
      },
      options,
    ),
};

describe("the SDK's contract with adapters", () => {
  it.each(Object.keys(reports))("hands the work of %s to waitUntil, done when it is stored", async (way) => {
    const steps: string[] = [];
    const rig = createMockRig((chat, adapter) => {
      const waitUntil = (task: Promise<unknown>) => void task.then(() => steps.push("done"));
      void reports[way]?.(chat, { waitUntil }, adapter);
      return new Response("ok");
    });
    let store: () => void = () => undefined;
    const stored = new Promise<void>((resolve) => (store = resolve)).then(() => void steps.push("stored"));
    const receiving = rig.receive(undefined, () => stored);
    await workDone();
    if (way !== "processReaction") expect(steps).toEqual([]);
    store();
    expect((await receiving).response.status).toBe(200);
    await workDone();
    expect(steps.filter((step) => step === "done")).toEqual(["done"]);
    if (way !== "processReaction") expect(steps).toEqual(["stored", "done"]);
  });

  it("hands waitUntil a task that never rejects, unless the adapter asks for failures", async () => {
    const seen: string[] = [];
    const watch = (name: string) => (task: Promise<unknown>) =>
      void task.then(
        () => seen.push(`${name} settled`),
        () => seen.push(`${name} rejected`),
      );
    const rig = createMockRig((chat, adapter) => {
      const message = messageOf({ threadId });
      void chat.processMessage(adapter, threadId, message, { waitUntil: watch("default") });
      const options = { waitUntil: watch("propagating"), propagateHandlerErrors: true };
      void chat.processMessage(adapter, threadId, message, options).catch(() => undefined);
      return new Response("ok");
    });
    const { response } = await rig.receive(undefined, () => Promise.reject(new Error("full")));
    expect(response.status).toBe(503);
    expect(seen.toSorted()).toEqual(["default settled", "propagating rejected"]);
  });

  // As @chat-adapter/teams does: it keeps the stream of a direct message open until the SDK's work is done.
  describe("with an adapter that waits for waitUntil before it answers a direct message", () => {
    const createTeams = () =>
      createMockRig(
        async (chat, adapter, _request, options) => {
          const done = Promise.withResolvers<void>();
          const message = messageOf({ threadId: "teams:a:1" });
          void chat.processMessage(adapter, "teams:a:1", message, {
            ...options,
            waitUntil: (task) => {
              options?.waitUntil?.(task);
              task.then(
                () => done.resolve(),
                () => done.resolve(),
              );
            },
          });
          await done.promise;
          return new Response(null, { status: 200 });
        },
        { isDM: () => true, channelIdFromThreadId: (id) => id },
        "teams",
      );

    it("answers 200 once the message is durable", async () => {
      const { response, accepted } = await createTeams().receive();
      expect(response.status).toBe(200);
      expect(accepted.map(({ key }) => key)).toEqual(["m:teams:a:1:1"]);
    });

    it("answers 503 when it cannot be stored (I1)", async () => {
      const { response } = await createTeams().receive(undefined, () => Promise.reject(new Error("full")));
      expect(response.status).toBe(503);
    });
  });

  it("stores the events of one request in the order in which they were reported (I3)", async () => {
    const loaded = Promise.withResolvers<void>();
    const rig = createMockRig((chat, adapter) => {
      const slow = async () => {
        await loaded.promise;
        return messageOf({ threadId, id: "1" });
      };
      void chat.processMessage(adapter, threadId, slow);
      void chat.processMessage(adapter, threadId, messageOf({ threadId, id: "2" }));
      return new Response("ok");
    });
    const receiving = rig.receive();
    await workDone();
    loaded.resolve();
    expect((await receiving).accepted.map(({ key }) => key)).toEqual(["m:slack:C1:1", "m:slack:C1:2"]);
  });

  it("stores the second event of a request when the first one cannot be read, and asks for both again", async () => {
    const rig = createMockRig((chat, adapter) => {
      void chat.processMessage(adapter, threadId, () => Promise.reject(new Error("timeout")));
      void chat.processMessage(adapter, threadId, messageOf({ threadId, id: "2" }));
      return new Response("ok");
    });
    const { response, accepted } = await rig.receive();
    expect(response.status).toBe(503);
    expect(accepted.map(({ key }) => key)).toEqual(["m:slack:C1:2"]);
  });

  it("answers 503 when the adapter never comes back from a request", async () => {
    const rig = createMockRig(() => new Promise<Response>(() => undefined));
    const receiving = rig.receive();
    await workDone();
    rig.fireTimers();
    expect((await receiving).response.status).toBe(503);
  });

  it("answers 503 while the adapter's initialize hangs, and tries again with the next request", async () => {
    let attempts = 0;
    let chat: ChatInstance | undefined;
    const rig = createMockRig(() => new Response("unused"), {
      initialize: (instance) => {
        attempts += 1;
        chat = instance;
        return attempts === 1 ? new Promise<void>(() => undefined) : Promise.resolve();
      },
      handleWebhook: async () => new Response(chat === undefined ? "no chat" : "ok"),
    });
    const receiving = rig.receive();
    await workDone();
    rig.fireTimers();
    expect((await receiving).response.status).toBe(503);
    expect((await rig.receive()).response.status).toBe(200);
  });
});

describe("an adapter whose package has a version of the SDK of its own", () => {
  /** Private fields make two classes differ that are written alike. */
  class OtherMessage {
    readonly #text: string;
    constructor(text: string) {
      this.#text = text;
    }
    get text(): string {
      return this.#text;
    }
  }

  it("is accepted as it is", () => {
    const adapter = {
      name: "slack",
      userName: "shop",
      handleWebhook: async (_request: Request) => new Response("ok"),
      postMessage: async (_threadId: string, message: OtherMessage) => ({ id: message.text, raw: {} }),
      fetchMessages: async () => ({ messages: [new OtherMessage("hello")] }),
    };
    expect(chatSdkMessenger({ adapter, verifyWebhook: false }).adapterName).toBe("slack");
  });
});

describe("an adapter that two objects share", () => {
  it("reports to the webhook that it handles, whichever object initialized it last", async () => {
    let chat: ChatInstance | undefined;
    const first = createMockRig(() => new Response("unused"), {
      initialize: async (instance) => void (chat = instance),
      handleWebhook: async () => {
        void chat?.processMessage(first.adapter, threadId, messageOf({ threadId }));
        return new Response("ok");
      },
    });
    const second = createMockRig(() => new Response("unused"), {
      initialize: (instance) => first.adapter.initialize(instance),
    });
    await first.platform.fetchIdentity(first.context, new AbortController().signal);
    await second.platform.fetchIdentity(second.context, new AbortController().signal);
    const { response, accepted } = await first.receive();
    expect(response.status).toBe(200);
    expect(accepted.map(({ key }) => key)).toEqual(["m:slack:C1:1"]);
  });
});

describe("events without a webhook to answer", () => {
  it("say in the log that they are lost", async () => {
    let chat: ChatInstance | undefined;
    const rig = createMockRig(() => new Response("unused"), {
      initialize: async (instance) => void (chat = instance),
    });
    await rig.platform.fetchIdentity(rig.context, new AbortController().signal);
    void chat?.processMessage(rig.adapter, threadId, messageOf({ threadId, text: "psst" }));
    await workDone();
    expect(rig.log.join()).toContain('"code":"chat-sdk-outside"');
    expect(rig.log.join()).not.toContain("psst");
  });

  it("say so when they are reported after the answer and cannot be stored", async () => {
    const answered = Promise.withResolvers<void>();
    const rig = createMockRig((chat, adapter) => {
      const report = () => chat.processMessage(adapter, threadId, messageOf({ threadId }));
      void answered.promise.then(report).catch(() => undefined);
      return new Response("ok");
    });
    await rig.receive(undefined, () => Promise.reject(new Error("full")));
    answered.resolve();
    await workDone();
    expect(rig.log.join()).toContain("after the answer");
  });
});
