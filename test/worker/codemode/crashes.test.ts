import { runDurableObjectAlarm } from "cloudflare:test";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createQuickJSExecutor } from "../../../src/codemode/index.ts";
import { createCodeBot, useCodemode } from "../support/code-bot.ts";
import { killerAt } from "../support/killer.ts";
import { captureLog } from "../support/log-lines.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());
let end: () => void;
beforeAll(async () => {
  end = useCodemode();
  // An object that dies while it loads the engine's modules would leave them unloaded for all others of the test's runner.
  await createQuickJSExecutor().execute("async () => 1", []);
});
afterAll(() => end());

/** The writes of a run of two calls, one of which asks a person. */
const WRITES = {
  "the run": /INSERT INTO code_run_v1/,
  "the first call": /INSERT INTO code_call_v1/,
  "the first call in the ledger": /INSERT INTO action_v1/,
  "the result of the first call": /UPDATE code_call_v1 SET state = \?, result/,
  "the end of the first call in the ledger": [/INSERT INTO action_v1/, 2],
  "the second call": [/INSERT INTO code_call_v1/, 2],
  "the question": /INSERT INTO approval_v1/,
  "the call that waits": /UPDATE code_call_v1 SET state = \?, asked/,
  "the paused run": /UPDATE code_run_v1 SET state = \?\s+WHERE/,
  "the beginning of the press": /INSERT INTO press_v1/,
  "the second call in the ledger": [/INSERT INTO action_v1/, 3],
  "the result of the second call": [/UPDATE code_call_v1 SET state = \?, result/, 2],
  "the end of the second call in the ledger": [/INSERT INTO action_v1/, 4],
  "the run that goes on": /UPDATE code_run_v1 SET state = \?, is_resumed/,
  "the end of the run": /UPDATE code_run_v1 SET state = \?, result/,
} as const satisfies Record<string, RegExp | readonly [RegExp, number]>;

async function deliver(send: () => Promise<number>): Promise<void> {
  await vi.waitFor(async () => expect(await send().catch(() => 500)).toBe(200), 8000);
}

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

describe("an object that dies while its code runs", () => {
  it.each(
    Object.entries(WRITES).flatMap(([what, pattern]) =>
      (["before", "after"] as const).map((when) => ({ what, when, pattern })),
    ),
  )("makes each call at most once and tells one end: $when $what", async ({ pattern, when }) => {
    const killer = killerAt(pattern, when);
    const bot = createCodeBot({ onStart: (agent) => killer.arm(agent) });
    const { chats } = bot.world;
    const code =
      "run async () => { let tagged = true; try { await mail.note({ to: 'ann' }); } catch { tagged = false; } await mail.send({ to: 'bob' }); return { tagged }; }";
    await deliver(() => bot.world.write("c1", code, { id: "cause" }));
    const isTold = (): boolean => chats.visible("c1").some((text) => text.includes("Told:"));
    await until(bot.world, () => chats.button("c1", "Approve") !== undefined);
    for (let presses = 1; presses <= 2 && !isTold(); presses += 1) {
      const token = chats.button("c1", "Approve");
      if (token === undefined) break;
      const id = `press-${presses}`;
      await deliver(() => bot.world.post({ kind: "press", id, chat: "c1", user: "ada", text: token }));
      await until(bot.world, () => chats.answered.includes(id) || isTold());
    }
    await until(bot.world, isTold);
    expect(killer.hasStruck()).toBe(true);
    const told = chats.answers("c1").filter((text) => text.startsWith("Told:"));
    expect(told).toHaveLength(1);
    for (const effect of ["note ann", "send bob"])
      expect(bot.done.filter((one) => one === effect).length).toBeLessThanOrEqual(1);
    // A call is lost only where the process died around its effect, and then the code or the model is told.
    const isUnknown = /"tagged":false|not known|did not finish/.test(told[0] ?? "");
    if (!isUnknown) expect(bot.done).toEqual(["note ann", "send bob"]);
  });
});
