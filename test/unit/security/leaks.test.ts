import { APICallError } from "@ai-sdk/provider";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Adapter } from "chat";
import { describe, expect, it } from "vitest";
import { createTelegramPlatform } from "../../../providers/telegram/platform.ts";
import { parseTelegramOptions } from "../../../providers/telegram/options.ts";
import { chatSdkMessenger } from "../../../providers/chat-sdk/index.ts";
import type { Surface } from "../../../src/core/chat/surface.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { RootRuntime } from "../../../src/messengers/root/root-runtime.ts";
import { chosenConversation } from "../../../src/messengers/declare/conversation-name.ts";
import { guardModel } from "../../../src/models/guard-model.ts";
import { modelFromEnv } from "../../../src/models/model-from-env.ts";
import { createHarness } from "../delivery/engine-harness.ts";
import { createIntakeRig, runToTheEnd } from "../inbox/intake-rig.ts";
import { FakeClock } from "../models/fake-clock.ts";
import { stubModel } from "../models/stub-model.ts";
import { addressOf } from "../providers/fake-bot-api.ts";
import { createPlatformContext } from "../providers/platform-context.ts";
import { declaredOf, definitionOf } from "../../../lab/support/messenger-events.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { everythingOf } from "./everything-of.ts";

const TOKEN = "7000000001:AAtokenTOKENtoken";
const WORDS = "words-that-a-person-wrote";
const KEY = "sk-key-that-nobody-may-read";
const FORBIDDEN = /AAtokenTOKEN|words-that-a-person|sk-key-that|signature=psst/;

const address = { messengerId: "bot", threadId: "t:1", chatId: "1", isDirectMessage: true };

/** Errors as networks, clients and adapters throw them: with all that they know. */
function talkative(): Error {
  const url = `https://api.telegram.org/bot${TOKEN}/sendMessage?signature=psst`;
  const cause = Object.assign(new Error(`connect to ${url}`), {
    code: "ECONNRESET",
    url,
    config: { body: WORDS },
  });
  return Object.assign(new TypeError(`fetch of ${url} failed for ${WORDS}`, { cause }), {
    request: { url, headers: { authorization: `Bearer ${KEY}` }, body: WORDS },
    response: { status: 500, body: `${TOKEN} ${WORDS}` },
    originalError: cause,
  });
}

async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown.");
}

function expectSilence(...values: readonly unknown[]): void {
  for (const value of values) expect(everythingOf(value)).not.toMatch(FORBIDDEN);
}

function callsOf(
  surface: Surface,
  signal = new AbortController().signal,
): Record<string, () => Promise<unknown>> {
  const message = { text: WORDS, entities: [] };
  return {
    post: () => surface.post(address, message, { signal }),
    edit: () => surface.edit(address, "5", message, { signal }),
    remove: () => surface.remove(address, "5", { signal }),
    typing: () => surface.typing(address, { signal }),
  };
}

