import { runDurableObjectAlarm } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import { askingScript, createAskingBot } from "../support/asking-bot.ts";
import { killerAt } from "../support/killer.ts";
import type { Killer } from "../support/killer.ts";
import { captureLog } from "../support/log-lines.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

/** The writes of one question, from its card to the told outcome. */
const WRITES = {
  "the open place in the log of the run": /run_log_v1/,
  "the question": /INSERT INTO question_v1/,
  "the parked call": /INSERT INTO parked_call_v1/,
  "the beginning of the press": /INSERT INTO press_v1/,
  "the end of the question": /UPDATE question_v1 SET .*\bend = /,
  "the call that may go on": /UPDATE parked_call_v1 SET state = \?\s+WHERE/,
  "the second run": [/UPDATE parked_call_v1 SET state = \?\s+WHERE/, 2],
  "the second run in the ledger": [/INSERT INTO action_v1/, 3],
  "the end of the second run in the ledger": [/INSERT INTO action_v1/, 4],
  "the outcome of the run": /UPDATE parked_call_v1 SET state = \?, outcome/,
  "the told outcome": /UPDATE parked_call_v1 SET is_told/,
} as const satisfies Record<string, RegExp | readonly [RegExp, number]>;

interface Story {
  readonly world: World;
  readonly effects: string[];
}

function begin(killer: Killer): Story {
  const effects: string[] = [];
  const act = action({
    description: "Does something with an order.",
    inputSchema: z.object({ order: z.string() }),
    idempotencyKey: ({ input }) => input.order,
    execute: async ({ order }, ctx) => {
      await ctx.step("hold", () => void effects.push(`hold ${order}`));
      const isWanted = await ctx.confirm({ message: `Really ${order}?` });
      // Outside, the effect has its key.
      if (!effects.includes(`end ${order} ${isWanted}`)) effects.push(`end ${order} ${isWanted}`);
      return { isWanted };
    },
  });
  const world = createWorld({
    script: askingScript,
    getActions: () => ({ act }),
    onStart: (agent) => killer.arm(agent),
  });
  return { world, effects };
}

/** The platform delivers an update until it is taken. */
async function deliver(send: () => Promise<number>): Promise<void> {
  await vi.waitFor(async () => expect(await send().catch(() => 500)).toBe(200), 8000);
}

/** Time passes: an object that has died is woken by its alarm. */
async function until(world: World, isSo: () => boolean): Promise<void> {
  await vi.waitFor(
    async () => {
      if (isSo()) return;
      await runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
      throw new Error(`Chat c1 shows ${JSON.stringify(world.chats.visible("c1"))}`);
    },
    { timeout: 15_000, interval: 50 },
  );
}

describe("an object that dies while its action asks (I14)", () => {
  it.each(
    Object.entries(WRITES).flatMap(([what, pattern]) =>
      (["before", "after"] as const).map((when) => ({ what, when, pattern })),
    ),
  )("asks once, runs once and loses no answer: $when $what", async ({ pattern, when }) => {
    const killer = killerAt(pattern, when);
    const { effects, world } = begin(killer);
    await deliver(() => world.write("c1", "Do A7", { id: "cause" }));
    const shows = (text: string): boolean => world.chats.visible("c1").some((one) => one.includes(text));
    const isTold = (): boolean => shows("Told:");
    await until(world, () => world.chats.button("c1", "Yes") !== undefined);
    const text = world.chats.button("c1", "Yes");
    await deliver(() => world.post({ kind: "press", id: "press", chat: "c1", user: "ada", text }));
    await until(world, isTold);
    await until(world, () => world.chats.answered.includes("press"));
    expect(world.chats.notices.get("press")).toBeUndefined();
    expect(killer.hasStruck()).toBe(true);
    expect(killer.lives()).toBe(2);
    const visible = world.chats.answers("c1");
    expect(visible.filter((text) => text.includes("Really A7?"))).toHaveLength(1);
    expect(visible.filter((text) => text.startsWith("Told:"))).toEqual(['Told: {"isWanted":true}']);
    expect(effects.filter((effect) => effect.startsWith("end"))).toEqual(["end A7 true"]);
    // A step whose process dies before its result is stored is repeated, as its action is.
    expect(effects.filter((effect) => effect.startsWith("hold")).length).toBeLessThanOrEqual(2);
  });
});

/** The writes of a quoted answer to the first of two fields, and of the press that sends the form. */
const ANSWER_WRITES = {
  "the handled answer": /INSERT INTO press_v1/,
  "the step of the form": /UPDATE question_v1 SET .*\bforms = /,
  "the next card": [/INSERT INTO card_v1/, 2],
  "the end of the answer": /DELETE FROM press_v1/,
  "the second handled answer": [/INSERT INTO press_v1/, 2],
  "the step to the summary": [/UPDATE question_v1 SET .*\bforms = /, 2],
  "the handled press": [/INSERT INTO press_v1/, 3],
  "the end of the form": /UPDATE question_v1 SET .*\bend = /,
  "the end of the press": [/DELETE FROM press_v1/, 3],
} as const satisfies Record<string, RegExp | readonly [RegExp, number]>;

describe("an object that dies while a person answers a form", () => {
  it.each(
    Object.entries(ANSWER_WRITES).flatMap(([what, pattern]) =>
      (["before", "after"] as const).map((when) => ({ what, when, pattern })),
    ),
  )("takes each quoted answer once, and says nothing of it: $when $what", async ({ pattern, when }) => {
    const killer = killerAt(pattern, when);
    const { world } = createAskingBot(
      async (ctx) => {
        const schema = z.object({ colour: z.string(), note: z.string() });
        return (await ctx.elicit({ message: "Which one?", schema })).value;
      },
      { onStart: (agent) => killer.arm(agent) },
      { idempotencyKey: ({ input }) => input.order },
    );
    await deliver(() => world.write("c1", "Do A7", { id: "cause" }));
    const shown = (text: string) =>
      world.chats.messages("c1").findLast(({ texts }) => texts.at(-1)?.includes(text) === true);
    await until(world, () => shown("(1 of 2)") !== undefined);
    const first = shown("(1 of 2)")?.id;
    await deliver(() => world.write("c1", "red", { id: "first", quotes: first }));
    await until(world, () => shown("(2 of 2)") !== undefined);
    const second = shown("(2 of 2)")?.id;
    await deliver(() => world.write("c1", "soft", { id: "second", quotes: second }));
    await until(world, () => world.chats.button("c1", "Send") !== undefined);
    const text = world.chats.button("c1", "Send");
    await deliver(() => world.post({ kind: "press", id: "send", chat: "c1", user: "ada", text }));
    await until(world, () => shown("Told:") !== undefined);
    await until(world, () => killer.hasStruck() && killer.lives() === 2);
    await deliver(() => world.write("c1", "Bye", { id: "bye" }));
    await until(world, () => shown("Heard: Bye") !== undefined);
    const visible = world.chats.answers("c1");
    expect(visible.filter((one) => one.startsWith("Told:"))).toEqual([
      'Told: {"colour":"red","note":"soft"}',
    ]);
    expect(visible.filter((one) => one.startsWith("Heard:"))).toEqual(["Heard: Bye"]);
    expect(visible.join()).not.toContain("interrupted");
    expect(world.chats.notices.get("send")).toBeUndefined();
  });
});
