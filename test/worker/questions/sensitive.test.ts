import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createGate } from "../../../lab/support/gate.ts";
import type { BotAnswer } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { askingScript, createAskingBot, expectShown } from "../support/asking-bot.ts";
import { callTool } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

let lines: ReturnType<typeof captureLog>;
beforeEach(() => void (lines = captureLog()));

/** No id and no time has such a text. */
const SECRET = "zy.qx-w";
const GROUP = { isGroup: true, mentions: true } as const;

/** The tables of an object that hold a text. */
async function tablesWith(stub: ReturnType<World["thread"]>, text: string): Promise<string[]> {
  return runInDurableObject(stub, (_bot, state) => {
    const tables = [
      ...state.storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'"),
    ].map(({ name }) => name);
    return tables
      .filter((name) => !name.startsWith("_cf"))
      .filter((name) =>
        JSON.stringify([...state.storage.sql.exec(`SELECT * FROM "${name}"`)]).includes(text),
      );
  });
}

/** No object, request to the model or line of the log holds the text. */
async function expectNowhere(world: World, text: string): Promise<void> {
  for (const object of [world.stub, world.thread("c1"), world.thread("g1")])
    expect(await tablesWith(object, text)).toEqual([]);
  expect(JSON.stringify(world.requests)).not.toContain(text);
  expect(JSON.stringify(lines)).not.toContain(text);
}

describe("the answer to a sensitive question", () => {
  it.each([
    ["a message in the private chat of the turn", "c1", false],
    ["a message that quotes the question", "c1", true],
    ["a message in another chat than that of the turn", "g1", true],
  ])("is erased everywhere once it is taken: %s", async (_what, chat, quotes) => {
    const { world } = createAskingBot(async (ctx) => {
      const { value } = await ctx.elicit({ message: "PIN?", schema: z.string(), sensitive: true });
      return { length: value?.length };
    });
    await world.write("c1", "Hello");
    await expectShown(world, "Heard: Hello");
    await world.write(chat, "Do A7", chat === "g1" ? GROUP : {});
    const card = await expectShown(world, "PIN?");
    const sent = { id: "secret", sentAt: Date.now(), ...(quotes && { quotes: card.id }) };
    await world.write("c1", SECRET, sent);
    await expectShown(world, 'Told: {"length":7}', chat);
    await world.post({ kind: "edit", id: "secret", chat: "c1", user: "ada", text: "4712" });
    await world.write("c1", "Bye");
    await expectShown(world, "Heard: Bye");
    await expectNowhere(world, SECRET);
  });

  it("is erased when its call has ended without a known outcome", async () => {
    const { world } = createAskingBot(
      async (ctx) => {
        await ctx.elicit({ message: "PIN?", schema: z.string(), sensitive: true });
        return new Promise(() => {});
      },
      {},
      { timeoutMs: 50 },
    );
    await world.write("c1", "Do A7");
    await expectShown(world, "PIN?");
    await world.write("c1", SECRET, { sentAt: Date.now() });
    await expectShown(world, "Told: ");
    expect(await tablesWith(world.thread("c1"), SECRET)).toEqual([]);
  });
});

/** Somebody writes now, after the card has appeared. */
async function writeNow(world: World, text: string, rest: object = {}): Promise<void> {
  await world.write("c1", text, { sentAt: Date.now(), ...rest });
}

