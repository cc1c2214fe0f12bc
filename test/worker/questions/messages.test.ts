import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { captureLog } from "../support/log-lines.ts";
import { createAskingBot, expectShown } from "../support/asking-bot.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;

/** Somebody writes now, after the card has appeared. */
async function writeNow(world: World, chat: string, text: string, rest: object = {}): Promise<void> {
  await world.write(chat, text, { sentAt: Date.now(), ...rest });
}

describe("an answer that is a message", () => {
  it("is the next one in a private chat, unless it is a command or was written before the question", async () => {
    const { world } = createAskingBot(async (ctx) =>
      ctx.elicit({ message: "Which colour?", schema: z.string() }),
    );
    await world.write("c1", "Do A7");
    await expectShown(world, "Which colour?");
    await world.write("c1", "Hurry");
    await expectShown(world, "Heard: Hurry");
    await writeNow(world, "c1", "/start");
    await writeNow(world, "c1", "blue, please");
    await expectShown(world, 'Told: {"value":"blue, please"}');
    expect(world.chats.visible("c1").join()).not.toContain("Heard: blue");
    await writeNow(world, "c1", "green");
    await expectShown(world, "Heard: green");
  });

  it("of another kind is what its field can read; anything else gets one hint, and the model answers", async () => {
    const { world } = createAskingBot(async (ctx) =>
      ctx.elicit({ message: "How many?", schema: z.int().max(9) }),
    );
    await world.write("c1", "Do A7");
    const card = await expectShown(world, "How many?");
    await writeNow(world, "c1", "some");
    const hint = await expectShown(world, "My question is still open.");
    expect(hint.replyTo).toBe(card.id);
    await expectShown(world, "Heard: some");
    await writeNow(world, "c1", "12");
    await expectShown(world, "Heard: 12");
    expect(world.chats.visible("c1").filter((text) => text.includes("still open"))).toHaveLength(1);
    await writeNow(world, "c1", "3");
    await expectShown(world, 'Told: {"value":3}');
  });

  it("quotes the question in a group, and comes from the person who was asked", async () => {
    const { world } = createAskingBot(async (ctx) => ctx.elicit({ message: "Why?", schema: z.string() }));
    await world.write("g1", "Do A7", GROUP);
    const card = await expectShown(world, "please reply to this message", "g1");
    await writeNow(world, "g1", "because", GROUP);
    await expectShown(world, "To answer my question, please reply to it.", "g1");
    await expectShown(world, "Heard: ada: because", "g1");
    await writeNow(world, "g1", "never", { ...GROUP, user: "bob", quotes: card.id });
    // The model reads what was quoted, too.
    await expectShown(world, "\nnever", "g1");
    await writeNow(world, "g1", "it broke", { ...GROUP, quotes: card.id });
    await expectShown(world, 'Told: {"value":"it broke"}', "g1");
  });

  it("fills the fields of an object, which is sent with one summary", async () => {
    const schema = z.object({ reason: z.enum(["broken", "late"]), note: z.string() });
    const { world } = createAskingBot(async (ctx) => ctx.elicit({ message: "Returning it?", schema }));
    await world.write("c1", "Do A7");
    await expectShown(world, "Returning it?");
    await world.press("c1", "broken");
    await expectShown(world, "(2 of 2)");
    await writeNow(world, "c1", "It leaks");
    await expectShown(world, "Is this right?");
    await world.press("c1", "Change");
    await world.press("c1", "Reason");
    await world.press("c1", "late");
    await expectShown(world, "Is this right?");
    await world.press("c1", "Send");
    await expectShown(world, 'Told: {"value":{"reason":"late","note":"It leaks"}}');
  });

  it("goes on below a message, and leaves what it answered above", async () => {
    const schema = z.object({ city: z.string(), street: z.string(), isGift: z.boolean() });
    const { world } = createAskingBot(async (ctx) => ctx.elicit({ message: "Where to?", schema }));
    await world.write("g1", "Do A7", GROUP);
    const first = await expectShown(world, "(1 of 3)", "g1");
    await writeNow(world, "g1", "Rome", { ...GROUP, quotes: first.id });
    const second = await expectShown(world, "(2 of 3)", "g1");
    await vi.waitFor(() => expect(world.chats.visible("g1")).toContain("ada: Where to?\n\nCity: Rome"));
    // Its question has an answer.
    await writeNow(world, "g1", "Paris", { ...GROUP, quotes: first.id });
    await expectShown(world, "\nParis", "g1");
    await writeNow(world, "g1", "Via Appia", { ...GROUP, quotes: second.id });
    await expectShown(world, "(3 of 3)", "g1");
    await world.press("g1", "No");
    await expectShown(world, "Is this right?", "g1");
    await world.press("g1", "Send");
    await expectShown(world, 'Told: {"value":{"city":"Rome","street":"Via Appia","isGift":false}}', "g1");
    expect(world.chats.visible("g1").filter((text) => text.includes("Where to?"))).toHaveLength(2);
  });

  it("begins at the problem if the schema refuses it", async () => {
    const schema = z.string().refine((text) => text.startsWith("R"), { message: "It begins with R" });
    const { world } = createAskingBot(async (ctx) => ctx.elicit({ message: "Code?", schema }));
    await world.write("c1", "Do A7");
    await expectShown(world, "Code?");
    await writeNow(world, "c1", "X1");
    await expectShown(world, "It begins with R");
    await writeNow(world, "c1", "R1");
    await expectShown(world, 'Told: {"value":"R1"}');
  });
});

