import { createWhatsAppAdapter } from "@chat-adapter/whatsapp";
import type { Adapter, ChatInstance } from "chat";
import { describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../providers/chat-sdk/index.ts";
import type { MessengerOptions } from "../../../src/core/chat/messenger.ts";
import { createFakeAdapter, sdkMessage, type FakeAdapterWorld } from "../support/fake-adapter.ts";
import { captureLog } from "../support/log-lines.ts";
import { createWorld, type World } from "../support/world.ts";

const post = (world: World, path: string, body: object): Promise<Response> =>
  world.fetch(`/messengers/${path}/webhook`, { method: "POST", body: JSON.stringify(body) });

function createBot(
  name: string,
  handle: FakeAdapterWorld["handle"],
  options: Partial<MessengerOptions> = {},
) {
  const shown: string[] = [];
  const world = createWorld({
    messengers: () => ({
      [name]: chatSdkMessenger({
        adapter: createFakeAdapter(name, { shown, handle }),
        verifyWebhook: false,
        burstMs: 0,
        channelSpeakerLabel: false,
        ...options,
      }),
    }),
  });
  const shows = (...texts: readonly string[]) =>
    vi.waitFor(() => expect(shown).toEqual(texts), { timeout: 8000 });
  return { world, shows };
}

/** What @chat-adapter/github makes of a comment in a review, which a reviewer writes first and submits later. */
interface ReviewComment {
  readonly action: "created";
  readonly comment: {
    readonly id: number;
    readonly body: string;
    readonly created_at: string;
    readonly updated_at: string;
    readonly user: { readonly id: number; readonly login: string; readonly type: "User" };
  };
  readonly pull_request: { readonly number: number };
  readonly repository: { readonly full_name: string };
}

const reviewComment = (id: number, body: string, updatedAt = "2026-11-20T10:05:00Z"): ReviewComment => ({
  action: "created",
  comment: {
    id,
    body,
    created_at: "2026-11-20T10:00:00Z",
    updated_at: updatedAt,
    user: { id: 1, login: "ada", type: "User" },
  },
  pull_request: { number: 12 },
  repository: { full_name: "shop/web" },
});

const handleReview: FakeAdapterWorld["handle"] = (chat, adapter, body, options) => {
  const { comment, pull_request: pull } = body as ReviewComment;
  const threadId = `github:shop/web:${pull.number}:rc:7`;
  const message = sdkMessage({
    id: String(comment.id),
    text: comment.body,
    threadId,
    raw: comment,
    metadata: {
      dateSent: new Date(comment.created_at),
      edited: comment.created_at !== comment.updated_at,
      editedAt: new Date(comment.updated_at),
    },
  });
  void chat.processMessage(adapter, threadId, message, options);
  return new Response("ok");
};

describe("a new message that its platform marks as edited", () => {
  it("is answered, once, however often it is delivered", async () => {
    const { world, shows } = createBot("github", handleReview, { rerunOnEdit: true });
    const log = captureLog();
    const comment = reviewComment(70, "@shop-bot is this safe?");
    expect((await post(world, "github", comment)).status).toBe(200);
    await shows("You said: @\u200bshop-bot is this safe?");
    expect((await post(world, "github", comment)).status).toBe(200);
    await vi.waitFor(() =>
      expect(log.filter(({ event }) => event === "inbox.event").map(({ outcome }) => outcome)).toEqual([
        "queued",
        "known already",
      ]),
    );
    expect(log.filter(({ event }) => event === "turn.begun")).toHaveLength(1);
    await shows("You said: @\u200bshop-bot is this safe?");
  });

  it("has its own later edits taken as edits", async () => {
    const { world, shows } = createBot("github", handleReview, { rerunOnEdit: true });
    await post(world, "github", reviewComment(70, "@shop-bot one?"));
    await shows("You said: @\u200bshop-bot one?");
    const edited = reviewComment(70, "@shop-bot two?", "2026-11-20T10:09:00Z");
    expect((await post(world, "github", edited)).status).toBe(200);
    await shows("You said: @\u200bshop-bot two?");
  });
});

describe("a slash command in a channel", () => {
  const handle: FakeAdapterWorld["handle"] = (chat, adapter, body, options) => {
    const { command, text, trigger_id: triggerId } = body as Record<string, string>;
    const user = { userId: "1", userName: "ada", fullName: "Ada", isBot: false, isMe: false };
    const event = { adapter, channelId: "slack:C1", command: command ?? "", text: text ?? "", user };
    void chat.processSlashCommand({ ...event, raw: body, ...(triggerId ? { triggerId } : {}) }, options);
    return new Response("");
  };

  it("is a question to the bot where the bot does not know it", async () => {
    const { world, shows } = createBot("slack", handle);
    const command = { command: "/deploy", text: "the shop", trigger_id: "T1" };
    expect((await post(world, "slack", command)).status).toBe(200);
    await shows("You said: /deploy the shop");
  });

  it("does not make the bot answer what people say to each other there", async () => {
    const { world, shows } = createBot(
      "slack",
      (chat, adapter, body, options) => {
        const { id, text } = body as Record<string, string>;
        if (!id) return handle(chat, adapter, body, options);
        const message = sdkMessage({
          id,
          text: text ?? "",
          threadId: "slack:C1",
          isMention: false,
          raw: body,
        });
        void chat.processMessage(adapter, "slack:C1", message, options);
        return new Response("");
      },
      { respondTo: ["mention", "subscribed-thread"] },
    );
    const log = captureLog();
    await post(world, "slack", { command: "/deploy", text: "the shop", trigger_id: "T1" });
    await shows("You said: /deploy the shop");
    await post(world, "slack", { id: "2", text: "Lunch?" });
    await vi.waitFor(() =>
      expect(log.filter(({ event }) => event === "inbox.event").map(({ outcome }) => outcome)).toEqual([
        "queued",
        "ignored: no mention, thread not subscribed",
      ]),
    );
    await shows("You said: /deploy the shop");
  });
});

describe("a deferred command of Discord", () => {
  const handle: FakeAdapterWorld["handle"] = (chat, adapter, body, options) => {
    const user = { userId: "1", userName: "ada", fullName: "Ada", isBot: false, isMe: false };
    const { id, name } = body as { readonly id: string; readonly name: string };
    const event = { adapter, channelId: "discord:1:2", command: `/${name}`, text: "", user, triggerId: id };
    void chat.processSlashCommand({ ...event, raw: body }, options);
    return Response.json({ type: 5 });
  };

  it.each<[string, string, Partial<MessengerOptions>]>([
    ["nothing answers", "quiet", {}],
    ["the bot ignores", "other", { respondTo: ["direct-message"] }],
  ])("that %s loses its placeholder", async (_case, name, options) => {
    const world = createWorld({
      commands: { quiet: { description: "Does something", handler: () => undefined } },
      messengers: () => ({
        discord: chatSdkMessenger({
          adapter: Object.assign(createFakeAdapter("discord", { shown: [], handle }), {
            apiBaseUrl: "https://discord.test",
            applicationId: "100",
            buildMessagePayload: () => ({}),
          }),
          verifyWebhook: false,
          ...options,
        }),
      }),
    });
    const calls: string[] = [];
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      calls.push(`${init?.method} ${input instanceof Request ? input.url : input.toString()}`);
      return new Response(null, { status: 204 });
    });
    await post(world, "discord", { id: "555", token: "t0ken", name });
    await vi.waitFor(
      () => expect(calls).toEqual(["DELETE https://discord.test/webhooks/100/t0ken/messages/@original"]),
      { timeout: 8000 },
    );
  });
});

