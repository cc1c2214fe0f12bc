import { testBot } from "switchboard/testing";
import { expect, test } from "vitest";
import { MyBot } from "../src/bot.ts";

test("tells the rules", async () => {
  const chat = await testBot(MyBot);
  await chat.say("/rules");
  expect(await chat.reply()).toContain("Be kind");
});
