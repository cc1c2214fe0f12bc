import { beforeEach, describe, expect, it } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { createAskingBot, expectShown } from "../support/asking-bot.ts";

beforeEach(() => void captureLog());

describe("a question with buttons", () => {
  it("is answered by a press, and the action goes on with the answer", async () => {
    const { done, world } = createAskingBot(async (ctx, order, seen) => {
      const hold = await ctx.step("hold", () => seen.push("hold"));
      const isWanted = await ctx.confirm({ message: `Cancel order ${order}?`, yes: "Cancel it" });
      seen.push(`wanted ${isWanted}`);
      return { hold, isWanted };
    });
    await world.write("c1", "Do A7");
    const card = await expectShown(world, "Cancel order A7?");
    expect(card.buttons.map(({ label }) => label)).toEqual(["Cancel it", "No", "Not now"]);
    expect(await world.press("c1", "Cancel it")).toBeUndefined();
    await expectShown(world, 'Told: {"hold":1,"isWanted":true}');
    expect(done).toEqual(["hold", "wanted true"]);
    const ended = await expectShown(world, "Cancel order A7?");
    expect(ended.buttons).toEqual([]);
    expect(ended.texts.at(-1)).toContain("Cancel it");
  });

  it("asks several questions, one after the other", async () => {
    const { world } = createAskingBot(async (ctx) => {
      const size = await ctx.choose({
        message: "Which size?",
        options: ["S", { value: "M", label: "Medium" }],
      });
      const isGift = await ctx.confirm({ message: "A gift?" });
      return { size: size.value, isGift };
    });
    await world.write("c1", "Do A7");
    await world.press("c1", "Medium");
    await expectShown(world, "A gift?");
    await world.press("c1", "No");
    await expectShown(world, 'Told: {"size":"M","isGift":false}');
  });

  it("is answered only by the person who was asked, with a press or a quote", async () => {
    const group = { isGroup: true, mentions: true };
    const { world } = createAskingBot(async (ctx) => ctx.confirm({ message: "Really?" }));
    await world.write("g1", "Do A7", group);
    const card = await expectShown(world, "ada: Really?", "g1");
    expect(await world.press("g1", "Yes", { ...group, user: "bob" })).toBe(
      "This question is for somebody else.",
    );
    await world.write("g1", "yes", { ...group, user: "bob", quotes: card.id });
    await expectShown(world, "Heard: ", "g1");
    await world.write("g1", "yes", { ...group, quotes: card.id });
    await expectShown(world, "Told: true", "g1");
  });

  it("can be declined", async () => {
    const { world } = createAskingBot(async (ctx) => ctx.choose({ message: "Which?", options: ["S", "M"] }));
    await world.write("c1", "Do A7");
    await world.press("c1", "Not now");
    await expectShown(world, 'Told: {"why":"declined"}');
    await expectShown(world, "Not answered.");
    expect(world.chats.button("c1", "S")).toBeUndefined();
  });
});
