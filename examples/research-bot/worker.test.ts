import { afterAll, beforeAll, expect, it } from "vitest";
import { answer, callTool, createGate, holdAt, lastUserText, testBot } from "switchboard/testing";
import type { ModelScript, TestChat } from "switchboard/testing";
import { ResearchBot } from "./worker.ts";

let chat: TestChat;

beforeAll(async () => {
  chat = await testBot(ResearchBot, { config: "examples/research-bot/wrangler.jsonc" });
});
afterAll(() => chat.bot.close());

const gate = createGate();

/** Plays all three agents: each is known by its tools, and by what it is asked. */
const script: ModelScript = (request) => {
  const asked = lastUserText(request);
  const last = request.messages.at(-1);
  const result = /^Result: (.*)$/m.exec(asked)?.[1];
  if (result !== undefined) return [answer(`In the end: ${result}`)];
  if (last?.role === "tool")
    return [answer(`Weighed: ${request.messages.filter(({ role }) => role === "tool").length} sides.`)];
  const side = /"side": "(\w+)"/.exec(asked)?.[1];
  if (side !== undefined) return [answer(`Arguments ${side} it, `), holdAt(gate), answer("and no more.")];
  if (asked.includes('"findings"')) return [callTool("publish", { title: "Bees", text: "Keep them." })];
  if (asked.includes("report")) return [callTool("edit", { title: "Bees", findings: "Keep them." })];
  const sides = ["for", "against"].map((one) => callTool("research", { question: asked, side: one }));
  return sides;
};

it("weighs what two agents have found, also if it is killed while they work", async () => {
  chat.bot.model.script(script);
  await chat.say("Shall I keep bees?");
  await chat.shows("Researcher");
  await gate.reached;
  chat.bot.kill();
  gate.open();
  expect(await chat.reply({ timeoutMs: 60_000 })).toBe("Weighed: 2 sides.");
  // The person's chat has the one answer, and nothing of the agents' own words.
  expect(chat.messages().filter(({ from }) => from.isBot)).toHaveLength(1);
});

it("asks in the chat before an agent publishes something, and publishes once if it is killed around the answer", async () => {
  chat.bot.model.script(script);
  await chat.say("Make a report");
  await chat.shows("Editor:");
  chat.bot.kill();
  await chat.press("Approve");
  chat.bot.kill();
  expect(await chat.reply({ timeoutMs: 60_000 })).toContain('"published":"Bees","reports":1');
});
