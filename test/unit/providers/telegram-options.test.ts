import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import defaultExport, {
  telegramMessenger,
  type TelegramMessengerOptions,
} from "../../../providers/telegram/index.ts";
import { errorCode } from "../../../src/core/base/errors.ts";
import { token } from "./telegram-updates.ts";

const secretToken = "s3cret_-A";

function failure(options: unknown): unknown {
  try {
    telegramMessenger(options as TelegramMessengerOptions);
  } catch (error) {
    return error;
  }
  throw new Error("accepted");
}

describe("options", () => {
  it.each([
    [{ secretToken }, "telegram-token-missing", "@BotFather"],
    [{ token: "", secretToken }, "telegram-token-missing", "TELEGRAM_BOT_TOKEN"],
    [{ token: "nonsense", secretToken }, "telegram-token-malformed", "123456:ABC"],
    [{ token: "bot123:abc", secretToken }, "telegram-token-malformed", "without"],
    [{ token }, "telegram-secret-missing", "TELEGRAM_WEBHOOK_SECRET_TOKEN"],
    [{ token, secretToken: "" }, "telegram-secret-missing", "verifyWebhook"],
    [{ token, secretToken: "with space" }, "telegram-secret-malformed", "A-Z a-z 0-9 _ -"],
    [{ token, secretToken: "x".repeat(257) }, "telegram-secret-malformed", "256"],
    [{ token, secretToken, userName: "t.me/bot" }, "telegram-user-name-malformed", "support_bot"],
    [{ token, secretToken, apiBaseUrl: "ftp://x" }, "telegram-api-base-url-malformed", "https"],
    [{ token, secretToken, apiBaseUrl: "localhost:8081" }, "telegram-api-base-url-malformed", "http"],
    [
      { token, secretToken, pacing: { group: { burst: 0, everyMs: 1 } } },
      "pacing-malformed",
      "burst of telegramMessenger must be a whole number of 1 or more",
    ],
    [{ token, secretToken, pacing: { direct: { burst: 1 } } }, "pacing-malformed", "milliseconds"],
    [{ token, secretTokn: "x" }, "messenger-option-invalid", 'Did you mean "secretToken"?'],
    [{ token, secretToken, respondsTo: ["mention"] }, "messenger-option-invalid", '"respondTo"?'],
    [{ token, secretToken, pacing: { groups: {} } }, "pacing-malformed", 'Did you mean "group"?'],
    [
      { token, secretToken, pacing: { group: { burst: 1, everyMS: 1 } } },
      "pacing-malformed",
      'pacing.group.everyMS of telegramMessenger does not exist. Did you mean "everyMs"?',
    ],
  ])("says how to fix %#", (options, code, fix) => {
    const error = failure(options);
    expect(errorCode(error)).toBe(code);
    expect((error as Error).message).toContain(fix);
  });

  it("never repeats a token or a secret in a complaint", () => {
    const shown = [
      inspect(failure({ token: "almost-a-secret-token", secretToken })),
      inspect(failure({ token, secretToken: "spaced secret" })),
      inspect(failure({ token, secretToken, apiBaseUrl: "http://user:hidden@x" })),
    ].join();
    for (const secret of ["almost-a-secret-token", "spaced secret", "hidden", token]) {
      expect(shown).not.toContain(secret);
    }
  });

  it("takes a function or an explicit false in place of a secret", () => {
    expect(telegramMessenger({ token, verifyWebhook: false }).platform.verification.kind).toBe("none");
    expect(telegramMessenger({ token, verifyWebhook: () => true }).platform.verification.kind).toBe("none");
  });

  it("hands on what every messenger understands, and keeps its secrets to itself", () => {
    const definition = telegramMessenger({ token, secretToken, respondTo: ["mention"], path: "/hook" });
    expect(definition).toMatchObject({
      respondTo: ["mention"],
      path: "/hook",
      platform: { provider: "telegram" },
    });
    expect(inspect(definition, { depth: 6 })).not.toContain(token);
    expect(Object.keys(definition).sort()).toEqual(["path", "platform", "respondTo"]);
  });

  it("is the default export too", () => {
    expect(defaultExport).toBe(telegramMessenger);
  });
});

describe("the secret in the header", () => {
  const { verification } = telegramMessenger({ token, secretToken }).platform;
  const verify = (headers: Record<string, string>) =>
    verification.kind === "header" ? verification.verify(new Headers(headers)) : Promise.resolve("no header");

  it("lets the right one in", async () => {
    expect(await verify({ "X-Telegram-Bot-Api-Secret-Token": secretToken })).toBe(true);
  });

  it("has to be right also when a function of the bot's own verifies", async () => {
    const { verifyWebhook } = telegramMessenger({
      token,
      secretToken,
      verifyWebhook: (request) => request.headers.get("x-proxy") === "mine",
    });
    if (typeof verifyWebhook !== "function") throw new Error("no function");
    const verdict = (headers: Record<string, string>) =>
      verifyWebhook(new Request("https://x/", { headers }));
    const secret = { "X-Telegram-Bot-Api-Secret-Token": secretToken };
    expect(await verdict({ ...secret, "x-proxy": "mine" })).toBe(true);
    expect(await verdict({ "x-proxy": "mine" })).toBe(false);
    expect(await verdict(secret)).toBe(false);
  });

  it.each([
    ["none", {}],
    ["an empty one", { "X-Telegram-Bot-Api-Secret-Token": "" }],
    ["a wrong one", { "X-Telegram-Bot-Api-Secret-Token": "s3cret_-B" }],
    ["the beginning of it", { "X-Telegram-Bot-Api-Secret-Token": "s3cret" }],
    ["it and more", { "X-Telegram-Bot-Api-Secret-Token": `${secretToken}x` }],
    ["the token", { "X-Telegram-Bot-Api-Secret-Token": token }],
  ])("keeps %s out", async (_name, headers) => {
    expect(await verify(headers)).toBe(false);
  });
});