describe("what a Telegram call throws (I10)", () => {
  const refusal = (status: number, body: object | string): Response =>
    new Response(typeof body === "string" ? body : JSON.stringify(body), { status });
  it.each<readonly [string, () => Promise<Response>]>([
    ["a lost connection", () => Promise.reject(talkative())],
    ["a thrown text", () => Promise.reject(`${TOKEN} ${WORDS}`)],
    [
      "a refusal that quotes the message",
      async () =>
        refusal(400, { ok: false, error_code: 400, description: `can't parse ${WORDS} of bot${TOKEN}` }),
    ],
    [
      "a refusal with odd fields",
      async () =>
        refusal(429, {
          ok: false,
          error_code: 429,
          description: WORDS,
          parameters: { retry_after: 3, note: TOKEN },
          url: TOKEN,
        }),
    ],
    [
      "a gateway's page",
      async () => refusal(502, `<html>no route to /bot${TOKEN}/sendMessage ${WORDS}</html>`),
    ],
    ["half an answer", async () => refusal(200, `{"ok":true,"result":{"text":"${WORDS}`)],
    [
      "a redirect",
      async () => new Response(null, { status: 302, headers: { location: `https://x/${TOKEN}` } }),
    ],
    [
      "a body that breaks",
      async () => new Response(new ReadableStream({ start: (to) => to.error(talkative()) })),
    ],
  ])("says nothing of token, address and text after %s", async (_name, respond) => {
    const { context, log } = createPlatformContext({ fetch: respond });
    const platform = createTelegramPlatform(
      parseTelegramOptions({ token: TOKEN, secretToken: "s", userName: "b" }),
    );
    const surface = platform.surface(context);
    const { signal } = new AbortController();
    const calls = {
      ...callsOf(surface),
      answer: () => surface.answerAction(address, { id: "1" }, { text: WORDS }, { signal }),
      identity: () => platform.fetchIdentity(context, signal),
      file: () => platform.fetchAttachment({ fileId: WORDS }, context, { maxBytes: 100, signal }),
      foreign: () => platform.fetchAttachment({ url: WORDS }, context, { maxBytes: 100, signal }),
    };
    for (const call of Object.values(calls)) {
      const error = await errorOf(call);
      expectSilence(error, surface.classifyError(error));
    }
    expectSilence(surface.classifyError(talkative()), log);
  });

  it("says nothing of the token when the file's server fails", async () => {
    for (const respond of [
      () => Promise.reject(talkative()),
      async () => new Response(WORDS, { status: 404 }),
      async () => new Response(new ReadableStream({ start: (to) => to.error(talkative()) })),
    ]) {
      const { context } = createPlatformContext({
        fetch: (input) =>
          addressOf(input).endsWith("/getFile")
            ? Promise.resolve(
                Response.json({ ok: true, result: { file_id: "f", file_path: `${WORDS}.txt` } }),
              )
            : respond(),
      });
      const platform = createTelegramPlatform(parseTelegramOptions({ token: TOKEN, secretToken: "s" }));
      const { signal } = new AbortController();
      expectSilence(
        await errorOf(() => platform.fetchAttachment({ fileId: "f" }, context, { maxBytes: 100, signal })),
      );
    }
  });

  it("does not repeat a token that is malformed, nor a secret", async () => {
    for (const options of [
      { token: `bot${TOKEN}`, secretToken: "s" },
      { token: TOKEN, secretToken: `${KEY} with spaces` },
      { token: TOKEN, secretToken: "s", apiBaseUrl: `https://x.example/?signature=psst` },
    ]) {
      expectSilence(await errorOf(() => parseTelegramOptions(options)));
    }
  });
});

describe("what a call through an adapter throws (I10)", () => {
  it("says nothing of what the adapter said", async () => {
    const broken = (): never => {
      throw talkative();
    };
    const later = (): Promise<never> => Promise.reject(talkative());
    for (const fail of [broken, later]) {
      const adapter = {
        name: "mock",
        userName: "bot",
        initialize: async () => {},
        handleWebhook: fail,
        postMessage: fail,
        editMessage: fail,
        deleteMessage: fail,
        startTyping: fail,
        channelIdFromThreadId: (id: string) => id,
        rehydrateAttachment: broken,
      } as unknown as Adapter;
      const { platform } = chatSdkMessenger({ adapter, verifyWebhook: false });
      const { context, log } = createPlatformContext({});
      const surface = platform.surface(context);
      for (const call of Object.values(callsOf(surface))) {
        const error = await errorOf(call);
        expectSilence(error, surface.classifyError(error));
      }
      const request = new Request("https://bot.example/", { method: "POST", body: WORDS });
      const receiver = { accept: later, ignore: () => {}, findChat: () => undefined };
      const response = await platform.receive(request, context, receiver);
      expect(response.status).toBe(503);
      expectSilence(await response.text(), log);
      const { signal } = new AbortController();
      expectSilence(
        await errorOf(() =>
          platform.fetchAttachment({ url: `https://x.example/${WORDS}` }, context, { maxBytes: 1, signal }),
        ),
      );
    }
  });
});

