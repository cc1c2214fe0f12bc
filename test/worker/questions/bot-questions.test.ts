import { evictDurableObject, runInDurableObject } from "cloudflare:test";
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
    const world = createWorld({
      settings: {
        getQuestions: () => ({ size: z.enum(["S", "M"]) }),
        onAnswer: (answer) => void answers.push(answer),
      },
    });
    await world.write("c1", "Hello");
    await expectShown(world, "Hello");
    const id = await runInDurableObject(world.stub, (bot) =>
      bot.questions.ask({ messenger: "fake", userId: "ada" }, { name: "size", message: "Which size?" }),
    );
    await expectShown(world, "Which size?");
    await world.press("c1", "M");
    await vi.waitFor(
      () =>
        expect(answers).toEqual([
          { id, name: "size", value: "M", person: { userId: "ada", fullName: "ada" } },
        ]),
      { timeout: 8000, interval: 20 },
    );
  });

  it("is checked by all rules of its schema, also after a restart, and asked again with the problem", async () => {
    const answers: BotAnswer[] = [];
    const code = z
      .string()
      .refine((text) => text.startsWith("R"), { message: "It begins with R." })
      .transform((text) => text.length);
    const world = createWorld({
      settings: { getQuestions: () => ({ code }), onAnswer: (answer) => void answers.push(answer) },
    });
    await world.write("c1", "Hello");
    await expectShown(world, "Hello");
    const id = await runInDurableObject(world.stub, (bot) =>
      bot.questions.ask({ messenger: "fake", userId: "ada" }, { name: "code", message: "Code?" }),
    );
    const card = await expectShown(world, "Code?");
    await evictDurableObject(world.stub);
    await world.write("c1", "X12", { quotes: card.id, sentAt: Date.now() });
    const hint = await expectShown(world, "My question is still open.");
    expect(hint).toMatchObject({ replyTo: card.id, texts: [expect.stringContaining("It begins with R.")] });
    expect(answers).toEqual([]);
    await world.write("c1", "R123", { quotes: card.id, sentAt: Date.now() });
    await vi.waitFor(() => expect(answers).toMatchObject([{ id, name: "code", value: 4 }]), 8000);
  });

  it("is refused at once if no form can ask for it, or the chat is not private enough", async () => {
    const questions = { tags: z.array(z.string()), pin: z.string() };
    const world = createWorld({ settings: { getQuestions: () => questions } });
    await world.write("g1", "Hello", { isGroup: true, mentions: true });
    await expectShown(world, "Hello", "g1");
    const ask = (name: string, sensitive: boolean) =>
      runInDurableObject(world.stub, (bot) =>
        bot.questions
          .ask({ messenger: "fake", chatId: "g1" }, { message: "Well?", name, sensitive })
          .catch((error: { readonly code?: string }) => error.code),
      );
    expect(await ask("tags", false)).toBe("question-unsupported");
    expect(await ask("pin", true)).toBe("question-not-private");
    expect(await ask("toString", false)).toBe("question-unknown");
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