describe("a message while a sensitive question is open in a private chat", () => {
  const TYPO = `${SECRET} at home`;
  const MAIL = `${SECRET}@example.com`;
  const askForMail = () =>
    createAskingBot(async (ctx) => {
      const { value } = await ctx.elicit({ message: "Your e-mail?", schema: z.email(), sensitive: true });
      return { length: value?.length };
    });
  const hints = (world: World): number =>
    world.chats.visible("c1").filter((text) => text.includes("haven't passed your message on")).length;

  it.each([
    ["in the chat of the turn", "c1", "nothing"],
    ["in the chat of the turn, and quotes the question", "c1", "card"],
    ["in the chat of the turn, and quotes another message", "c1", "hint"],
    ["in the chat of the person, for a group", "g1", "nothing"],
    ["in the chat of the person, for a group, and quotes the question", "g1", "card"],
  ])("is never for the model, also if its field cannot read it: %s", async (_what, chat, quotes) => {
    const { world } = askForMail();
    await world.write("c1", "Hello");
    const hello = await expectShown(world, "Heard: Hello");
    await world.write(chat, "Do A7", chat === "g1" ? GROUP : {});
    const card = await expectShown(world, "Your e-mail?");
    const quoted = { nothing: {}, card: { quotes: card.id }, hint: { quotes: hello.id } }[quotes];
    await writeNow(world, TYPO, { id: "typo", ...quoted });
    await expectShown(world, "That's not an e-mail address.");
    expect((await expectShown(world, "haven't passed your message on")).texts.at(-1)).toContain("Not now");
    await world.post({ kind: "edit", id: "typo", chat: "c1", user: "ada", text: MAIL });
    // Each one is told, because each one is lost.
    await writeNow(world, TYPO, quoted);
    await vi.waitFor(() => expect(hints(world)).toBe(2), 8000);
    await writeNow(world, "/start");
    await writeNow(world, MAIL, quoted);
    await expectShown(world, `Told: {"length":${MAIL.length}}`, chat);
    await writeNow(world, "Bye");
    await expectShown(world, "Heard: Bye");
    await expectNowhere(world, SECRET);
    expect(world.chats.visible("c1").join()).not.toContain(SECRET);
  });

  it("is for the model again after Not now", async () => {
    const { world } = askForMail();
    await world.write("c1", "Do A7");
    await expectShown(world, "Your e-mail?");
    await writeNow(world, "How late is it?");
    await expectShown(world, "haven't passed your message on");
    await world.press("c1", "Not now");
    await expectShown(world, "Told: {}");
    await writeNow(world, "How late is it?");
    await expectShown(world, "Heard: How late is it?");
  });

  it("is kept, and no answer, if it comes before the next field is shown", async () => {
    const { world } = createAskingBot(async (ctx) => {
      const schema = z.object({ mail: z.email(), pin: z.string() });
      const { value } = await ctx.elicit({ message: "Who are you?", schema, sensitive: true });
      return { pin: value?.pin };
    });
    await world.write("c1", "Do A7");
    await expectShown(world, "(1 of 2)");
    const quick = { chat: "c1", user: "ada", sentAt: Date.now() };
    await world.post([
      { ...quick, id: "q1", text: MAIL },
      { ...quick, id: "q2", text: SECRET },
    ]);
    await expectShown(world, "haven't passed your message on");
    await expectShown(world, "(2 of 2)");
    await expectNowhere(world, `"${SECRET}"`);
    await writeNow(world, "4711");
    await world.press("c1", "Send");
    await expectShown(world, 'Told: {"pin":"4711"}');
    await expectNowhere(world, SECRET);
  });

  it("is kept between two fields of a question from a group", async () => {
    const { world } = createAskingBot(async (ctx) => {
      const schema = z.object({ mail: z.email(), pin: z.string() });
      const { value } = await ctx.elicit({ message: "Who are you?", schema, sensitive: true });
      return { pin: value?.pin?.length };
    });
    await world.write("c1", "Hello");
    await expectShown(world, "Heard: Hello");
    await world.write("g1", "Do A7", GROUP);
    await expectShown(world, "(1 of 2)");
    const quick = { chat: "c1", user: "ada", sentAt: Date.now() };
    await world.post([
      { ...quick, id: "q1", text: MAIL },
      { ...quick, id: "q2", text: SECRET },
      { ...quick, id: "q3", text: `${SECRET}!` },
    ]);
    await expectShown(world, "still open");
    await vi.waitFor(() => expect(world.chats.button("c1", "Send")).toBeDefined(), 8000);
    await world.press("c1", "Send");
    await expectShown(world, "Told:", "g1");
    await writeNow(world, "Bye");
    await expectShown(world, "Heard: Bye");
    await expectNowhere(world, SECRET);
  });

  it("is about the question that it quotes, if several are open", async () => {
    const script: ModelScript = (request) =>
      /^both$/i.test(request.said) && request.prompt.at(-1)?.role === "user"
        ? [callTool("act", { order: "A7" }), callTool("act", { order: "B8" })]
        : askingScript(request);
    const { world } = createAskingBot(
      async (ctx, order) => {
        const schema = order === "A7" ? z.email() : z.string();
        const { value } = await ctx.elicit({ message: `Code of ${order}?`, schema, sensitive: true });
        return { [order]: value?.length };
      },
      { script },
    );
    await world.write("c1", "Both");
    const first = await expectShown(world, "Code of A7?");
    await expectShown(world, "Code of B8?");
    await writeNow(world, TYPO, { quotes: first.id });
    await expectShown(world, "haven't passed your message on");
    await writeNow(world, MAIL, { quotes: first.id });
    await expectShown(world, `Told: {"A7":${MAIL.length}}`);
    await writeNow(world, SECRET);
    await expectShown(world, `Told: {"B8":${SECRET.length}}`);
    await expectNowhere(world, SECRET);
  });
});

