import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { BotAnswer } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { createAskingBot, expectShown } from "../support/asking-bot.ts";
import { createWorld } from "../support/world.ts";

beforeEach(() => void captureLog());

describe("a question of the bot's own code", () => {
  it("is asked in a person's private chat, and answered through onAnswer", async () => {
    const answers: BotAnswer[] = [];
    const world = createWorld({ settings: { onAnswer: (answer) => void answers.push(answer) } });
    await world.write("c1", "Hello");
    await expectShown(world, "Hello");
    const id = await runInDurableObject(world.stub, (bot) =>
      bot.questions.ask(
        { messenger: "fake", userId: "ada" },
        { message: "Which size?", schema: z.enum(["S", "M"]) },
      ),
    );
    await expectShown(world, "Which size?");
    await world.press("c1", "M");
    await vi.waitFor(
      () => expect(answers).toEqual([{ id, value: "M", person: { userId: "ada", fullName: "ada" } }]),
      { timeout: 8000, interval: 20 },
    );
  });

  it("is refused at once if no form can ask for it, or the chat is not private enough", async () => {
    const world = createWorld();
    await world.write("g1", "Hello", { isGroup: true, mentions: true });
    await expectShown(world, "Hello", "g1");
    const ask = (schema: z.ZodType, sensitive: boolean) =>
      runInDurableObject(world.stub, (bot) =>
        bot.questions
          .ask({ messenger: "fake", chatId: "g1" }, { message: "Well?", schema, sensitive })
          .catch((error: { readonly code?: string }) => error.code),
      );
    expect(await ask(z.array(z.string()), false)).toBe("question-unsupported");
    expect(await ask(z.string(), true)).toBe("question-not-private");
  });
});

describe("an action that needs consent and asks", () => {
  it("asks after the consent, and tells its outcome as that of the approval", async () => {
    const { done, world } = createAskingBot(
      async (ctx, order, seen) => {
        const isGift = await ctx.confirm({ message: "A gift?", yes: "A gift", no: "Not a gift" });
        seen.push(`${order} ${isGift} ${ctx.approver?.userId}`);
        return { isGift };
      },
      {},
      { approval: true, approvalSummary: () => "Send it" },
    );
    await world.write("c1", "Do A7");
    await world.press("c1", "Approve");
    await expectShown(world, "A gift?");
    await world.press("c1", "A gift");
    await expectShown(world, 'Told: {"isGift":true}');
    expect(done).toEqual(["A7 true ada"]);
    await vi.waitFor(async () => {
      const [approval] = await world.thread("c1").approvals.list();
      expect(approval).toMatchObject({ state: "done", outcome: { isGift: true } });
    }, 8000);
  });

  it("leaves a running approval alone while it waits", async () => {
    const { world } = createAskingBot(
      async (ctx) => ctx.confirm({ message: "A gift?" }),
      {},
      { approval: true },
    );
    await world.write("c1", "Do A7");
    await world.press("c1", "Approve");
    await expectShown(world, "A gift?");
    await vi.waitFor(
      async () => {
        const at = await runInDurableObject(world.thread("c1"), (_bot, state) => state.storage.getAlarm());
        expect((at ?? 0) - Date.now()).toBeGreaterThan(25 * 60_000);
      },
      { timeout: 20_000, interval: 200 },
    );
  });
});
