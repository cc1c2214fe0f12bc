import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import { ask, dropMemory, memoryWorld, systemOf } from "../support/memory-world.ts";
import { callTool, holdAt, say } from "../support/scripted-model.ts";
import type { ScriptedBot } from "../worker.ts";

beforeEach(() => void captureLog());
afterEach(dropMemory);

async function kill(stub: DurableObjectStub<ScriptedBot>): Promise<void> {
  await runInDurableObject(stub, (_bot, state) => {
    state.abort("killed by a test");
  }).catch(() => undefined);
}

const set = (input: object): string => `set_context ${JSON.stringify(input)}`;

it("keeps what the model writes in a conversation until /new, through the death of its object", async () => {
  const world = memoryWorld((session) => session.withContext("facts", { description: "About the project" }));
  await ask(world, "c1", "hello");
  expect(systemOf(world)).toMatch(/## facts \(set_context\): About the project\n\(empty\)/);
  const answer = await ask(world, "c1", set({ label: "facts", content: "The project is called Heron" }));
  expect(answer).toContain('"kept":true');
  expect(systemOf(world)).toContain("The project is called Heron");
  await kill(world.thread("c1"));
  await ask(world, "c1", "hello");
  expect(systemOf(world)).toContain("The project is called Heron");
  await ask(world, "c2", "hello");
  expect(systemOf(world)).not.toContain("Heron");
  await ask(world, "c1", "/new");
  await ask(world, "c1", "hello");
  expect(systemOf(world)).not.toContain("Heron");
});

it("corrects and forgets an entry by its id, and refuses unknown ones", async () => {
  const world = memoryWorld((session) => session.withContext("facts"));
  const kept = await ask(world, "c1", set({ label: "facts", content: "Blue" }));
  const [, id = ""] = /"id":"([0-9a-f]{6})"/.exec(kept) ?? [];
  await ask(world, "c1", set({ label: "facts", id, content: "Green" }));
  expect(systemOf(world)).toMatch(/Green/);
  expect(systemOf(world)).not.toMatch(/Blue/);
  expect(await ask(world, "c1", set({ label: "facts", id: "ffffff", content: "Red" }))).toContain("no entry");
  expect(await ask(world, "c1", set({ label: "facts", id, content: "" }))).toContain('"forgotten":true');
  expect(systemOf(world)).toContain("(empty)");
});

it("says clearly when a block is full, and keeps what was there", async () => {
  const world = memoryWorld((session) => session.withContext("facts", { maxTokens: 20 }));
  expect(await ask(world, "c1", set({ label: "facts", content: "One small fact" }))).toContain(
    "of 20 tokens",
  );
  const full = await ask(world, "c1", set({ label: "facts", content: "x".repeat(80) }));
  expect(full).toContain("There is no room");
  expect(await ask(world, "c1", set({ label: "facts", content: "y".repeat(301) }))).toContain("at most 300");
  expect(systemOf(world)).toContain("One small fact");
});

it("reads and writes through providers, by what they can do", async () => {
  const written: (readonly [string, string | undefined])[] = [];
  const world = memoryWorld((session) =>
    session
      .withContext("shop", { provider: { get: () => "Open until five." } })
      .withContext("notes", {
        provider: { get: () => "Old notes.", set: (content, key) => void written.push([content, key]) },
      })
      .withContext("manual", { provider: { get: () => "12 pages", search: (query) => [`About ${query}.`] } })
      .withContext("papers", {
        provider: { get: () => "a, b", load: (key) => (key === "a" ? "Paper A" : null) },
      }),
  );
  await ask(world, "c1", "hello");
  expect(systemOf(world)).toMatch(/## shop \(read only\)\nOpen until five\./);
  expect(world.requests.at(-1)?.tools.toSorted()).toEqual([
    "load_context",
    "search_context",
    "set_context",
    "unload_context",
  ]);
  expect(await ask(world, "c1", set({ label: "shop", content: "Closed" }))).toContain(
    "You can write these blocks: notes",
  );
  await ask(world, "c1", set({ label: "notes", content: "New notes." }));
  expect(written).toEqual([["New notes.", undefined]]);
  expect(await ask(world, "c1", 'search_context {"query":"filters","label":"manual"}')).toContain(
    "About filters.",
  );
  expect(await ask(world, "c1", 'load_context {"label":"papers","key":"a"}')).toContain("Paper A");
  const everywhere = await ask(world, "c1", 'search_context {"query":"filters"}');
  expect(everywhere).toContain('"blocks":{"manual":["About filters."]}');
  expect(await ask(world, "c1", 'load_context {"label":"papers","key":"z"}')).toContain("There is no text");
});

it("drops a loaded text from later requests when the model says so, until it is loaded again", async () => {
  const world = memoryWorld((session) =>
    session.withContext("papers", {
      provider: { get: () => "a, b", load: (key) => `All of paper ${key}` },
    }),
  );
  const shown = (): string =>
    JSON.stringify(world.requests.at(-1)?.prompt.filter(({ role }) => role === "tool"));
  const of = (key: string): string => JSON.stringify({ label: "papers", key });
  await ask(world, "c1", `load_context ${of("a")}`);
  await ask(world, "c1", `load_context ${of("b")}`);
  expect(world.requests.at(-1)?.tools.toSorted()).toEqual([
    "load_context",
    "search_context",
    "unload_context",
  ]);
  await ask(world, "c1", "hello");
  expect(shown()).toContain("All of paper a");
  // Within the turn, and in later ones, also of another process.
  expect(await ask(world, "c1", `unload_context ${of("a")}`)).toContain('"unloaded":true');
  expect(shown()).not.toContain("All of paper a");
  await kill(world.thread("c1"));
  await ask(world, "c1", "hello");
  expect(shown()).toContain("All of paper b");
  expect(shown()).not.toContain("All of paper a");
  expect(await ask(world, "c1", `unload_context ${of("a")}`)).toContain("is not loaded");
  await ask(world, "c1", `load_context ${of("a")}`);
  expect(shown()).toContain("All of paper a");
});

it("goes on without a block whose provider fails", async () => {
  const world = memoryWorld((session) =>
    session
      .withContext("broken", {
        provider: {
          get: () => {
            throw new Error("secret words");
          },
        },
      })
      .withContext("facts"),
  );
  expect(await ask(world, "c1", "hello")).toBe("ok");
  expect(systemOf(world)).not.toMatch(/broken|secret/);
  expect(systemOf(world)).toContain("## facts");
});

it("lets only the bot's code write the memory of the bot, which all conversations read", async () => {
  const world = memoryWorld((session) => session.withContext("rules", { scope: "bot" }));
  const refused = await ask(world, "c1", set({ label: "rules", content: "Everything is free" }));
  expect(refused).not.toContain('"kept"');
  await runInDurableObject(world.stub, (bot) => bot.session.appendContextBlock("rules", "No refunds in May"));
  await ask(world, "c2", "hello");
  expect(systemOf(world)).toMatch(/## rules \(read only\)\n- \[\w+\] No refunds in May/);
  await runInDurableObject(world.thread("c1"), (bot) =>
    bot.session.replaceContextBlock("rules", "Refunds are back"),
  );
  await ask(world, "c2", "hello");
  expect(systemOf(world)).toContain("Refunds are back");
  expect(systemOf(world)).not.toContain("No refunds");
});

it("keeps the prompt of a turn the same with withCachedPrompt, and shows changes in the next turn", async () => {
  const world = memoryWorld((session) => session.withContext("facts").withCachedPrompt());
  await ask(world, "c1", set({ label: "facts", content: "Heron" }));
  expect(systemOf(world)).not.toContain("Heron");
  await ask(world, "c1", "hello");
  expect(systemOf(world)).toContain("Heron");
});

it("adds and removes blocks at run time, and keeps them when the object starts again", async () => {
  const world = memoryWorld((session) => session.withContext("facts"));
  await runInDurableObject(world.thread("c1"), async (bot) => {
    await bot.session.addContext("notes", { description: "User notes" });
    expect(await bot.session.refreshSystemPrompt()).toContain("## notes (set_context): User notes");
    await bot.session.appendContextBlock("notes", "Likes tea");
    expect(await bot.session.getContextBlock("notes")).toBe("Likes tea");
    await expect(bot.session.addContext("facts")).rejects.toMatchObject({ code: "context-invalid" });
  });
  await kill(world.thread("c1"));
  await ask(world, "c1", "hello");
  expect(systemOf(world)).toContain("Likes tea");
  await runInDurableObject(world.thread("c1"), async (bot) => {
    expect(bot.session.removeContext("notes")).toBe(true);
    expect(bot.session.removeContext("notes")).toBe(false);
    expect(await bot.session.refreshSystemPrompt()).not.toContain("notes");
  });
});

it("writes once when the object dies between the write and the end of the turn", async () => {
  const gate = createGate();
  const world = memoryWorld((session) => session.withContext("facts").withContext("me", { scope: "person" }));
  let calls = 0;
  for (const label of ["facts", "me"]) {
    calls = 0;
    world.script((request) => {
      if (request.prompt.at(-1)?.role !== "tool")
        return [callTool("set_context", { label, content: "Heron" })];
      calls += 1;
      return calls === 1 ? [holdAt(gate)] : [say("Kept.")];
    });
    await world.write(label, "remember");
    await vi.waitFor(() => expect(calls).toBe(1), { timeout: 8000 });
    await kill(world.thread(label));
    await vi.waitFor(() => expect(world.chats.visible(label).at(-1)).toBe("Kept."), { timeout: 8000 });
    expect(systemOf(world).match(/Heron/g)).toHaveLength(1);
  }
  gate.open();
});

it("names the import that a bot with configureSession or this.session lacks", async () => {
  const world = memoryWorld((session) => session);
  dropMemory();
  await runInDurableObject(world.thread("c1"), (bot) => {
    expect(() => bot.session).toThrow('import { memory } from "switchboard/memory"');
  });
});
