import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSimulator } from "../../../../playground/telegram/simulator.ts";
import type { Simulator } from "../../../../playground/telegram/simulator.ts";
import { createBotApi } from "../../../../ops/telegram/bot-api.ts";
import type { BotApi } from "../../../../ops/telegram/bot-api.ts";
import { deleteTelegramWebhook, telegramInfo } from "../../../../ops/telegram/info.ts";
import type { MessengerFacts } from "../../../../ops/serve/running-bot.ts";
import { setUpTelegram } from "../../../../ops/telegram/setup.ts";
import { telegramAccount, webhookSecret } from "../../../../ops/telegram/telegram-environment.ts";
import { webhookState } from "../../../../ops/telegram/webhook-state.ts";

let simulator: Simulator;
let api: BotApi;

beforeEach(async () => {
  simulator = await startSimulator();
  api = createBotApi({ token: simulator.token, apiBaseUrl: simulator.url });
});
afterEach(() => simulator.close());

const telegram: MessengerFacts = {
  id: "telegram",
  provider: "telegram",
  path: "/messengers/telegram/webhook",
  updates: ["message", "callback_query", "message_reaction"],
  commands: [{ name: "help" }],
};

const setUp = (more: Partial<Parameters<typeof setUpTelegram>[0]> = {}) =>
  setUpTelegram({
    api,
    url: "http://127.0.0.1:9/",
    secret: "s3cret",
    dropPending: false,
    isPublicApi: false,
    messengers: async () => [telegram],
    now: Date.now,
    ...more,
  });

describe("switchboard telegram", () => {
  it("sets the webhook with the secret, and asks for the updates that the bot handles", async () => {
    const result = await setUp();
    expect(result).toMatchObject({
      bot: "@switchboard_bot",
      webhook: "http://127.0.0.1:9/messengers/telegram/webhook",
      updates: telegram.updates,
      commands: 1,
      state: { kind: "working" },
    });
    expect(simulator.calls({ method: "setWebhook" })[0]?.payload).toMatchObject({
      url: "http://127.0.0.1:9/messengers/telegram/webhook",
      allowed_updates: telegram.updates,
    });
    expect(await telegramInfo({ api, now: Date.now })).toMatchObject({
      webhook: result.webhook,
      updates: telegram.updates,
    });
  });

  it("makes Telegram send the secret with every update", async () => {
    const received = Promise.withResolvers<unknown>();
    const bot = createServer((request, response) => {
      received.resolve(request.headers["x-telegram-bot-api-secret-token"]);
      response.end("{}");
    });
    await new Promise<void>((resolve) => bot.listen(0, "127.0.0.1", resolve));
    await setUp({ url: `http://127.0.0.1:${(bot.address() as AddressInfo).port}` });
    const alex = simulator.addUser({ first_name: "Alex" });
    simulator.sendText(simulator.privateChat(alex), alex, "Hello?");
    expect(await received.promise).toBe("s3cret");
    bot.close();
  });

  it("keeps waiting updates, unless it is told to drop them", async () => {
    const alex = simulator.addUser({ first_name: "Alex" });
    simulator.sendText(simulator.privateChat(alex), alex, "Hello?");
    await setUp();
    expect((await telegramInfo({ api, now: Date.now })).pending).toBe(1);
    await setUp({ dropPending: true });
    expect((await telegramInfo({ api, now: Date.now })).pending).toBe(0);
  });

  it("does not say that Telegram delivers when it names another address, or none", async () => {
    const forgetful: BotApi = {
      call: async (method, answer, parameters) =>
        method === "getWebhookInfo"
          ? answer.parse({ url: "", pending_update_count: 0 })
          : api.call(method, answer, parameters),
    };
    const { state } = await setUp({ api: forgetful });
    expect(state).toMatchObject({
      kind: "unconfirmed",
      summary: "Telegram accepted the address, but names none when it is asked.",
      fix: expect.stringContaining("switchboard telegram info"),
    });
  });

  it("does not take a failure of the webhook before for one of this", async () => {
    await setUp();
    const alex = simulator.addUser({ first_name: "Alex" });
    simulator.sendText(simulator.privateChat(alex), alex, "Hello?");
    await simulator.waitFor(() => simulator.webhookProblem() !== undefined);
    const later = (): number => Date.now() + 60_000;
    expect((await setUp({ now: later })).state).toMatchObject({
      kind: "working",
      summary: expect.stringMatching(/^Telegram delivers to /),
    });
  });

  it("says that no webhook is set, and after its removal which one it was", async () => {
    expect((await telegramInfo({ api, now: Date.now })).state).toMatchObject({
      kind: "none",
      summary: "No webhook is set, so Telegram delivers nothing.",
      fix: expect.stringContaining("telegram setup"),
    });
    await setUp();
    expect(await deleteTelegramWebhook({ api, dropPending: false })).toBe(
      "http://127.0.0.1:9/messengers/telegram/webhook",
    );
    expect(await deleteTelegramWebhook({ api, dropPending: false })).toBeUndefined();
    expect((await telegramInfo({ api, now: Date.now })).webhook).toBeUndefined();
  });

  it("says in words that Telegram cannot deliver, and how to repair it", async () => {
    await setUp();
    const alex = simulator.addUser({ first_name: "Alex" });
    simulator.sendText(simulator.privateChat(alex), alex, "Hello?");
    await simulator.waitFor(() => simulator.webhookProblem() !== undefined);
    const { state } = await telegramInfo({ api, now: Date.now });
    expect(state).toMatchObject({
      kind: "failing",
      summary:
        "Telegram could not deliver to http://127.0.0.1:9/messengers/telegram/webhook just now: Connection refused; 1 update waits.",
      fix: expect.stringContaining("does not run"),
      lastError: { message: "Connection refused" },
    });
  });

  it.each([
    ["no address", { url: "bot.example.com" }, "url-malformed"],
    ["an address without https", { isPublicApi: true }, "url-not-https"],
    ["a port that Telegram does not use", { url: "https://a.example:8787", isPublicApi: true }, "url-port"],
    ["a bot without Telegram", { messengers: async () => [] }, "messenger-missing"],
    ["an unknown messenger", { messenger: "sales" }, "messenger-missing"],
    [
      "several messengers",
      { messengers: async () => [telegram, { ...telegram, id: "two" }] },
      "messenger-ambiguous",
    ],
  ])("refuses %s before it changes anything", async (_what, more, code) => {
    await expect(setUp(more)).rejects.toMatchObject({ code });
    expect(simulator.calls({ method: "setWebhook" })).toEqual([]);
  });

  it("never tells the token, whatever fails", async () => {
    const refused = createBotApi({ token: "999:of-nobody", apiBaseUrl: simulator.url });
    const unreachable = createBotApi({ token: "999:of-nobody", apiBaseUrl: "http://127.0.0.1:9" });
    for (const [broken, code] of [
      [refused, "telegram-token-refused"],
      [unreachable, "telegram-unreachable"],
    ] as const) {
      const error: unknown = await telegramInfo({ api: broken, now: Date.now }).catch((it: unknown) => it);
      expect(error).toMatchObject({ code });
      const shown = error instanceof Error ? `${error.message}${error.stack}${JSON.stringify(error)}` : "";
      expect(shown).not.toContain("of-nobody");
      expect(error).not.toHaveProperty("cause");
    }
  });
});

