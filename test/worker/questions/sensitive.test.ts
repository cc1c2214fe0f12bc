import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { captureLog } from "../support/log-lines.ts";
import { createAskingBot, expectShown } from "../support/asking-bot.ts";
import type { World } from "../support/world.ts";

let lines: ReturnType<typeof captureLog>;
beforeEach(() => void (lines = captureLog()));

/** No id and no time has such a text. */
const SECRET = "z#Q~";
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
    await expectShown(world, 'Told: {"length":4}', chat);
    await world.post({ kind: "edit", id: "secret", chat: "c1", user: "ada", text: "4712" });
    await world.write("c1", "Bye");
    await expectShown(world, "Heard: Bye");
    for (const stub of [world.stub, world.thread("c1"), world.thread("g1")])
      expect(await tablesWith(stub, SECRET)).toEqual([]);
    expect(JSON.stringify(world.requests)).not.toContain(SECRET);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
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