describe("what a model call throws (I10)", () => {
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: WORDS }] }];
  const apiError = () =>
    new APICallError({
      message: `401 for ${KEY}: ${WORDS}`,
      url: `https://h.example/v1?key=${KEY}`,
      requestBodyValues: { messages: prompt },
      statusCode: 401,
      responseHeaders: { authorization: KEY },
      responseBody: `{"error":{"message":"${WORDS}","code":"${KEY}","type":"${WORDS}"}}`,
      data: { error: { message: WORDS, code: KEY, type: WORDS } },
      cause: talkative(),
    });

  it.each<readonly [string, () => unknown]>([
    ["an error of the SDK", apiError],
    ["an error of the network", talkative],
    ["a text", () => `${WORDS} ${KEY}`],
    ["a server's object", () => ({ type: WORDS, code: KEY, message: WORDS, error: { message: KEY } })],
  ])("says nothing of key, address and text after %s", async (_name, make) => {
    const told: unknown[] = [];
    const options = { clock: new FakeClock(), onFailure: (error: unknown) => void told.push(error) };
    const thrown = guardModel(
      stubModel(() => Promise.reject(make())),
      options,
    );
    expectSilence(await errorOf(() => thrown.doStream({ prompt })));
    expectSilence(await errorOf(() => thrown.doGenerate({ prompt })));
    const inside = guardModel(
      stubModel(() =>
        Promise.resolve({
          stream: new ReadableStream<LanguageModelV4StreamPart>({
            start: (to) => to.enqueue({ type: "error", error: make() }),
          }),
        }),
      ),
      options,
    );
    const { stream } = await inside.doStream({ prompt });
    for await (const part of stream) expectSilence(part);
    expect(told.length).toBeGreaterThan(2);
    expectSilence(...told);
  });

  it.each([
    { OPENAI_BASE_URL: "https://h.example/v1", OPENAI_API_KEY: KEY, MODEL: "m" },
    { ANTHROPIC_API_KEY: KEY },
  ])("says nothing of the key through the real provider: %o", async (environment) => {
    for (const respond of [
      () => Promise.reject(talkative()),
      async () => new Response(`${KEY} ${WORDS}`, { status: 500 }),
      async () =>
        Response.json({ error: { message: `${KEY} ${WORDS}`, type: KEY, code: WORDS } }, { status: 400 }),
      async () =>
        new Response(`data: {"error":{"message":"${WORDS}","type":"${KEY}"}}\n\ndata: ${WORDS}\n\n`),
    ]) {
      const { describe: description, model } = modelFromEnv(environment, {
        clock: new FakeClock(),
        fetch: respond,
      });
      const told: unknown[] = [description];
      const guarded = guardModel(model, {
        clock: new FakeClock(),
        onFailure: (error) => void told.push(error),
      });
      try {
        const { stream } = await guarded.doStream({ prompt });
        for await (const part of stream) if (part.type === "error") told.push(part.error);
      } catch (error) {
        told.push(error);
      }
      expect(told.length).toBeGreaterThan(1);
      expectSilence(...told);
    }
  });

  it("does not repeat an address that holds a key", async () => {
    for (const url of [`https://u:${KEY}@h.example/v1`, `https://h.example/v1?key=${KEY}`, KEY]) {
      expectSilence(await errorOf(() => modelFromEnv({ OPENAI_BASE_URL: url, MODEL: "m" })));
    }
  });
});

