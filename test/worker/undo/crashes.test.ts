import { runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import { undo } from "../../../src/undo/index.ts";
import { useCodemode } from "../support/code-bot.ts";
import { killerAt } from "../support/killer.ts";
import { captureLog } from "../support/log-lines.ts";
import { createMailingBot } from "../support/mailing-bot.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { ScriptedBot } from "../worker.ts";

beforeEach(() => {
  captureLog();
  ScriptedBot.undo = undo();
});
afterEach(() => void (ScriptedBot.undo = undefined));

/** The writes of an undone call, from the press on. */
const WRITES = {
  "the press": /INSERT INTO press_v1/,
  "the undoing in the ledger": [/INSERT INTO action_v1/, 3],
  "the end of the undoing in the ledger": [/INSERT INTO action_v1/, 4],
  "the undone call": /UPDATE undo_v1 SET state/,
} as const satisfies Record<string, RegExp | readonly [RegExp, number]>;

const script: ModelScript = ({ prompt }) =>
  prompt.at(-1)?.role === "tool" ? [say("Refunded.")] : [callTool("refund", { order: "7" })];

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
    { timeout: 4_000, interval: 50 },
  );
}

describe("an object that dies while it undoes a call", () => {
  it.each(
    Object.entries(WRITES).flatMap(([what, pattern]) =>
      (["before", "after"] as const).map((when) => ({ what, when, pattern })),
    ),
  )("undoes it at most once, and its card says the truth: $when $what", async ({ pattern, when }) => {
    const killer = killerAt(pattern, when);
    const done: string[] = [];
    let sync: (() => Promise<void>) | undefined;
    const refund = action({
      description: "Refunds an order.",
      inputSchema: z.object({ order: z.string() }),
      execute: ({ order }) => ({ paid: order }),
      revert: async ({ input }) => {
        // Nothing leaves an object before its earlier writes are durable.
        await sync?.();
        done.push(`take back ${input.order}`);
      },
    });
    const world = createWorld({
      script,
      getActions: () => ({ refund }),
      onStart: (agent) => {
        const { ctx } = agent as unknown as { readonly ctx: DurableObjectState };
        if (agent.name.includes("thread:")) sync = () => ctx.storage.sync();
        killer.arm(agent);
      },
    });
    const shows = (text: string): boolean => world.chats.visible("c1").some((one) => one.includes(text));
    const hasEnded = (): boolean => shows("Undone:") || shows("don't know whether");
    await deliver(() => world.write("c1", "refund 7", { id: "cause" }));
    await until(world, () => world.chats.button("c1", "Undo") !== undefined);
    for (let presses = 1; presses <= 2 && !hasEnded(); presses += 1) {
      const token = world.chats.button("c1", "Undo");
      if (token === undefined) break;
      const id = `press-${presses}`;
      await deliver(() => world.post({ kind: "press", id, chat: "c1", user: "ada", text: token }));
      await until(world, () => world.chats.answered.includes(id) || hasEnded());
    }
    await until(world, hasEnded);
    expect(killer.hasStruck()).toBe(true);
    expect(done.length).toBeLessThanOrEqual(1);
    if (shows("Undone:")) expect(done).toEqual(["take back 7"]);
    expect(shows("couldn't undo")).toBe(false);
  });
});

/** The writes between the end of a run of code and the card that offers to undo it. */
const OFFER_WRITES = {
  "the end of the run": /UPDATE code_run_v1 SET [^W]*ended_at/,
  "the time of the calls": /UPDATE undo_v1 SET created_at/,
  "the card": [/INSERT INTO card_v1/, 3],
} as const satisfies Record<string, RegExp | readonly [RegExp, number]>;

describe("an object that dies when its code has ended", () => {
  let end: () => void;
  beforeEach(() => void (end = useCodemode()));
  afterEach(() => end());

  it.each(
    Object.entries(OFFER_WRITES).flatMap(([what, pattern]) =>
      (["before", "after"] as const).map((when) => ({ what, when, pattern })),
    ),
  )("offers once to undo all that it did: $when $what", async ({ pattern, when }) => {
    const killer = killerAt(pattern, when);
    const world = createMailingBot({ onStart: killer.arm });
    const shown = (text: string): number =>
      world.chats.visible("c1").filter((one) => one.includes(text)).length;
    await deliver(() => world.write("c1", "mails", { id: "cause" }));
    for (const to of ["bob", "cid"]) {
      await until(world, () => shown(`Mail to ${to}`) > 0);
      const token = world.chats.button("c1", "Approve") ?? "";
      await deliver(() => world.post({ kind: "press", id: to, chat: "c1", user: "ada", text: token }));
    }
    await until(world, () => shown("All is done.") > 0 && world.chats.button("c1", "Undo") !== undefined);
    expect(killer.hasStruck()).toBe(true);
    expect(shown("Done: ")).toBe(1);
    expect(shown("Done: Mail to ann; Mail to bob; Mail to cid")).toBe(1);
  });
});
