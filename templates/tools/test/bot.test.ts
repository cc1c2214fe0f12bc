import { testBot } from "switchboard/testing";
import { expect, test } from "vitest";
import { MyBot } from "../src/bot.ts";

test("begins with an empty list", async () => {
  const chat = await testBot(MyBot);
  await chat.say("/list");
  expect(await chat.reply()).toBe("The list is empty.");
});