describe("an open question", () => {
  const ask = (message: string) =>
    createAskingBot(async (ctx) => ctx.elicit({ message, schema: z.string() }));

  it("ends with /stop and with /new, and the action goes on without an answer", async () => {
    for (const command of ["/stop", "/new"]) {
      const { world } = ask("Which colour?");
      await world.write("c1", "Do A7");
      await expectShown(world, "Which colour?");
      await writeNow(world, "c1", command);
      await expectShown(world, "Not answered.");
      await expectShown(world, 'Told: {"why":"declined"}');
    }
  });

  it("ends when the message that led to it is deleted", async () => {
    const { world } = ask("Which colour?");
    await world.write("c1", "Do A7", { id: "cause" });
    await expectShown(world, "Which colour?");
    await world.post({ kind: "delete", id: "cause", chat: "c1", user: "ada" });
    await expectShown(world, 'Told: {"why":"declined"}');
  });

  it("does not keep others from talking to the bot, and asks them on their own", async () => {
    const { world } = ask("Which colour?");
    await world.write("g1", "Do A7", GROUP);
    const first = await expectShown(world, "ada: Which colour?", "g1");
    await world.write("g1", "Do B8", { ...GROUP, user: "bob" });
    const second = await expectShown(world, "bob: Which colour?", "g1");
    await writeNow(world, "g1", "red", { ...GROUP, user: "bob", quotes: second.id });
    await expectShown(world, 'Told: {"value":"red"}', "g1");
    await writeNow(world, "g1", "blue", { ...GROUP, quotes: first.id });
    await expectShown(world, 'Told: {"value":"blue"}', "g1");
  });

  it("keeps no alarm but that of its reminder", async () => {
    const { world } = ask("Which colour?");
    await world.write("c1", "Do A7");
    await expectShown(world, "Which colour?");
    await vi.waitFor(
      async () => {
        const at = await runInDurableObject(world.thread("c1"), (_bot, state) => state.storage.getAlarm());
        expect((at ?? 0) - Date.now()).toBeGreaterThan(25 * 60_000);
      },
      { timeout: 20_000, interval: 200 },
    );
  });
});

describe("a question to somebody else", () => {
  it("is asked in the person's private chat, and answered there with a reply or a button", async () => {
    const { world } = createAskingBot(
      async (ctx) => {
        const note = await ctx.elicit({ message: "A note?", schema: z.string(), of: { person: "dana" } });
        const isFine = await ctx.confirm({ message: "Fine?", of: { role: "lead" } });
        return { note: note.value, isFine };
      },
      {
        authorizeTurn: () => ({ allowed: true, people: { holders: { lead: ["dana"] } } }),
      },
    );
    await world.write("d1", "Hello", { user: "dana" });
    await expectShown(world, "Heard: Hello", "d1");
    await world.write("c1", "Do A7");
    const card = await expectShown(world, "A note?", "d1");
    await writeNow(world, "d1", "careful", { user: "dana", quotes: card.id });
    await world.press("d1", "Yes", { user: "dana" });
    await expectShown(world, 'Told: {"note":"careful","isFine":true}');
    expect(world.chats.visible("d1").join()).not.toContain("Heard: careful");
  });

  it("counts the first answer of several who have a role, and tells the others", async () => {
    const { world } = createAskingBot(
      async (ctx) => ctx.confirm({ message: "Fine?", of: { role: "lead" } }),
      { authorizeTurn: () => ({ allowed: true, people: { holders: { lead: ["dana", "eve"] } } }) },
    );
    for (const user of ["dana", "eve"]) {
      await world.write(user, "Hello", { user });
      await expectShown(world, "Heard: Hello", user);
    }
    await world.write("c1", "Do A7");
    await expectShown(world, "Fine?", "dana");
    await expectShown(world, "Fine?", "eve");
    const later = world.chats.button("eve", "Yes") ?? "";
    await world.press("dana", "No", { user: "dana" });
    expect(await world.pressToken("eve", later, { user: "eve" })).toBeDefined();
    await expectShown(world, "Told: false");
    await expectShown(world, "Answered by", "eve");
    expect(world.chats.visible("c1").filter((text) => text.startsWith("Told:"))).toEqual(["Told: false"]);
  });

  it("asks for sensitive fields in the private chat only, and shows them nowhere", async () => {
    const { world } = createAskingBot(async (ctx) => {
      const { value } = await ctx.elicit({ message: "PIN?", schema: z.string(), sensitive: true });
      return { length: value?.length };
    });
    await world.write("c1", "Hello");
    await expectShown(world, "Heard: Hello");
    await world.write("g1", "Do A7", GROUP);
    const card = await expectShown(world, "PIN?");
    await writeNow(world, "c1", "4711", { quotes: card.id });
    await expectShown(world, 'Told: {"length":4}', "g1");
    await expectShown(world, "•••");
    const stored = await runInDurableObject(world.thread("g1"), (_bot, state) =>
      JSON.stringify([
        ...state.storage.sql.exec("SELECT * FROM question_v1"),
        ...state.storage.sql.exec("SELECT * FROM run_log_v1"),
      ]),
    );
    expect(stored).not.toMatch(/(?<![\da-f-])4711(?![\da-f-])/);
  });

  it("is answered at once if nobody can be asked", async () => {
    const { world } = createAskingBot(async (ctx) =>
      ctx.choose({ message: "Which?", options: ["S"], of: { person: "nobody-knows" } }),
    );
    await world.write("c1", "Do A7");
    await expectShown(world, '"why":"nobody"');
  });
});
