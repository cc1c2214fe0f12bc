import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import { ask, dropMemory, memoryWorld, obedient } from "../support/memory-world.ts";
import { holdAt, say, textOf } from "../support/scripted-model.ts";
import type { ModelRequest } from "../support/scripted-model.ts";
import type { World } from "../support/world.ts";
import { FACTS, fillers } from "./planted-facts.ts";

beforeEach(() => void captureLog());
afterEach(dropMemory);

const MAX_TOKENS = 6_000;
const IN_ONE_TURN = 50;

/** Its texts, and some tokens for each message and tool. */
const tokensOf = ({ prompt, tools }: ModelRequest): number =>
  prompt.reduce((sum, message) => sum + textOf(message).length / 4 + 4, 0) + tools.length * 200;
const answered = (world: World): readonly ModelRequest[] =>
  world.requests.filter(({ isStreamed }) => isStreamed);

/** Says messages in a conversation, many in each turn. */
async function sayAll(world: World, chat: string, texts: readonly string[]): Promise<void> {
  for (let from = 0; from < texts.length; from += IN_ONE_TURN) {
    const messages = texts.slice(from, from + IN_ONE_TURN).map((text, index) => ({
      id: `m${from + index}`,
      role: "user" as const,
      parts: [{ type: "text" as const, text }],
    }));
    await runInDurableObject(world.thread(chat), (bot) => bot.saveMessages(messages));
  }
}

/** The facts lie at even distances between messages that say little. */
function conversation(count: number): readonly string[] {
  const all = [...fillers(count - FACTS.length)];
  const distance = Math.floor(count / FACTS.length);
  for (const [index, [said]] of FACTS.entries()) all.splice(index * distance + 7, 0, said);
  return all;
}

it.each(["", "The people talked."])(
  "finds 48 of 50 facts in 2,000 messages when the model summarizes with %j, and no request is too long",
  async (summary) => {
    const world = memoryWorld((session) => session.withContext("facts"), {
      settings: { maxContextTokens: MAX_TOKENS },
      script: ({ isStreamed }) => [say(isStreamed ? "ok" : summary)],
    });
    await sayAll(world, "c1", conversation(2_000));
    await ask(world, "c1", "hello");
    const last = JSON.stringify(answered(world).at(-1)?.prompt);
    const found = await runInDurableObject(world.thread("c1"), async (bot) => {
      const results: boolean[] = [];
      for (const [said, question] of FACTS) {
        const hits = await bot.session.search(question);
        expect(hits.length).toBeLessThanOrEqual(5);
        results.push(last.includes(said) || hits.some(({ text }) => text.includes(said)));
      }
      return results;
    });
    const missed = FACTS.filter((_, index) => found[index] !== true);
    if (missed.length > 2) expect(missed).toEqual([]);
    for (const request of answered(world)) expect(tokensOf(request)).toBeLessThan(MAX_TOKENS);
  },
);

it("finds what was said with the model's own tool, without the question itself", async () => {
  const world = memoryWorld((session) => session);
  await ask(world, "c1", "The garage opens with the code 4711.");
  await ask(world, "c1", "I like tea.");
  const answer = await ask(world, "c1", 'search_context {"query":"What is the garage code?"}');
  expect(answer).toContain("4711");
  expect(answer).not.toContain("What is the garage code?");
});

it("finds nothing of other conversations, and nothing from before /new", async () => {
  const world = memoryWorld((session) => session.withContext("facts"));
  await ask(world, "c1", "The garage opens with the code 4711.");
  const query = 'search_context {"query":"garage code"}';
  expect(await ask(world, "c2", query)).not.toContain("4711");
  expect(await ask(world, "c1", query)).toContain("4711");
  await ask(world, "c1", "/new");
  expect(await ask(world, "c1", query)).not.toContain("4711");
});

it.each([
  ["我的猫叫饼干，住在里斯本。", "我的猫叫什么名字？", "饼干"],
  ["私の靴のサイズは二十六センチです。", "靴のサイズは？", "二十六"],
  ["รหัสโรงรถคือ 4711", "รหัสโรงรถคืออะไร", "4711"],
  ["Моя сестра живёт в Казани.", "Где живёт моя сестра?", "Казани"],
  ["رمز المرآب هو 4711", "ما هو رمز المرآب؟", "4711"],
])("finds %s in its own language", async (said, question, answer) => {
  const world = memoryWorld((session) => session);
  await ask(world, "c1", said);
  await ask(world, "c1", "I like tea.");
  const found = await ask(world, "c1", `search_context ${JSON.stringify({ query: question })}`);
  expect(found).toContain(answer);
  expect(found).not.toContain(question);
});

it("cuts long messages around the words, and takes any text for a query", async () => {
  const world = memoryWorld((session) => session);
  await ask(world, "c1", `${"before ".repeat(400)} the secret garden ${"after ".repeat(400)}`);
  const answer = await ask(world, "c1", 'search_context {"query":"garden"}');
  expect(answer).toContain("secret garden");
  expect(answer.length).toBeLessThan(1500);
  for (const query of ['" OR 1=1 --', "NEAR(a b)", "*", "🙂", "a".repeat(500), "'; DROP TABLE x"])
    expect(await ask(world, "c1", `search_context ${JSON.stringify({ query })}`)).toContain('"messages"');
});

it("uses the bot's own compaction at its own length", async () => {
  const seen: number[] = [];
  const world = memoryWorld((session) =>
    session
      .onCompaction(async (messages) => {
        seen.push(messages.length);
        const [first, last] = [messages[1], messages.at(-4)];
        return first === undefined || last === undefined
          ? null
          : { fromMessageId: first.id, toMessageId: last.id, summary: "They counted." };
      })
      .compactAfter(200),
  );
  for (let count = 0; count < 12; count += 1) await ask(world, "c1", `number ${count} ${"x".repeat(80)}`);
  expect(seen.length).toBeGreaterThan(0);
  const prompt = JSON.stringify(answered(world).at(-1)?.prompt);
  expect(prompt).toContain("They counted.");
  expect(prompt).not.toContain("number 3 ");
  expect(await ask(world, "c1", 'search_context {"query":"number 3"}')).toContain("number 3 ");
});

it("goes on when the bot's own compaction fails", async () => {
  const lines = captureLog();
  const world = memoryWorld((session) =>
    session
      .onCompaction(async () => {
        throw new Error("no");
      })
      .compactAfter(50),
  );
  for (let count = 0; count < 6; count += 1)
    expect(await ask(world, "c1", `number ${count} ${"x".repeat(80)}`)).toBe("ok");
  expect(JSON.stringify(lines)).toContain("onCompaction");
});

it("loses nothing when the object dies while the model writes a summary", async () => {
  const gate = createGate();
  const world = memoryWorld((session) => session, {
    settings: { maxContextTokens: 400 },
    script: (request) => (request.isStreamed ? obedient(request) : [holdAt(gate), say("A summary.")]),
  });
  let count = 0;
  await vi.waitFor(
    async () => {
      count += 1;
      await ask(world, "c1", `The number ${count} is odd ${"x".repeat(150)}`);
      expect(world.requests.some(({ isStreamed }) => !isStreamed)).toBe(true);
    },
    { timeout: 8000 },
  );
  await runInDurableObject(world.thread("c1"), (_bot, state) => state.abort("killed by a test")).catch(
    () => undefined,
  );
  gate.open();
  expect(await ask(world, "c1", 'search_context {"query":"number 1 odd"}')).toContain("The number 1 is odd");
});