describe("a messenger that is made at the top of the bot's module", () => {
  it("works in each object with the adapter's state of that object", async () => {
    const shown: string[] = [];
    const seen: unknown[] = [];
    let chat: ChatInstance | undefined;
    const base = createFakeAdapter("slack", {
      shown,
      async handle(instance, own, body, options) {
        const { id, text } = body as { readonly id: string; readonly text: string };
        await instance.getState().set(`last:${id}`, text);
        const message = sdkMessage({ id, text, threadId: `slack:C${id}:1`, isMention: true, raw: body });
        void instance.processMessage(own, `slack:C${id}:1`, message, options);
        return new Response("");
      },
    });
    const adapter: Adapter = {
      ...base,
      async initialize(instance) {
        chat = instance;
        await base.initialize(instance);
      },
      async postMessage(threadId, message) {
        const [, channel = ""] = threadId.split(":");
        const state = chat?.getState();
        seen.push(await state?.get(`last:${channel.slice(1)}`));
        await state?.set(`posted:${channel}`, threadId);
        return base.postMessage(threadId, message);
      },
    };
    const slack = chatSdkMessenger({ adapter, verifyWebhook: false, burstMs: 0, channelSpeakerLabel: false });
    const world = createWorld({ messengers: () => ({ slack }) });
    for (const [id, text] of [
      ["1", "One"],
      ["2", "Two"],
      ["3", "Three"],
    ] as const) {
      expect((await post(world, "slack", { id, text })).status).toBe(200);
      await vi.waitFor(() => expect(shown.at(-1)).toBe(`You said: ${text}`), { timeout: 8000 });
    }
    expect(seen).toEqual(["One", "Two", "Three"]);
  });
});

