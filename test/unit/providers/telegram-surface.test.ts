import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Address, CallFailure } from "../../../src/core/chat/surface.ts";
import { TelegramCallError } from "../../../providers/telegram/index.ts";
import { addressOf, refusal } from "./fake-bot-api.ts";
import { everythingIn } from "./everything-in.ts";
import { createTelegramRig } from "./telegram-rig.ts";
import { token } from "./telegram-updates.ts";

const direct: Address = {
  messengerId: "bot",
  threadId: "telegram:1001",
  chatId: "1001",
  isDirectMessage: true,
};
const topic: Address = {
  messengerId: "bot",
  threadId: "telegram:-1009:7",
  chatId: "-1009",
  topicId: "7",
  isDirectMessage: false,
};
const never = () => new AbortController().signal;
const hello = { text: "hello", entities: [] };

async function failureOf(run: Promise<unknown>): Promise<unknown> {
  try {
    await run;
  } catch (error) {
    return error;
  }
  throw new Error("the call succeeded");
}

describe("calls", () => {
  it("posts with entities, without a parse mode, and returns the message's id", async () => {
    const { surface, api } = createTelegramRig();
    const posted = await surface.post(
      topic,
      {
        text: "see docs",
        entities: [
          { type: "bold", offset: 0, length: 3 },
          { type: "text_link", offset: 4, length: 4, url: "https://example.org" },
          { type: "pre", offset: 0, length: 3, language: "ts" },
        ],
        replyTo: "45",
      },
      { signal: never() },
    );
    expect(posted).toEqual({ messageId: "1001" });
    expect(api.calls).toEqual([
      {
        method: "sendMessage",
        payload: {
          chat_id: -1009,
          message_thread_id: 7,
          text: "see docs",
          entities: [
            { type: "bold", offset: 0, length: 3 },
            { type: "text_link", offset: 4, length: 4, url: "https://example.org" },
            { type: "pre", offset: 0, length: 3, language: "ts" },
          ],
          link_preview_options: { is_disabled: true },
          reply_parameters: { message_id: 45, allow_sending_without_reply: true },
        },
      },
    ]);
  });

  it("names no topic where there is none, and quotes nothing that has no id", async () => {
    const { surface, api } = createTelegramRig();
    await surface.post(direct, { ...hello, replyTo: "" }, { signal: never() });
    expect(Object.keys(api.calls[0]?.payload ?? {}).sort()).toEqual([
      "chat_id",
      "entities",
      "link_preview_options",
      "text",
    ]);
  });

  it("shows link previews when told to", async () => {
    const { surface, api } = createTelegramRig();
    await surface.post(direct, { ...hello, linkPreviews: true }, { signal: never() });
    await surface.edit(direct, "50", { ...hello, linkPreviews: true }, { signal: never() });
    expect(api.calls.map(({ payload }) => payload.link_preview_options)).toEqual([
      { is_disabled: false },
      { is_disabled: false },
    ]);
  });

  it("shows a draft with its formatting and a button that stops it", async () => {
    const { surface, api } = createTelegramRig();
    const bold = { type: "bold", offset: 0, length: 3 } as const;
    const draft = { id: 7, text: "now", entities: [bold] };
    await surface.drafts?.show({ ...direct, topicId: "9" }, draft, { signal: never() });
    expect(api.calls).toEqual([
      {
        method: "sendMessageDraft",
        payload: {
          chat_id: 1001,
          draft_id: 7,
          text: "now",
          entities: [bold],
          message_thread_id: 9,
          can_stop: true,
          keep_on_stop: true,
        },
      },
    ]);
  });

  it("edits, removes, shows typing and answers a press", async () => {
    const { surface, api } = createTelegramRig();
    await surface.edit(topic, "50", hello, { signal: never() });
    await surface.remove(topic, "50", { signal: never() });
    await surface.typing(topic, { signal: never() });
    const press = { id: "press" };
    await surface.answerAction(topic, press, undefined, { signal: never() });
    await surface.answerAction(topic, press, { text: "x".repeat(300), alert: true }, { signal: never() });
    expect(api.calls.map(({ method, payload }) => [method, payload])).toEqual([
      [
        "editMessageText",
        {
          chat_id: -1009,
          message_id: 50,
          text: "hello",
          entities: [],
          link_preview_options: { is_disabled: true },
        },
      ],
      ["deleteMessage", { chat_id: -1009, message_id: 50 }],
      ["sendChatAction", { chat_id: -1009, action: "typing", message_thread_id: 7 }],
      ["answerCallbackQuery", { callback_query_id: "press" }],
      ["answerCallbackQuery", { callback_query_id: "press", text: `${"x".repeat(199)}…`, show_alert: true }],
    ]);
  });

  it("calls the server that the options name", async () => {
    const urls: string[] = [];
    const { platform, context } = createTelegramRig({
      apiBaseUrl: "http://127.0.0.1:8081/",
      fetch: async (input) => {
        urls.push(addressOf(input));
        return Response.json({ ok: true, result: true });
      },
    });
    await platform.surface(context).typing(direct, { signal: never() });
    expect(urls).toEqual([`http://127.0.0.1:8081/bot${token}/sendChatAction`]);
  });

  it("follows no redirect, which would carry the token elsewhere", async () => {
    const redirects: unknown[] = [];
    const { platform, context } = createTelegramRig({
      fetch: async (_input, init) => {
        redirects.push(init?.redirect);
        return new Response(null, { status: 302, headers: { location: "https://elsewhere.example/" } });
      },
    });
    const surface = platform.surface(context);
    const error = await failureOf(surface.typing(direct, { signal: never() }));
    expect(redirects).toEqual(["manual"]);
    expect(surface.classifyError(error)).toEqual({ kind: "misconfigured", code: "not-a-bot-api" });
  });

  it("asks the platform who the bot is", async () => {
    const { platform, context } = createTelegramRig();
    expect(await platform.fetchIdentity(context, never())).toEqual({
      userId: "700001",
      userName: "support_bot",
    });
  });

  it("makes each call once, whatever comes back", async () => {
    const { surface, api } = createTelegramRig();
    api.answerNext("sendMessage", refusal(429, "Too Many Requests: retry after 3", { retry_after: 3 }));
    await failureOf(surface.post(direct, hello, { signal: never() }));
    expect(api.calls).toHaveLength(1);
  });
});

