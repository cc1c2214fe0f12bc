import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createAskingBot, expectShown } from "../support/asking-bot.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { captureLog } from "../support/log-lines.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;

async function writeNow(world: World, chat: string, text: string, rest: object = {}): Promise<void> {
  await world.write(chat, text, { sentAt: Date.now(), ...rest });
}

const told = (world: World, chat = "c1"): string[] =>
  world.chats.visible(chat).filter((text) => text.startsWith("Told: "));

describe("a question of an action with a grant", () => {
  it("is asked in every run, and the outcome is told once for each", async () => {
    const { done, world } = createAskingBot(
      async (ctx, order, seen) => {
        const isGift = await ctx.confirm({ message: `Gift ${order}?`, yes: "A gift", no: "No gift" });
        seen.push(`${order} ${isGift} ${ctx.approver?.userId}`);
        return { order, isGift };
      },
      {},
      { approval: true, grantable: true, approvalSummary: () => "Send it" },
    );
    await world.write("c1", "Do A7");
    await world.press("c1", "More");
    await world.press("c1", "Allow always");
    await expectShown(world, "Gift A7?");
    await world.press("c1", "A gift");
    await expectShown(world, 'Told: {"order":"A7","isGift":true}');
    await writeNow(world, "c1", "Do B8");
    await expectShown(world, "Gift B8?");
    await world.press("c1", "No gift");
    await expectShown(world, 'Told: {"order":"B8","isGift":false}');
    expect(done).toEqual(["A7 true ada", "B8 false ada"]);
    expect(told(world)).toHaveLength(2);
    await vi.waitFor(async () => {
      const approvals = await world.thread("c1").approvals.list();
      expect(approvals.map(({ state }) => state)).toEqual(["done", "done"]);
    }, 8000);
  });
});

describe("a question in a chat that changes", () => {
  it("is answered in the chat that its group has become, by a button and by a quote", async () => {
    const { world } = createAskingBot(async (ctx) => {
      const isWanted = await ctx.confirm({ message: "Really?" });
      const { value } = await ctx.elicit({ message: "Why?", schema: z.string() });
      return { isWanted, value };
    });
    await world.write("old", "Do A7", GROUP);
    await expectShown(world, "Really?", "old");
    const yes = world.chats.button("old", "Yes") ?? "";
    world.chats.moved.set("old", "new");
    await world.post({ kind: "moved", id: "s1", chat: "old", user: "ada", isGroup: true, movedTo: "new" });
    await world.pressToken("new", yes, { isGroup: true });
    const card = await expectShown(world, "Why?", "new");
    await writeNow(world, "new", "because", { ...GROUP, quotes: card.id });
    await expectShown(world, 'Told: {"isWanted":true,"value":"because"}', "new");
  });

  it("ends with `nobody` when its chat accepts no messages any more, and the action goes on", async () => {
    const { done, world } = createAskingBot(async (ctx, _order, seen) => {
      const { why } = await ctx.elicit({ message: "A note?", schema: z.string(), of: { person: "dana" } });
      seen.push(String(why));
      return { why };
    });
    await world.write("d1", "Hello", { user: "dana" });
    await expectShown(world, "Heard: Hello", "d1");
    world.chats.gone.add("d1");
    await world.write("c1", "Do A7");
    await expectShown(world, 'Told: {"why":"nobody"}');
    expect(done).toEqual(["nobody"]);
  });

  it("stays open if only one of several chats is gone", async () => {
    const { world } = createAskingBot(
      async (ctx) => ctx.confirm({ message: "Fine?", of: { role: "lead" } }),
      {
        authorizeTurn: () => ({ allowed: true, people: { holders: { lead: ["dana", "eve"] } } }),
      },
    );
    for (const [chat, user] of [
      ["d1", "dana"],
      ["e1", "eve"],
    ] as const) {
      await world.write(chat, "Hello", { user });
      await expectShown(world, "Heard: Hello", chat);
    }
    world.chats.gone.add("d1");
    await world.write("c1", "Do A7");
    await world.press("e1", "Yes", { user: "eve" });
    await expectShown(world, "Told: true");
  });
});

describe("a question on a platform without buttons", () => {
  const withoutButtons = {
    messengers: (world: World) => ({
      fake: { ...world.messenger(), platform: fakePlatform(world.chats, { buttons: false }) },
    }),
  };

  it("is answered with the number of an option, and once", async () => {
    const { world } = createAskingBot(
      async (ctx) => ctx.choose({ message: "Which size?", options: ["S", "M"] }),
      withoutButtons,
    );
    await world.write("c1", "Do A7");
    await expectShown(world, "2. M");
    await writeNow(world, "c1", "2");
    await expectShown(world, 'Told: {"value":"M"}');
    await writeNow(world, "c1", "1");
    await vi.waitFor(() => expect(world.chats.visible("c1").length).toBeGreaterThan(2), 8000);
    expect(told(world)).toEqual(['Told: {"value":"M"}']);
  });

  it("takes numbers of the newest card, and words of the option, through a form", async () => {
    const schema = z.object({ size: z.enum(["S", "M"]), count: z.int().max(9) });
    const { world } = createAskingBot(
      async (ctx) => ctx.elicit({ message: "An order?", schema }),
      withoutButtons,
    );
    await world.write("c1", "Do A7");
    await expectShown(world, "2. M");
    await writeNow(world, "c1", "m");
    await expectShown(world, "(2 of 2)");
    await writeNow(world, "c1", "7");
    await expectShown(world, "Is this right?");
    await writeNow(world, "c1", "1");
    await expectShown(world, 'Told: {"value":{"size":"M","count":7}}');
  });
});

describe("the message that led to a question", () => {
  it("may be edited, which changes nothing, and deleted, which ends the question once", async () => {
    const { done, world } = createAskingBot(async (ctx, order, seen) => {
      const { why } = await ctx.elicit({ message: `Colour of ${order}?`, schema: z.string() });
      seen.push(`${order} ${why}`);
      return { why };
    });
    await world.write("c1", "Do A7", { id: "cause" });
    await expectShown(world, "Colour of A7?");
    await world.post({ kind: "edit", id: "cause", chat: "c1", user: "ada", text: "Do B8" });
    await writeNow(world, "c1", "/start");
    expect(world.chats.visible("c1").join()).not.toContain("B8");
    for (const id of ["cause", "cause"]) await world.post({ kind: "delete", id, chat: "c1", user: "ada" });
    await expectShown(world, 'Told: {"why":"declined"}');
    await expectShown(world, "Not answered.");
    expect(done).toEqual(["A7 declined"]);
    expect(told(world)).toHaveLength(1);
  });

  it("does not end the question of somebody else when another message is deleted", async () => {
    const { world } = createAskingBot(async (ctx) => ctx.elicit({ message: "Colour?", schema: z.string() }));
    await world.write("c1", "Hello", { id: "other" });
    await expectShown(world, "Heard: Hello");
    await world.write("c1", "Do A7", { id: "cause" });
    await expectShown(world, "Colour?");
    await world.post({ kind: "delete", id: "other", chat: "c1", user: "ada" });
    await writeNow(world, "c1", "blue");
    await expectShown(world, 'Told: {"value":"blue"}');
  });
});