describe("a webhook that its platform checks with a GET request", () => {
  const query = "?hub.mode=subscribe&hub.verify_token=verify-t0ken&hub.challenge=1158201444";
  const path = "/messengers/whatsapp/webhook";
  const createWhatsApp = (verifyWebhook: MessengerOptions["verifyWebhook"]) => {
    const adapter: Adapter = createWhatsAppAdapter({
      accessToken: "EAAG",
      appSecret: "s3cret",
      phoneNumberId: "106540352242922",
      verifyToken: "verify-t0ken",
    });
    return createWorld({
      messengers: () => ({ whatsapp: chatSdkMessenger({ adapter, verifyWebhook: verifyWebhook ?? false }) }),
    });
  };

  it("answers as the adapter does", async () => {
    const world = createWhatsApp(false);
    const answer = await world.fetch(`${path}${query}`);
    expect([answer.status, await answer.text()]).toEqual([200, "1158201444"]);
    expect((await world.fetch(`${path}?hub.mode=subscribe&hub.verify_token=guess`)).status).toBe(403);
    expect(await world.stub.listConversations()).toEqual([]);
  });

  it("has the bot's own verification asked first", async () => {
    const refusing = createWhatsApp(({ method }) => method !== "GET");
    expect((await refusing.fetch(`${path}${query}`)).status).toBe(401);
    const allowing = createWhatsApp((request) => new URL(request.url).searchParams.has("hub.mode"));
    expect((await allowing.fetch(`${path}${query}`)).status).toBe(200);
  });

  it("says what is allowed for every other method, and where the adapter has no handshakes", async () => {
    const put = await createWhatsApp(false).fetch(path, { method: "PUT", body: "{}" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, POST"]);
    const { world } = createBot("slack", () => new Response("ok"));
    const get = await world.fetch("/messengers/slack/webhook?challenge=1");
    expect([get.status, get.headers.get("allow")]).toEqual([405, "GET, POST"]);
  });
});

describe("an adapter that waits for waitUntil before it answers", () => {
  it("gets its message stored, answered, and its webhook answered", async () => {
    const { world, shows } = createBot("teams", async (chat, adapter, body, options) => {
      const { id, text } = body as { readonly id: string; readonly text: string };
      const done = Promise.withResolvers<void>();
      const message = sdkMessage({ id, text, threadId: "teams:a:1", isMention: true, raw: body });
      void chat.processMessage(adapter, "teams:a:1", message, {
        ...options,
        waitUntil: (task) => void task.finally(() => done.resolve()),
      });
      await done.promise;
      return new Response(null, { status: 200 });
    });
    expect((await post(world, "teams", { id: "1", text: "Hello" })).status).toBe(200);
    await shows("You said: Hello");
  });
});