describe("the state of a webhook", () => {
  const now = Date.UTC(2026, 10, 22, 12);
  const info = (more: object) => ({
    url: "https://bot.example/hook",
    has_custom_certificate: false,
    pending_update_count: 0,
    ...more,
  });

  it("counts a failure as over when nothing waits and some time has passed", () => {
    const failed = { last_error_date: now / 1000 - 7200, last_error_message: "Connection refused" };
    expect(webhookState(info(failed), now)).toMatchObject({
      kind: "recovered",
      summary:
        "Telegram delivers to https://bot.example/hook; no update waits. The last failure was 2 hours ago: Connection refused.",
    });
    expect(webhookState(info({ ...failed, pending_update_count: 3 }), now).kind).toBe("failing");
  });

  it.each([
    ["Wrong response from the webhook: 401 Unauthorized", /same value/],
    ["Wrong response from the webhook: 404 Not Found", /path/],
    ["Wrong response from the webhook: 503 Service Unavailable", /cannot store/],
    ["Read timeout expired", /does not run/],
    ["SSL error {error:0A000086:SSL routines::certificate verify failed}", /certificate/],
    ["Something new", /telegram info/],
  ])("has a fix for: %s", (message, fix) => {
    expect(
      webhookState(
        info({ last_error_date: now / 1000, last_error_message: message, pending_update_count: 1 }),
        now,
      ).fix,
    ).toMatch(fix);
  });
});

describe("the environment of Telegram's commands", () => {
  it.each([
    [{}, "telegram-token-missing"],
    [{ TELEGRAM_BOT_TOKEN: "bot 12:abc" }, "telegram-token-malformed"],
  ])("refuses a token of %j without repeating it", (environment, code) => {
    expect(() => telegramAccount(environment)).toThrow(expect.objectContaining({ code }));
    expect(() => telegramAccount(environment)).not.toThrow(/12:abc/);
  });

  it.each([
    [{}, "telegram-secret-missing"],
    [{ TELEGRAM_WEBHOOK_SECRET_TOKEN: "two words" }, "telegram-secret-malformed"],
  ])("refuses a secret of %j", (environment, code) => {
    expect(() => webhookSecret(environment)).toThrow(expect.objectContaining({ code }));
  });
});