describe("time limits", () => {
  it("ends a call at once when its signal aborts, also if the network does not", async () => {
    const controller = new AbortController();
    const { platform, context } = createTelegramRig({ fetch: () => new Promise(() => undefined) });
    const surface = platform.surface(context);
    const failing = failureOf(surface.post(direct, hello, { signal: controller.signal }));
    controller.abort();
    expect(surface.classifyError(await failing)).toEqual({ kind: "unknown", code: "timed-out" });
  });

  it("hands the abort to the network", async () => {
    const controller = new AbortController();
    let seen: AbortSignal | null | undefined;
    const { platform, context } = createTelegramRig({
      fetch: (_input, init) => {
        seen = init?.signal;
        return new Promise(() => undefined);
      },
    });
    const failing = failureOf(platform.surface(context).post(direct, hello, { signal: controller.signal }));
    controller.abort();
    await failing;
    expect(seen?.aborted).toBe(true);
  });

  it("sends nothing when it is already too late", async () => {
    const { surface, api } = createTelegramRig();
    const error = await failureOf(surface.post(direct, hello, { signal: AbortSignal.abort() }));
    expect(surface.classifyError(error)).toEqual({ kind: "transient", code: "not-started" });
    expect(api.calls).toEqual([]);
  });
});

/** A failed connection as Node's fetch reports it. */
function connectionError(code: string): Error {
  const cause = Object.assign(new Error(`${code} api.telegram.org/bot${token}/sendMessage`), { code });
  return new TypeError("fetch failed", { cause });
}

