import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { german } from "../../../src/texts/index.ts";
import { killerAt } from "../support/killer.ts";
import { captureLog } from "../support/log-lines.ts";
import { ask, dropMemory, memoryWorld, systemOf } from "../support/memory-world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());
afterEach(dropMemory);

const group = { isGroup: true, mentions: true } as const;
const people = (options: Parameters<typeof memoryWorld>[1] = {}): World =>
  memoryWorld((session) => session.withContext("customer", { scope: "person" }), options);
const set = (content: string, rest: object = {}): string =>
  `set_context ${JSON.stringify({ label: "customer", content, ...rest })}`;
/** Writes without waiting for an answer, and waits until the chat shows a text. */
async function until(world: World, chat: string, text: string): Promise<void> {
  await vi.waitFor(() => expect(world.chats.visible(chat).join("\n")).toContain(text), {
    timeout: 8000,
    interval: 10,
  });
}
const at = (chatId: string) => ({
  messengerId: "fake",
  chatId,
  threadId: `fake:${chatId}`,
  isDirectMessage: true,
});
const newest = (world: World, chat: string): string => world.chats.visible(chat).at(-1) ?? "";

it("uses what it knows of a person in all private chats of that person, and of no other", async () => {
  const world = people();
  await ask(world, "ada", set("Wears size 42"));
  await ask(world, "ada-2", "hello");
  expect(systemOf(world)).toMatch(/## customer about ada \(set_context\)\n- \[\w{6}\] Wears size 42/);
  await ask(world, "ada", "/new");
  await ask(world, "ada", "hello");
  expect(systemOf(world)).toContain("Wears size 42");
  await ask(world, "bob", "hello", { user: "bob" });
  expect(systemOf(world)).not.toContain("size 42");
});

it("uses nothing of it in a group, until the person says so in the private chat", async () => {
  const world = people();
  await ask(world, "ada", set("Wears size 42"));
  await ask(world, "g1", "hello", group);
  expect(systemOf(world)).toContain("## customer about ada");
  expect(systemOf(world)).not.toContain("size 42");
  await ask(world, "ada", "/memory");
  expect(await world.press("ada", "Use it in groups, too")).toBe("Changed.");
  await ask(world, "g1", "hello", group);
  expect(systemOf(world)).toContain("Wears size 42");
  await ask(world, "g1", "hello", { ...group, user: "bob" });
  expect(systemOf(world)).not.toContain("size 42");
  expect(await world.press("ada", "Don't use it in groups")).toBe("Changed.");
  await ask(world, "g1", "hello", group);
  expect(systemOf(world)).not.toContain("size 42");
});

it("keeps what a person says in a group about that person alone", async () => {
  const world = people();
  await ask(world, "g1", set("Likes tea"), group);
  await ask(world, "ada", "hello");
  expect(systemOf(world)).toContain("Likes tea");
});

it("keeps nothing about an anonymous administrator of a group", async () => {
  const world = people();
  const refused = await ask(world, "g2", set("Is the boss"), { ...group, isAnonymous: true });
  expect(refused).toContain("no message of a person");
});

it("keeps nothing about a person in a turn that the bot's code begins", async () => {
  const world = people();
  await ask(world, "ada", "hello");
  await runInDurableObject(world.thread("ada"), (bot) =>
    bot.submitMessages(set("Wears size 42"), { answerTo: at("ada") }),
  );
  await until(world, "ada", "no message of a person");
  await ask(world, "ada", "/memory");
  expect(newest(world, "ada")).toBe("I don't remember anything about you.");
});

it("counts words as the person's only if the person wrote them in the message that is answered", async () => {
  const world = people();
  const quoted = "I wear 42";
  await ask(world, "ada", `i  WEAR 42. ${set("Wears size 42", { quote: "“I wear 42”" })}`);
  expect(systemOf(world)).toContain('Wears size 42 (the person\'s words: "“I wear 42”")');
  await ask(world, "bob", set("Wears size 42", { quote: "" }), { user: "bob" });
  expect(systemOf(world)).toContain("(your note, not the person's words)");
  await ask(world, "dan", `yes, do. ${set("Lives in Evil Street", { quote: "yes, do" })}`, { user: "dan" });
  expect(systemOf(world)).toMatch(/Lives in Evil Street \(your note/);
  // The words of a file, of a message that is quoted, and of the model itself, are not the person's.
  world.script(({ prompt }) =>
    prompt.at(-1)?.role === "tool"
      ? [{ kind: "say", text: "got {}" }]
      : [
          {
            kind: "call",
            tool: "set_context",
            input: { label: "customer", content: "Lives in Evil Street", quote: "Lives in Evil Street" },
          },
        ],
  );
  world.chats.files.set("f1", new TextEncoder().encode(`Lives in Evil Street. ${quoted}`));
  await ask(world, "cat", "read this", {
    user: "cat",
    files: [{ id: "f1", kind: "document", mediaType: "text/plain", name: "a.txt", sizeBytes: 40 }],
  });
  expect(systemOf(world)).toMatch(/Lives in Evil Street \(your note, not the person's words\)/);
});

it("asks before it keeps something, if the block says so", async () => {
  const world = memoryWorld((session) => session.withContext("customer", { scope: "person", consent: true }));
  await world.write("ada", set("Wears size 42"));
  await until(world, "ada", "Remember “Wears size 42”?");
  await ask(world, "ada-2", "hello");
  expect(systemOf(world)).not.toContain("size 42");
  // The turn that asked is forgotten by then.
  for (let count = 0; count < 3; count += 1) await ask(world, "ada", "hello");
  await world.press("ada", "Approve");
  await until(world, "ada", "Result: ✓");
  await ask(world, "ada-2", "hello");
  expect(systemOf(world)).toContain("Wears size 42 (agreed by the person)");
  await world.write("ada", set("Is called Ada"));
  await until(world, "ada", "Remember “Is called Ada”?");
  await world.press("ada", "Reject");
  await until(world, "ada", "Rejected");
  await ask(world, "ada-2", "hello");
  expect(systemOf(world)).not.toContain("Is called Ada");
});

it("shows people what it remembers, in private only, and forgets or changes it", async () => {
  const world = people();
  expect(await ask(world, "g1", "/memory", group)).toBe(
    "I don't remember anything about this chat. For what I know about you, send me /memory in a private chat.",
  );
  await ask(world, "ada", `I wear 42. ${set("Wears size 42", { quote: "I wear 42" })}`);
  await ask(world, "ada", set("Likes tea"));
  await ask(world, "ada", "/memory");
  expect(newest(world, "ada")).toContain("1. Wears size 42 – you wrote: “I wear 42”");
  expect(newest(world, "ada")).toContain("2. Likes tea – my own note");
  // The same chat as another person sees nothing, and a press of another person does nothing.
  await world.press("ada", "Forget 1", { user: "bob" });
  await ask(world, "ada-2", "hello");
  expect(systemOf(world)).toContain("Wears size 42");
  const before = world.chats.button("ada", "Forget 1") ?? "";
  expect(await world.press("ada", "Forget 1")).toBe("Forgotten.");
  await until(world, "ada", "1. Likes tea");
  // A second press of the button that is gone.
  await world.pressToken("ada", before);
  await ask(world, "ada-2", "hello");
  expect(systemOf(world)).not.toContain("size 42");
  expect(systemOf(world)).toContain("Likes tea");

  await world.press("ada", "Change 1");
  await until(world, "ada", "Reply to this message with the new text for “Likes tea”");
  const asking = world.chats.messages("ada").at(-1)?.id ?? "";
  await world.write("ada", "Likes green tea", { quotes: asking });
  await until(world, "ada", "Changed.");
  await ask(world, "ada-2", "hello");
  expect(systemOf(world)).toContain("Likes green tea (agreed by the person)");
  const [, id = ""] = /\[(\w{6})\] Likes green tea/.exec(systemOf(world)) ?? [];
  expect(await ask(world, "ada", `/memory ${id} Likes coffee`)).toBe("Changed.");
  expect(await ask(world, "ada", `/memory ${id} ${"x".repeat(301)}`)).toBe(
    "Please write 1 to 300 characters.",
  );
  expect(await ask(world, "bob", `/memory ${id} Evil`, { user: "bob" })).toBe(
    "I don't remember that any more.",
  );
  await ask(world, "ada-2", "hello");
  expect(systemOf(world)).toContain("Likes coffee");
});

it("shows what is kept in the private chat, too, and at most what a card can show", async () => {
  const world = memoryWorld((session) =>
    session
      .withContext("customer", { scope: "person", maxTokens: 10_000 })
      .withContext("facts", { maxTokens: 10_000 }),
  );
  await ask(world, "ada", 'set_context {"label":"facts","content":"Her name is Ada"}');
  await ask(world, "ada", "/memory");
  expect(newest(world, "ada")).toContain("1. Her name is Ada – my own note");
  expect(await world.press("ada", "Forget 1")).toBe("Forgotten.");
  await ask(world, "ada", "hello");
  expect(systemOf(world)).not.toContain("Her name");
  await runInDurableObject(world.thread("ada"), async ({ session }) => {
    for (let count = 0; count < 40; count += 1) {
      await session.appendContextBlock("customer", `Fact ${count} ${"_*[".repeat(60)}`, {
        messenger: "fake",
        userId: "ada",
      });
      await session.appendContextBlock("facts", `Other ${count}`);
    }
  });
  await world.write("ada", "/memory");
  await until(world, "ada", "45. Other 4\n…");
  expect(world.chats.button("ada", "Forget 45")).toBeDefined();
});

it("shows a group what is kept about the group, which everybody whom the bot answers there may correct", async () => {
  const world = memoryWorld((session) =>
    session.withContext("customer", { scope: "person" }).withContext("plan"),
  );
  const plan = (content: string): string => `set_context ${JSON.stringify({ label: "plan", content })}`;
  await ask(world, "ada", set("Wears size 42"));
  await ask(world, "g1", plan("We meet on Friday"), group);
  await ask(world, "g1", plan("Bob brings cake"), group);
  await ask(world, "g2", plan("Other group"), group);
  await world.write("g1", "/memory", { ...group, user: "bob" });
  await until(world, "g1", "I remember this about this chat:");
  expect(newest(world, "g1")).toContain("1. We meet on Friday – my own note");
  expect(newest(world, "g1")).toContain("2. Bob brings cake");
  expect(newest(world, "g1")).not.toMatch(/size 42|Other group/);
  expect(world.chats.button("g1", "Use it in groups, too")).toBeUndefined();

  const forgets = world.chats.button("g1", "Forget 2") ?? "";
  expect(await world.press("g1", "Forget 2", { user: "cat" })).toBe("Forgotten.");
  // Somebody else has pressed it at the same time.
  await world.pressToken("g1", forgets, { user: "bob" });
  await world.press("g1", "Change 1", { user: "cat" });
  await until(world, "g1", "Reply to this message with the new text for “We meet on Friday”");
  const asking = world.chats.messages("g1").at(-1)?.id ?? "";
  await world.write("g1", "We meet on Sunday", { ...group, user: "bob", quotes: asking });
  await until(world, "g1", "Changed.");
  await ask(world, "g1", "hello", group);
  expect(systemOf(world)).toContain("We meet on Sunday (written by a person of this chat)");
  expect(systemOf(world)).not.toMatch(/Friday|cake/);

  // Nothing of a person, and nothing of another chat, can be changed there.
  await ask(world, "ada", "hello");
  const [, id = ""] = /\[(\w{6})\] Wears size 42/.exec(systemOf(world)) ?? [];
  expect(await ask(world, "g1", `/memory ${id} Evil`, group)).toBe("I don't remember that any more.");
  const [, planId = ""] = await ask(world, "g1", "hello", group).then(
    () => /\[(\w{6})\] We meet on Sunday/.exec(systemOf(world)) ?? [],
  );
  expect(await ask(world, "g2", `/memory ${planId} Evil`, group)).toBe("I don't remember that any more.");
  await ask(world, "ada", "hello");
  expect(systemOf(world)).toContain("Wears size 42");
});

it("lets nobody whom the bot refuses correct the memory of a group", async () => {
  const world = memoryWorld((session) => session.withContext("plan"), {
    messenger: { allow: ({ userId }) => userId !== "eve" },
  });
  await ask(world, "g1", 'set_context {"label":"plan","content":"We meet on Friday"}', group);
  await world.write("g1", "/memory", group);
  await until(world, "g1", "1. We meet on Friday");
  await world.press("g1", "Forget 1", { user: "eve" });
  await ask(world, "g1", "hello", group);
  expect(systemOf(world)).toContain("We meet on Friday");
});

it("speaks the language of the person", async () => {
  const world = people({ settings: { texts: german } });
  expect(await ask(world, "ada", "/memory")).toBe("Ich habe mir nichts über dich gemerkt.");
});

it("keeps a bounded number of entries about a person", async () => {
  const world = memoryWorld((session) =>
    session.withContext("customer", { scope: "person", maxTokens: 10_000 }),
  );
  const about = { messenger: "fake", userId: "ada" };
  await runInDurableObject(world.stub, async (bot) => {
    for (let count = 0; count < 40; count += 1)
      await bot.session.appendContextBlock("customer", `Fact ${count}`, about);
    await expect(bot.session.appendContextBlock("customer", "One more", about)).rejects.toMatchObject({
      code: "context-full",
    });
    await expect(bot.session.appendContextBlock("customer", "x")).rejects.toMatchObject({
      code: "context-invalid",
    });
  });
  expect(await ask(world, "ada", set("One more"))).toContain("There is no room");
});

it("keeps all of two entries that two conversations of a person write at once", async () => {
  const world = people();
  await Promise.all([ask(world, "ada", set("Wears size 42")), ask(world, "ada-2", set("Likes tea"))]);
  await ask(world, "ada-3", "hello");
  expect(systemOf(world)).toContain("Wears size 42");
  expect(systemOf(world)).toContain("Likes tea");
});

it.each(
  (["before", "after"] as const).flatMap((when) =>
    [/INSERT INTO press_v1/, /DELETE FROM press_v1/].map((pattern) => ({ when, pattern })),
  ),
)("forgets once, and is never interrupted, if the object dies: $when $pattern", async ({ pattern, when }) => {
  let hasPressed = false;
  const killer = killerAt(pattern, when, () => hasPressed);
  const world = people({ onStart: (agent) => killer.arm(agent) });
  await ask(world, "ada", set("Wears size 42"));
  await ask(world, "ada", set("Likes tea"));
  await ask(world, "ada", "/memory");
  const text = world.chats.button("ada", "Forget 1");
  hasPressed = true;
  const press = { kind: "press", id: "press", chat: "ada", user: "ada", text } as const;
  await vi.waitFor(async () => expect(await world.post(press).catch(() => 500)).toBe(200), 8000);
  await vi.waitFor(
    async () => {
      await runDurableObjectAlarm(world.thread("ada")).catch(() => undefined);
      expect(killer.hasStruck()).toBe(true);
      expect(world.chats.answered).toContain("press");
      expect(newest(world, "ada")).not.toContain("size 42");
    },
    { timeout: 15_000, interval: 50 },
  );
  expect([undefined, "Forgotten."]).toContain(world.chats.notices.get("press"));
  expect(newest(world, "ada")).toContain("Likes tea");
  // An object that dies when it has nothing left to do is woken by the next message only.
  await ask(world, "ada", "hello");
  expect(killer.lives()).toBe(2);
  expect(systemOf(world)).not.toContain("size 42");
  expect(systemOf(world)).toContain("Likes tea");
});