describe("a message after a secret that its schema may still refuse", () => {
  /** Each run after the first one waits before it comes to the schema. */
  function createBot(): { readonly world: World; readonly open: () => void; readonly ran: Promise<void> } {
    const gate = createGate();
    let runs = 0;
    const schema = z.string().refine((text) => text.endsWith("!"), { message: "It ends with a !" });
    const { world } = createAskingBot(async (ctx) => {
      if ((runs += 1) === 2) await gate.pass();
      const { value } = await ctx.elicit({ message: "PIN?", schema, sensitive: true });
      return { length: value?.length };
    });
    return { world, open: () => gate.open(), ran: gate.reached };
  }

  it.each(["c1", "g1"])("never reaches a model if the person is asked again (from %s)", async (chat) => {
    const { open, ran, world } = createBot();
    await world.write("c1", "Hello");
    await expectShown(world, "Heard: Hello");
    await world.write(chat, "Do A7", chat === "g1" ? GROUP : {});
    await expectShown(world, "PIN?");
    await writeNow(world, SECRET);
    if (chat === "c1") await expectShown(world, "•••");
    await ran;
    await writeNow(world, `${SECRET}!`);
    if (chat === "g1") await expectShown(world, "haven't passed your message on");
    open();
    await expectShown(world, "haven't passed your message on");
    const asked = () => world.chats.visible("c1").filter((text) => text.includes("PIN?"));
    await vi.waitFor(() => expect(asked()).toHaveLength(2), 8000);
    await writeNow(world, `${SECRET}!`);
    await expectShown(world, `Told: {"length":${SECRET.length + 1}}`, chat);
    await writeNow(world, "Bye");
    await expectShown(world, "Heard: Bye");
    await expectNowhere(world, SECRET);
  });

  it("reaches the model once the schema has accepted the secret", async () => {
    const { open, world } = createBot();
    await world.write("c1", "Do A7");
    await expectShown(world, "PIN?");
    await writeNow(world, `${SECRET}!`);
    await expectShown(world, "•••");
    await writeNow(world, "How late is it?");
    open();
    await expectShown(world, "Heard: How late is it?");
    await expectShown(world, "Told: ");
    expect(world.chats.visible("c1").join()).not.toContain("haven't passed");
    await expectNowhere(world, SECRET);
  });
});

describe("a sensitive question of the bot's own code", () => {
  it("keeps its answer, and what is none, from everything but onAnswer", async () => {
    const answers: BotAnswer[] = [];
    const world = createWorld({
      settings: {
        getQuestions: () => ({ mail: z.object({ mail: z.email(), note: z.string() }) }),
        onAnswer: (answer) => void answers.push(answer),
      },
    });
    await world.write("c1", "Hello");
    await expectShown(world, "Hello");
    await runInDurableObject(world.stub, (bot) =>
      bot.questions.ask(
        { messenger: "fake", userId: "ada" },
        { name: "mail", message: "Your e-mail?", sensitive: ["mail"] },
      ),
    );
    await expectShown(world, "Your e-mail?");
    await writeNow(world, `${SECRET} at home`);
    await expectShown(world, "That's not an e-mail address.");
    await writeNow(world, `${SECRET}@example.com`);
    await expectShown(world, "(2 of 2)");
    await writeNow(world, "nothing");
    await expectShown(world, "•••");
    await world.press("c1", "Send");
    const value = { mail: `${SECRET}@example.com`, note: "nothing" };
    await vi.waitFor(() => expect(answers).toMatchObject([{ name: "mail", value }]), 8000);
    await vi.waitFor(() => expectNowhere(world, SECRET), { timeout: 8000, interval: 100 });
    expect(world.chats.visible("c1").join()).not.toContain(SECRET);
  });
});
