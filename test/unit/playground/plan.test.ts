import { describe, expect, it } from "vitest";
import { planPlayground } from "../../../playground/plan.ts";

describe("playground plan", () => {
  it("simulates everything when nothing is set", () => {
    expect(planPlayground({})).toMatchObject({ simulator: true });
    expect(planPlayground({}).model).toMatch(/^built-in demo/);
  });

  it("leaves the simulator out when a bot's token is set", () => {
    const plan = planPlayground({ TELEGRAM_BOT_TOKEN: "1:t", TELEGRAM_WEBHOOK_SECRET_TOKEN: "s" });
    expect(plan).toMatchObject({ simulator: false, telegram: "your bot, through https://api.telegram.org" });
    expect(JSON.stringify(plan)).not.toContain("1:t");
  });

  it("refuses half of a bot's variables and says which are missing", () => {
    expect(() => planPlayground({ TELEGRAM_BOT_TOKEN: "1:t" })).toThrow(
      /TELEGRAM_WEBHOOK_SECRET_TOKEN is not/,
    );
    expect(() => planPlayground({ TELEGRAM_API_BASE_URL: "http://x" })).toThrow(/TELEGRAM_BOT_TOKEN is not/);
  });

  it("says which model answers, without its key", () => {
    expect(
      planPlayground({ OPENAI_BASE_URL: "http://127.0.0.1:1/v1", OPENAI_API_KEY: "k9", MODEL: "small" })
        .model,
    ).toBe("small, OpenAI-compatible server at http://127.0.0.1:1/v1");
    expect(planPlayground({ ANTHROPIC_API_KEY: "k9" }).model).toBe("Anthropic");
  });
});