const answers: readonly (readonly [string, () => Response | Promise<Response>, CallFailure])[] = [
  [
    "429",
    () => refusal(429, "Too Many Requests: retry after 35", { retry_after: 35 }),
    { kind: "retry-after", code: "too-many-requests", retryAfterMs: 35_000 },
  ],
  [
    "429 without its parameter",
    () => refusal(429, "Too Many Requests: retry after 7"),
    { kind: "retry-after", code: "too-many-requests", retryAfterMs: 7000 },
  ],
  [
    "429 of a gateway",
    () => new Response("slow down", { status: 429, headers: { "retry-after": "2" } }),
    { kind: "retry-after", code: "too-many-requests", retryAfterMs: 2000 },
  ],
  [
    "an unchanged edit",
    () =>
      refusal(
        400,
        "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
      ),
    { kind: "unchanged", code: "message-not-modified" },
  ],
  [
    "a message to edit that is gone",
    () => refusal(400, "Bad Request: message to edit not found"),
    { kind: "missing", code: "message-missing" },
  ],
  [
    "a quoted message that is gone",
    () => refusal(400, "Bad Request: message to be replied not found"),
    { kind: "missing", code: "quoted-missing" },
  ],
  [
    "a quoted message that is none",
    () => refusal(400, "Bad Request: REPLY_MESSAGE_ID_INVALID"),
    { kind: "missing", code: "quoted-missing" },
  ],
  [
    "a message to delete that is gone",
    () => refusal(400, "Bad Request: message to delete not found"),
    { kind: "missing", code: "message-missing" },
  ],
  [
    "an id that is none",
    () => refusal(400, "Bad Request: MESSAGE_ID_INVALID"),
    { kind: "missing", code: "message-missing" },
  ],
  [
    "a message that is locked",
    () => refusal(400, "Bad Request: message can't be edited"),
    { kind: "missing", code: "message-locked", isLocked: true },
  ],
  [
    "a press that is too old",
    () => refusal(400, "Bad Request: query is too old and response timeout expired or query ID is invalid"),
    { kind: "missing", code: "query-expired" },
  ],
  [
    "entities that it cannot read",
    () =>
      refusal(
        400,
        "Bad Request: can't parse entities: Can't find end of the entity starting at byte offset 3",
      ),
    { kind: "rejected", code: "entities-rejected" },
  ],
  [
    "entities out of bounds",
    () => refusal(400, "Bad Request: ENTITY_BOUNDS_INVALID"),
    { kind: "rejected", code: "entities-rejected" },
  ],
  [
    "a text that is too long",
    () => refusal(400, "Bad Request: message is too long"),
    { kind: "rejected", code: "text-too-long" },
  ],
  [
    "an empty text",
    () => refusal(400, "Bad Request: message text is empty"),
    { kind: "rejected", code: "text-empty" },
  ],
  [
    "anything else that is bad",
    () => refusal(400, "Bad Request: BUTTON_DATA_INVALID"),
    { kind: "rejected", code: "bad-request" },
  ],
  [
    "a person who blocked the bot",
    () => refusal(403, "Forbidden: bot was blocked by the user"),
    { kind: "gone", code: "blocked" },
  ],
  [
    "a person who is gone",
    () => refusal(403, "Forbidden: user is deactivated"),
    { kind: "gone", code: "user-deactivated" },
  ],
  [
    "a group that threw the bot out",
    () => refusal(403, "Forbidden: bot was kicked from the supergroup chat"),
    { kind: "gone", code: "kicked" },
  ],
  [
    "a chat that does not exist",
    () => refusal(400, "Bad Request: chat not found"),
    { kind: "gone", code: "chat-missing" },
  ],
  [
    "a chat without the bot",
    () => refusal(403, "Forbidden: bot is not a member of the channel chat"),
    { kind: "gone", code: "not-a-member" },
  ],
  [
    "a person who never wrote",
    () => refusal(403, "Forbidden: bot can't initiate conversation with a user"),
    { kind: "gone", code: "conversation-impossible" },
  ],
  [
    "a topic that is gone",
    () => refusal(400, "Bad Request: message thread not found"),
    { kind: "gone", code: "topic-missing", scope: "thread" },
  ],
  [
    "a topic that is closed",
    () => refusal(400, "Bad Request: TOPIC_CLOSED"),
    { kind: "gone", code: "topic-closed", scope: "thread" },
  ],
  [
    "rights that are missing",
    () => refusal(400, "Bad Request: not enough rights to send text messages to the chat"),
    { kind: "gone", code: "no-rights" },
  ],
  ["any other 403", () => refusal(403, "Forbidden: because"), { kind: "gone", code: "forbidden" }],
  [
    "a group that became a supergroup",
    () =>
      refusal(400, "Bad Request: group chat was upgraded to a supergroup chat", {
        migrate_to_chat_id: -1005,
      }),
    { kind: "moved", code: "chat-upgraded", to: { chatId: "-1005", threadId: "telegram:-1005" } },
  ],
  ["a wrong token", () => refusal(401, "Unauthorized"), { kind: "misconfigured", code: "token-refused" }],
  ["a wrong address", () => refusal(404, "Not Found"), { kind: "misconfigured", code: "method-missing" }],
  [
    "another web server",
    () => new Response("<html>", { status: 404 }),
    { kind: "misconfigured", code: "not-a-bot-api" },
  ],
  [
    "a conflict",
    () => refusal(409, "Conflict: terminated by other getUpdates request"),
    { kind: "transient", code: "conflict" },
  ],
  [
    "a 500 of the Bot API",
    () => refusal(500, "Internal Server Error"),
    { kind: "transient", code: "server-error" },
  ],
  ["a 502 of the Bot API", () => refusal(502, "Bad Gateway"), { kind: "transient", code: "server-error" }],
  [
    "a Bot API that shuts down",
    () => refusal(500, "Internal Server Error: restart"),
    { kind: "unknown", code: "server-restarted" },
  ],
  [
    "a message that a group's moderation took away as it came",
    () => refusal(500, "Internal Server Error: sent message was immediately deleted and can't be accessed"),
    { kind: "rejected", code: "deleted-at-once" },
  ],
  [
    "a 504 of the Bot API",
    () => refusal(504, "Gateway Timeout"),
    { kind: "unknown", code: "gateway-timeout" },
  ],
  [
    "a 502 of a gateway",
    () => new Response("<html>502</html>", { status: 502 }),
    { kind: "unknown", code: "gateway-error" },
  ],
  [
    "a 504 of a gateway",
    () => new Response("<html>504</html>", { status: 504 }),
    { kind: "unknown", code: "gateway-error" },
  ],
  [
    "a 503 of a gateway",
    () => new Response("busy", { status: 503 }),
    { kind: "transient", code: "gateway-unavailable" },
  ],
  [
    "an answer that was cut off",
    () => new Response('{"ok":true,"res', { status: 200 }),
    { kind: "unknown", code: "answer-unreadable" },
  ],
  [
    "an answer of another shape",
    () => Response.json({ hello: "world" }),
    { kind: "unknown", code: "answer-unreadable" },
  ],
  [
    "a refused connection",
    () => Promise.reject(connectionError("ECONNREFUSED")),
    { kind: "transient", code: "no-connection" },
  ],
  [
    "an unknown host",
    () => Promise.reject(connectionError("ENOTFOUND")),
    { kind: "transient", code: "no-connection" },
  ],
  [
    "a connection that was never made",
    () => Promise.reject(connectionError("UND_ERR_CONNECT_TIMEOUT")),
    { kind: "transient", code: "no-connection" },
  ],
  [
    "a cut connection",
    () => Promise.reject(connectionError("ECONNRESET")),
    { kind: "unknown", code: "connection-lost" },
  ],
  [
    "a socket that closed",
    () => Promise.reject(connectionError("UND_ERR_SOCKET")),
    { kind: "unknown", code: "connection-lost" },
  ],
  [
    "a connection that workerd lost",
    () =>
      Promise.reject(Object.assign(new Error("Network connection lost."), { remote: true, retryable: true })),
    { kind: "unknown", code: "connection-lost" },
  ],
  [
    "an abort of its own",
    () => Promise.reject(new DOMException("aborted", "AbortError")),
    { kind: "unknown", code: "timed-out" },
  ],
  [
    "something thrown that is no error",
    () => Promise.reject(`https://api.telegram.org/bot${token}`),
    { kind: "unknown", code: "connection-lost" },
  ],
];

