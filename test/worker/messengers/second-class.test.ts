import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import { testEnv } from "../test-env.ts";
import { OtherBot } from "../worker.ts";

const CHAT = { messengerId: "fake", threadId: "fake:c1", chatId: "c1", isDirectMessage: true };

function tablesIn(_bot: unknown, { storage }: DurableObjectState): string[] {
  const rows = storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  return rows.toArray().map(({ name }) => name);
}

it("answers in a chat of the bot under that chat's gate and the bot's rate", async () => {
  const world = createWorld({ script: ({ said }) => [say(`heard ${said}`)] });
  await world.write("c1", "Hello");
  await world.shows("c1", "heard Hello");
  await runInDurableObject(world.stub, async (bot) => {
    const helper = await bot.subAgent(OtherBot, "helper");
    const other = helper as unknown as OtherBot;
    const { accepted } = await other.submitMessages("from a second class", { answerTo: [CHAT] });
    expect(accepted).toBe(true);
  });
  await world.shows("c1", "heard Hello", "heard from a second class");
  const gate = await runInDurableObject(world.thread("c1"), (_bot, { storage }) =>
    storage.sql.exec<{ speaker: string }>("SELECT * FROM gate_v1").toArray(),
  );
  expect(gate).not.toEqual([]);
  // Nobody asked a root or a gate of the second class.
  for (const name of [world.root, `${world.root}/thread:fake:${encodeURIComponent("fake:c1")}`]) {
    const tables = await runInDurableObject(testEnv.OtherBot.getByName(name), tablesIn);
    expect(tables.filter((table) => /^(gate|chat|directory|box)_v/.test(table))).toEqual([]);
  }
});
