import { afterAll, beforeAll, expect, it } from "vitest";
import { answer, createGate, holdAt, testBot, type TestChat } from "switchboard/testing";
import { MyBot } from "./worker.ts";

let chat: TestChat;

beforeAll(async () => {
  chat = await testBot(MyBot, { config: "examples/minimal/wrangler.jsonc" });
});
afterAll(() => chat.bot.close());

it("answers", async () => {
  await chat.say("hi");
  expect(await chat.reply()).toContain("hi");
});

it("answers everybody in their own chat", async () => {
  const bea = chat.bot.person("Bea");
  await bea.say("I am Bea");
  expect(await bea.reply()).toContain("I am Bea");
  expect(JSON.stringify(chat.messages())).not.toContain("Bea");
});

it("completes an answer in the same message when it is killed in the middle", async () => {
  const gate = createGate();
  chat.bot.model.script(() => [answer("The answer begins here "), holdAt(gate), answer("and ends here.")]);
  await chat.say("Tell me everything");
  await chat.shows("The answer begins");
  chat.bot.kill();
  gate.open();
  expect(await chat.reply({ timeoutMs: 60_000 })).toBe("The answer begins here and ends here.");
});

it("sends nothing twice when Telegram's answer is lost", async () => {
  chat.bot.model.script(() => [answer("Once.")]);
  chat.bot.fault({ kind: "cut-after", method: "sendMessage" });
  await chat.say("Say it once");
  expect(await chat.reply({ timeoutMs: 60_000 })).toBe("Once.");
  expect(chat.messages().filter(({ text }) => text === "Once.").length).toBe(1);
});

it("stays silent in a group until somebody speaks to it", async () => {
  chat.bot.model.script(() => [answer("At your service.")]);
  const group = chat.bot.group("Neighbours", ["Ann", "Ben"]);
  await group.say("Is anybody awake?");
  await group.settled();
  expect(group.messages().filter(({ from }) => from.isBot)).toEqual([]);
  await group.as("Ben").say("@switchboard_bot are you?");
  expect(await group.as("Ben").reply()).toBe("At your service.");
});