describe("what the root answers and logs (I10)", () => {
  it("says nothing of an error on the way to a conversation", async () => {
    const lines: string[] = [];
    const { platform } = definitionOf();
    const fail = (): never => {
      throw talkative();
    };
    const event = {
      key: "m:1:1",
      thread: { id: "t:1", chatId: "1", isDirectMessage: true },
      raw: { text: WORDS },
    };
    const definition = definitionOf({
      verifyWebhook: false,
      platform: {
        ...platform,
        receive: async (_request, _context, receive) => {
          await receive.accept([event]);
          return new Response("ok");
        },
        parse: fail,
        fetchIdentity: fail,
      },
    });
    for (const conversation of [
      "thread",
      fail,
      () => ({ target: "subagent" as const, name: `${WORDS}\n` }),
    ] as const) {
      const deps = { clock: createVirtualClock(), newId: () => "id", random: () => 0, fetch };
      const log = createLog((_level, line) => void lines.push(line));
      const root: RootRuntime = new RootRuntime({
        database: createNodeDatabase(),
        deps,
        log,
        messengers: declaredOf(() => normalizeMessengers({ bot: { ...definition, conversation } }), deps, {
          identity: (id) => root.identity(id),
          log,
        }),
        deliver: () => Promise.reject(talkative()),
        commands: () => [],
        later: () => {},
        observe: () => {},
        hasEvent: () => Promise.resolve(false),
        objects: { rootClass: () => "Bot" } as never,
      });
      const request = new Request("https://bot.example/messengers/bot/webhook", {
        method: "POST",
        body: WORDS,
      });
      const response = await root.handle(request);
      expect(response?.status).toBe(503);
      expectSilence(await response?.text());
    }
    expect(lines).toHaveLength(5);
    expectSilence(lines);
  });

  it("does not repeat a conversation's name that somebody's words went into", async () => {
    for (const name of [`${WORDS}\u0000`, WORDS.repeat(100)]) {
      expectSilence(await errorOf(() => chosenConversation({ target: "subagent", name })));
    }
  });
});

describe("the log of a conversation (I10)", () => {
  it("holds no words of a person, whatever becomes of an event", async () => {
    const fail = (): never => {
      throw talkative();
    };
    const author = { userId: "7", fullName: WORDS, userName: WORDS };
    for (const definition of [
      {},
      { allow: fail },
      { allow: [] },
      { toEvent: fail },
      { inboxLimit: 1 },
      { respondTo: [] },
      { delivery: { refusedResponseText: fail, busyResponseText: fail } },
    ]) {
      const rig = createIntakeRig({ definition, commands: { words: { description: "", handler: fail } } });
      const message = {
        text: WORDS,
        attachments: [{ kind: "document" as const, reference: {}, name: WORDS }],
      };
      for (const kind of [
        "direct-message",
        "mention",
        "message",
        "message-edited",
        "message-deleted",
      ] as const) {
        rig.receive(WORDS, { kind, author, message });
        rig.receive(WORDS, {
          kind,
          author,
          message: { ...message, command: { name: "words", args: WORDS } },
        });
        rig.receive(WORDS, { kind, author, message: { ...message, command: { name: WORDS, args: "" } } });
      }
      rig.receive(WORDS, { kind: "action", author, action: { id: "1", data: WORDS } });
      await runToTheEnd(rig);
      expect(rig.intake.hasOpen()).toBe(false);
      expect(rig.log.length).toBeGreaterThanOrEqual(16);
      expectSilence(rig.log);
    }
  });

  it("holds no words of a reply, whatever happens to it", async () => {
    for (const fault of [
      { kind: "fail", failure: { kind: "rejected", code: "bad-request" } },
      { kind: "fail", failure: { kind: "gone", code: "blocked" } },
      { kind: "fail", failure: { kind: "misconfigured", code: "token-refused" } },
      { kind: "fail", failure: { kind: "retry-after", code: "too-many-requests", retryAfterMs: 1000 } },
      { kind: "lose", done: true },
      { kind: "lose", done: false },
    ] as const) {
      const harness = createHarness();
      for (const method of ["post", "edit", "typing"] as const) harness.surface.faultAlways(method, fault);
      harness.delivery.open(harness.start("r"));
      harness.delivery.append("r", `${WORDS} `);
      void harness.delivery.run();
      await harness.advance(5000);
      harness.delivery.finish("r", `${WORDS} ${WORDS}`);
      await harness.advance(120_000);
      expect(harness.lines.length).toBeGreaterThan(0);
      expectSilence(harness.lines, harness.delivery.receipt("r"));
    }
  });
});
