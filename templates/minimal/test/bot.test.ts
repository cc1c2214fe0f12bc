import { testBot } from "switchboard/testing";
import { expect, test } from "vitest";
import { MyBot } from "../src/bot.ts";

test("answers a greeting", async () => {
  const chat = await testBot(MyBot);
  await chat.say("hi");
  expect(await chat.reply()).not.toBe("");
});