describe("what a failed call means", () => {
  it.each(answers)("classifies %s", async (_name, answer, failure) => {
    const { surface, api } = createTelegramRig();
    api.answerNext("sendMessage", answer);
    const error = await failureOf(surface.post(direct, hello, { signal: never() }));
    expect(surface.classifyError(error)).toEqual(failure);
    expect(error).toBeInstanceOf(TelegramCallError);
    expect((error as TelegramCallError).code).toBe(failure.code);
  });

  it("gives any other value a class", () => {
    const { surface } = createTelegramRig();
    const kinds = "retry-after transient unknown gone moved missing unchanged rejected misconfigured";
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(kinds.split(" ")).toContain(surface.classifyError(value).kind);
      }),
    );
  });
});

describe("secrets (I10)", () => {
  it.each(answers)("lets no token and no text out with %s", async (_name, answer) => {
    const { surface, api } = createTelegramRig();
    api.answerNext("sendMessage", answer);
    const error = await failureOf(
      surface.post(direct, { text: "private words", entities: [] }, { signal: never() }),
    );
    const shown = everythingIn(error);
    expect(shown).not.toContain(token);
    expect(shown).not.toContain("secret_part");
    expect(shown).not.toContain("private words");
    expect(shown).not.toContain("api.telegram.org");
    expect((error as Error).cause).toBeUndefined();
  });
});
