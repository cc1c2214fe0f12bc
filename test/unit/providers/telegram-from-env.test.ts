import { describe, expect, it } from "vitest";
import { telegramFromEnv, telegramMessenger } from "../../../providers/telegram/index.ts";
import { errorCode } from "../../../src/core/base/errors.ts";

const TOKEN = "123456:AAbbCC";
const ENV = { TELEGRAM_BOT_TOKEN: TOKEN, TELEGRAM_WEBHOOK_SECRET_TOKEN: "secret" };
const HEADER = "x-telegram-bot-api-secret-token";

const codeOf = (body: () => unknown): string | undefined => {
  try {
    body();
    return undefined;
  } catch (error) {
    return errorCode(error);
  }
};

describe("telegramFromEnv", () => {
  it("is the bot of the environment's token and secret", async () => {
    const { platform } = telegramFromEnv(ENV);
    const byHand = telegramMessenger({ token: TOKEN, secretToken: "secret" });
    expect(await platform.account?.()).toBe(await byHand.platform.account?.());
    const verify = platform.verification.kind === "header" ? platform.verification.verify : undefined;
    expect(await verify?.(new Headers({ [HEADER]: "secret" }))).toBe(true);
    expect(await verify?.(new Headers({ [HEADER]: "guess" }))).toBe(false);
  });

  it("takes the options of telegramMessenger beside it", () => {
    const definition = telegramFromEnv(ENV, { allow: [7], burstMs: 0 });
    expect(definition).toMatchObject({ allow: [7], burstMs: 0 });
  });

  it("reads the user name and the address of the Bot API, and takes an empty value for none", () => {
    expect(codeOf(() => telegramFromEnv({ ...ENV, TELEGRAM_BOT_USERNAME: "no name" }))).toBe(
      "telegram-user-name-malformed",
    );
    expect(codeOf(() => telegramFromEnv({ ...ENV, TELEGRAM_API_BASE_URL: "ftp://x" }))).toBe(
      "telegram-api-base-url-malformed",
    );
    const empty = { ...ENV, TELEGRAM_BOT_USERNAME: "", TELEGRAM_API_BASE_URL: "" };
    expect(codeOf(() => telegramFromEnv(empty))).toBeUndefined();
  });

  it("names what is missing", () => {
    expect(codeOf(() => telegramFromEnv({ ...ENV, TELEGRAM_BOT_TOKEN: "" }))).toBe("telegram-token-missing");
    const noSecret = { ...ENV, TELEGRAM_WEBHOOK_SECRET_TOKEN: "" };
    expect(codeOf(() => telegramFromEnv(noSecret))).toBe("telegram-secret-missing");
  });
});
