import { afterAll, beforeAll, vi } from "vitest";
import { createMockAdapter, createTestMessage, mockLogger } from "@chat-adapter/tests";
import { createTelegramAdapter } from "@chat-adapter/telegram";
import { type Adapter, type ChatInstance, getEmoji, type MessageData } from "chat";
import { chatSdkMessenger } from "../../../providers/chat-sdk/index.ts";
import { telegramMessenger } from "../../../providers/telegram/index.ts";
import { createFakeBotApi, refusal } from "./fake-bot-api.ts";
import { createPlatformContext } from "./platform-context.ts";
import { describeProvider, type PlatformRequests, type ProviderRig } from "./provider-contract.ts";
import { ada, forum, message, privateChat, token, update } from "./telegram-updates.ts";

const secretToken = "s3cret";

function telegramRequest(body: object): Request {
  return new Request("https://bot.example/webhook", {
    method: "POST",
    headers: { "X-Telegram-Bot-Api-Secret-Token": secretToken, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** The same updates, for our own provider and for the Chat SDK's adapter. */
const telegramRequests: PlatformRequests = {
  direct: (text, id = 1) => telegramRequest(update({ message: message({ message_id: id, text }) })),
  inGroup: (text, id = 1) => telegramRequest(update({ message: message({ message_id: id, text }, forum) })),
  mention: (text, id = 1) => telegramRequest(update({ message: mention(text, id, {}) })),
  mentionInTopic: (text, id = 1) =>
    telegramRequest(update({ message: mention(text, id, { message_thread_id: 7, is_topic_message: true }) })),
  edit: (text, id = 1) =>
    telegramRequest({
      ...update({ edited_message: message({ message_id: id, text, edit_date: 1_800_000_060 }) }),
      // An edit is known by its update: a person can edit twice in one second.
      update_id: 70_000 + id,
    }),
  press: (data, id = "p1") =>
    telegramRequest(
      update({
        callback_query: {
          id,
          from: ada,
          chat_instance: "1",
          data,
          message: message({ message_id: 50, text: "?" }),
        },
      }),
    ),
  command: (name, args) =>
    telegramRequest(
      update({
        message: message({
          text: `/${name} ${args}`,
          entities: [{ type: "bot_command", offset: 0, length: name.length + 1 }],
        }),
      }),
    ),
  reaction: () =>
    telegramRequest(
      update({
        message_reaction: {
          chat: privateChat,
          message_id: 1,
          user: ada,
          date: 1,
          old_reaction: [],
          new_reaction: [{ type: "emoji", emoji: "👍" }],
        },
      }),
    ),
};

function mention(text: string, id: number, fields: object): object {
  const named = `@support_bot ${text}`;
  return message(
    { message_id: id, text: named, entities: [{ type: "mention", offset: 0, length: 12 }], ...fields },
    forum,
  );
}

function failTelegram(api: ReturnType<typeof createFakeBotApi>): ProviderRig["failNextPost"] {
  return (how) => {
    const answers = {
      paced: refusal(429, "Too Many Requests: retry after 3", { retry_after: 3 }),
      blocked: refusal(403, "Forbidden: bot was blocked by the user"),
      "cut off": () => Promise.reject(new TypeError(`fetch failed: https://api.telegram.org/bot${token}/x`)),
      hung: () => new Promise<Response>(() => undefined),
    };
    for (const method of ["sendMessage", "sendRichMessage"]) api.answerNext(method, answers[how]);
  };
}

function textsOf(api: ReturnType<typeof createFakeBotApi>): string[] {
  return api.calls.flatMap(({ payload }) => {
    const rich = payload.rich_message as { markdown?: string } | undefined;
    const text = payload.text ?? rich?.markdown;
    return typeof text === "string" ? [text] : [];
  });
}

describeProvider("telegramMessenger", () => {
  const api = createFakeBotApi(token);
  const { context, log } = createPlatformContext({ fetch: api.fetch });
  const { platform } = telegramMessenger({ token, secretToken, userName: "support_bot" });
  return {
    platform,
    context,
    log,
    requests: telegramRequests,
    address: { messengerId: "bot", threadId: "telegram:1001", chatId: "1001", isDirectMessage: true },
    failNextPost: failTelegram(api),
    posted: () => textsOf(api),
    secret: token,
  };
});

describeProvider("chatSdkMessenger with @chat-adapter/telegram", () => {
  const api = createFakeBotApi(token);
  const { context, log } = createPlatformContext({});
  fetchOfAdapters = api.fetch;
  const { platform } = chatSdkMessenger({
    adapter: createTelegramAdapter({
      botToken: token,
      secretToken,
      userName: "support_bot",
      mode: "webhook",
      logger: mockLogger,
    }),
    verifyWebhook: false,
    capabilities: { maxMessageLength: 4096 },
  });
  return {
    platform,
    context,
    log,
    requests: telegramRequests,
    address: {
      messengerId: "bot",
      threadId: "telegram:1001",
      chatId: "telegram:1001",
      isDirectMessage: true,
    },
    failNextPost: failTelegram(api),
    posted: () => textsOf(api),
    secret: token,
  };
});

/** The adapters call the global `fetch`; each rig puts its own platform behind it. */
let fetchOfAdapters: typeof fetch = () => Promise.reject(new Error("no platform"));
beforeAll(() => void vi.stubGlobal("fetch", (...args: Parameters<typeof fetch>) => fetchOfAdapters(...args)));
afterAll(() => void vi.unstubAllGlobals());

describeProvider("chatSdkMessenger with the SDK's mock adapter", () => {
  const { adapter, posted, failNextPost } = createScriptedAdapter();
  const { context, log } = createPlatformContext({});
  const { platform } = chatSdkMessenger({ adapter, verifyWebhook: false, provider: "slack" });
  return {
    platform,
    context,
    log,
    requests: mockRequests,
    address: { messengerId: "bot", threadId: "slack:DADA:1", chatId: "slack:DADA", isDirectMessage: true },
    failNextPost,
    posted: () => posted,
    secret: "xoxb-secret",
  };
});

interface MockEvent {
  readonly way: "message" | "edit" | "action" | "command" | "reaction";
  readonly threadId: string;
  readonly id: string;
  readonly text: string;
}

const author = {
  userId: "UADA",
  userName: "ada",
  fullName: "Ada Lovelace",
  isBot: false,
  isMe: false,
} as const;

function mockRequest(event: MockEvent): Request {
  return new Request("https://bot.example/webhook", { method: "POST", body: JSON.stringify(event) });
}

const mockRequests: PlatformRequests = {
  direct: (text, id = 1) => mockRequest({ way: "message", threadId: "slack:DADA:1", id: `${id}`, text }),
  inGroup: (text, id = 1) => mockRequest({ way: "message", threadId: "slack:C1:", id: `${id}`, text }),
  mention: (text, id = 1) =>
    mockRequest({ way: "message", threadId: "slack:C1:", id: `${id}`, text: `@slack-bot ${text}` }),
  mentionInTopic: (text, id = 1) =>
    mockRequest({ way: "message", threadId: "slack:C1:77", id: `${id}`, text: `@slack-bot ${text}` }),
  edit: (text, id = 1) => mockRequest({ way: "edit", threadId: "slack:DADA:1", id: `${id}`, text }),
  press: (data, id = "p1") => mockRequest({ way: "action", threadId: "slack:DADA:1", id, text: data }),
  command: (name, args) => mockRequest({ way: "command", threadId: "slack:DADA:1", id: name, text: args }),
  reaction: () => mockRequest({ way: "reaction", threadId: "slack:DADA:1", id: "1", text: "" }),
};

/** The SDK's mock adapter, with a webhook that reports what it is sent and, like many, answers before it is done. */
function createScriptedAdapter() {
  let chat: ChatInstance | undefined;
  let failure: Promise<never> | undefined;
  const posted: string[] = [];
  const post = async (_threadId: string, content: unknown) => {
    const failing = failure;
    failure = undefined;
    await failing;
    posted.push((content as { markdown: string }).markdown);
    return { id: `m-${posted.length}`, threadId: "slack:DADA:1", raw: {} };
  };
  const adapter: Adapter = createMockAdapter("slack", {
    initialize: async (instance) => void (chat = instance),
    handleWebhook: async (request, options) => {
      const event = (await request.json()) as MockEvent;
      report(adapter, chat, event, options);
      return new Response("ok");
    },
    postMessage: post,
    editMessage: (threadId, _messageId, content) => post(threadId, content),
  });
  const failNextPost: ProviderRig["failNextPost"] = (how) => {
    const named = (name: string, extra: object) =>
      Object.assign(new Error("xoxb-secret private words"), { name }, extra);
    const failures = {
      paced: () => Promise.reject(named("AdapterRateLimitError", { retryAfter: 3 })),
      blocked: () => Promise.reject(named("PermissionError", {})),
      "cut off": () =>
        Promise.reject(named("NetworkError", { originalError: new Error("socket hang up xoxb-secret") })),
      hung: () => new Promise<never>(() => undefined),
    };
    failure = failures[how]();
    failure.catch(() => undefined);
  };
  return { adapter, posted, failNextPost };
}

function report(
  adapter: Adapter,
  chat: ChatInstance | undefined,
  { way, threadId, id, text }: MockEvent,
  options: Parameters<Adapter["handleWebhook"]>[1],
): void {
  const of = (overrides: Partial<MessageData>) =>
    createTestMessage(id, text, { threadId, author, raw: { id, text }, isMention: undefined, ...overrides });
  const dateSent = new Date(1_800_000_000_000);
  switch (way) {
    case "message":
      // Some adapters hand over a message that is still being loaded.
      void chat?.processMessage(
        adapter,
        threadId,
        async () => of({ metadata: { dateSent, edited: false } }),
        options,
      );
      return;
    case "edit": {
      const edited = of({ metadata: { dateSent, edited: true, editedAt: new Date(1_800_000_060_000) } });
      void chat?.processMessageUpdated({ adapter, message: edited, threadId }, options);
      return;
    }
    case "action":
      void chat?.processAction(
        { adapter, actionId: text, messageId: "m-1", threadId, user: author, triggerId: id, raw: { id } },
        options,
      );
      return;
    case "command":
      void chat?.processSlashCommand(
        { adapter, channelId: threadId, command: `/${id}`, text, user: author, raw: { id } },
        options,
      );
      return;
    case "reaction":
      void chat?.processReaction(
        {
          adapter,
          added: true,
          emoji: getEmoji("thumbs_up"),
          rawEmoji: "+1",
          messageId: id,
          threadId,
          user: author,
          raw: {},
        },
        options,
      );
  }
}
