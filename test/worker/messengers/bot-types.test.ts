import { describe, expect, expectTypeOf, it } from "vitest";
import { ConfigurationError, modelFromEnv, Think } from "../../../src/index.ts";
import type { BotEnvironment, ModelEnvironment, ThinkModel } from "../../../src/index.ts";
import type {
  MessengerAuthor,
  MessengerConversation,
  MessengerMessage,
} from "../../../src/messengers/index.ts";
import { BOT } from "../../../src/agent/bot-root.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { callsOver } from "../../../src/core/chat/inner-calls.ts";
import { german } from "../../../src/texts/index.ts";
import { telegramFromEnv } from "../../../providers/telegram/index.ts";
import type { TelegramEnvironment } from "../../../providers/telegram/index.ts";
import { createWorld } from "../support/world.ts";

describe("the types that a bot author sees", () => {
  it("let getModel() return what modelFromEnv() does, a model, or the id of one", () => {
    expectTypeOf(modelFromEnv).returns.toExtend<ThinkModel>();
    expectTypeOf<ReturnType<typeof modelFromEnv>["model"]>().toExtend<ThinkModel>();
    expectTypeOf<"@cf/openai/gpt-oss-120b">().toExtend<ThinkModel>();
    expectTypeOf<{ readonly model: string }>().not.toExtend<ThinkModel>();
  });

  it("have one environment for a Telegram bot", () => {
    expectTypeOf<BotEnvironment>().toExtend<ModelEnvironment>();
    expectTypeOf<BotEnvironment>().toExtend<TelegramEnvironment>();
    class Bot extends Think<BotEnvironment & { readonly SHOP_URL: string }> {
      override getModel() {
        return modelFromEnv(this.env);
      }

      override getMessengers() {
        expectTypeOf(this.env.SHOP_URL).toBeString();
        return { telegram: telegramFromEnv(this.env) };
      }
    }
    expectTypeOf<Bot["getModel"]>().returns.toExtend<ThinkModel>();
  });

  it("let a conversation function return a name, a target, or a promise of either", () => {
    expectTypeOf(() => "ada").toExtend<MessengerConversation>();
    expectTypeOf(async () => "ada").toExtend<MessengerConversation>();
    expectTypeOf(() => ({ target: "self" }) as const).toExtend<MessengerConversation>();
    expectTypeOf(() => ({ target: "subagent", name: "ada" }) as const).toExtend<MessengerConversation>();
    expectTypeOf<"self">().toExtend<MessengerConversation>();
    expectTypeOf<"ada">().not.toExtend<MessengerConversation>();
    expectTypeOf(() => 7).not.toExtend<MessengerConversation>();
    expectTypeOf(() => ({ target: "thread" }) as const).not.toExtend<MessengerConversation>();
    expectTypeOf<MessengerMessage["author"]>().toEqualTypeOf<MessengerAuthor | undefined>();
  });
});

describe("getModel", () => {
  it("may return what modelFromEnv() does", async () => {
    const AI = { run: () => Promise.reject(new Error("not used")) };
    const world = createWorld({ getModel: () => modelFromEnv({ AI }) });
    expect(await callsOver(BOT, () => world.stub, systemDeps.clock).healthProblem()).toBeUndefined();
  });

  it("answers in the bot's language when no model is set, and /health says what to set", async () => {
    const world = createWorld({ getModel: () => modelFromEnv({}), settings: { texts: german } });
    await world.write("c1", "hallo");
    await expect.poll(() => world.chats.visible("c1").at(-1)).toBe(german.errorResponseText);
    expect(await callsOver(BOT, () => world.stub, systemDeps.clock).healthProblem()).toMatchObject({
      code: "model-not-set",
      message: expect.stringMatching(/^No model is set\. Set OPENAI_BASE_URL .*Workers AI/) as string,
    });
  });

  it("is named by /health when modelFromEnv() throws", async () => {
    const world = createWorld({ getModel: () => modelFromEnv({ MODEL: "m" }) });
    expect(await callsOver(BOT, () => world.stub, systemDeps.clock).healthProblem()).toMatchObject({
      code: "model-provider-missing",
    });
    expect(() => modelFromEnv({ MODEL: "m" })).toThrow(ConfigurationError);
  });
});
