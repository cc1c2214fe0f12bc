import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createQuickJSExecutor } from "../../../src/codemode/index.ts";
import type { CodemodeRuntime, RolledBack } from "../../../src/codemode/index.ts";
import { createCodeBot, useCodemode } from "../support/code-bot.ts";
import type { CodeBot } from "../support/code-bot.ts";
import { killerAt } from "../support/killer.ts";
import type { Killer } from "../support/killer.ts";
import { captureLog } from "../support/log-lines.ts";

beforeEach(() => void captureLog());
let end: () => void;
beforeAll(async () => {
  end = useCodemode();
  // An object that dies while it loads the engine's modules would leave them unloaded for all others of the test's runner.
  await createQuickJSExecutor().execute("async () => 1", []);
});
afterAll(() => end());

type Writes = Record<string, RegExp | readonly [RegExp, number]>;

/** The writes of a refusal, from the press on. The code has made one call before, and catches the failure of its second. */
const REJECTION: Writes = {
  "the beginning of the press": /INSERT INTO press_v1/,
  "the decision": [/UPDATE approval_v1 SET state/, 2],
  "the card that says it": [/UPDATE approval_v1 SET state/, 3],
  "the turn that is told": /INSERT INTO prompt_v1/,
  "the end of the call": [/UPDATE code_call_v1 SET state = \?, result = \?\s+WHERE/, 2],
  "the end of the run": /UPDATE code_run_v1 SET state = \?, result/,
};

/** The writes of a rollback of two calls. */
const ROLLBACK: Writes = {
  "the second call's revert in the ledger": [/INSERT INTO action_v1/, 5],
  "the end of the second call's revert in the ledger": [/INSERT INTO action_v1/, 6],
  "the second call that is reverted": /UPDATE code_call_v1 SET state = \?\s+WHERE/,
  "the first call's revert in the ledger": [/INSERT INTO action_v1/, 7],
  "the end of the first call's revert in the ledger": [/INSERT INTO action_v1/, 8],
  "the first call that is reverted": [/UPDATE code_call_v1 SET state = \?\s+WHERE/, 2],
  "the run that is rolled back": /UPDATE code_run_v1 SET state = \?\s+WHERE/,
};

const beforeAndAfter = (writes: Writes) =>
  Object.entries(writes).flatMap(([what, pattern]) =>
    (["before", "after"] as const).map((when) => ({ what, when, pattern })),
  );

function mortalBot(killer: Killer): CodeBot {
  return createCodeBot({ onStart: (agent) => killer.arm(agent) });
}

async function deliver(send: () => Promise<number>): Promise<void> {
  await vi.waitFor(async () => expect(await send().catch(() => 500)).toBe(200), 8000);
}

/** Asks the runtime, in the object's next life if it dies meanwhile. */
async function asked<Result>(
  bot: CodeBot,
  ask: (runtime: CodemodeRuntime) => Promise<Result>,
): Promise<Result> {
  return vi.waitFor(
    async () => {
      // A call starts the object.
      await bot.world.thread("c1").pendingApprovals();
      await runInDurableObject(bot.world.thread("c1"), async (agent) => void (await agent.getTools()));
      return bot.runtime(ask);
    },
    { timeout: 15_000, interval: 50 },
  );
}

async function until({ world }: CodeBot, isSo: () => boolean): Promise<void> {
  await vi.waitFor(
    async () => {
      if (isSo()) return;
      await runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
      throw new Error(`Chat c1 shows ${JSON.stringify(world.chats.visible("c1"))}`);
    },
    { timeout: 15_000, interval: 50 },
  );
}

describe("an object that dies while a person says no to its code", () => {
  it.each(beforeAndAfter(REJECTION))(
    "ends the run, makes no further call and undoes nothing: $when $what",
    async ({ pattern, when }) => {
      const killer = killerAt(pattern, when);
      const bot = mortalBot(killer);
      const { chats } = bot.world;
      const code =
        "run async () => { await mail.tag({ to: 'ann' }); try { await mail.send({ to: 'bob' }); } catch {} await mail.note({ to: 'cid' }); return 1; }";
      await deliver(() => bot.world.write("c1", code, { id: "cause" }));
      const isTold = (): boolean => chats.visible("c1").some((text) => text.includes("Told:"));
      await until(bot, () => chats.button("c1", "Reject") !== undefined);
      for (let presses = 1; presses <= 2 && !isTold(); presses += 1) {
        const token = chats.button("c1", "Reject");
        if (token === undefined) break;
        const id = `press-${presses}`;
        await deliver(() => bot.world.post({ kind: "press", id, chat: "c1", user: "ada", text: token }));
        await until(bot, () => chats.answered.includes(id) || isTold());
      }
      await until(bot, isTold);
      expect(killer.hasStruck()).toBe(true);
      expect(bot.done).toEqual(["tag ann"]);
      const [run] = await asked(bot, (runtime) => runtime.executions());
      expect(run?.status).toBe("rejected");
      expect(run?.log.map(({ method, state }) => `${method} ${state}`)).toEqual([
        "tag applied",
        "send error",
      ]);
      expect(chats.answers("c1").filter((text) => text.startsWith("Told:"))).toHaveLength(1);
    },
  );
});

describe("an object that dies while the bot's code rolls a run back", () => {
  it.each(beforeAndAfter(ROLLBACK))(
    "reverts each call at most once, and says the truth about each: $when $what",
    async ({ pattern, when }) => {
      const killer = killerAt(pattern, when);
      const bot = mortalBot(killer);
      const code =
        "run async () => { await mail.tag({ to: 'ann' }); await mail.tag({ to: 'bob' }); return 'both'; }";
      await deliver(() => bot.world.write("c1", code, { id: "cause" }));
      await until(bot, () => bot.world.chats.visible("c1").join().includes('"result":"both"'));
      const [run] = await bot.runtime((runtime) => runtime.executions());
      const executionId = run?.id ?? "";
      // The bot's code hears of the death, and asks again.
      const rollBack = () => asked(bot, (runtime) => runtime.rollback({ executionId }));
      const outcomes: readonly RolledBack[] = await rollBack();
      expect(killer.hasStruck()).toBe(true);
      const [ended] = await asked(bot, (runtime) => runtime.executions());
      expect(ended?.status).toBe("rolled_back");
      for (const { args, seq, state } of ended?.log ?? []) {
        const times = bot.done.filter((one) => one === `untag ${(args as { to: string }).to}`).length;
        expect(times).toBeLessThanOrEqual(1);
        const told = outcomes.find((one) => one.seq === seq);
        if (state === "reverted") expect(times).toBe(1);
        else
          expect(told).toMatchObject({
            outcome: "failed",
            message: expect.stringContaining("not known") as string,
          });
      }
      const undone = bot.done.filter((one) => one.startsWith("untag"));
      expect(undone).toEqual(["untag bob", "untag ann"].filter((one) => undone.includes(one)));
      const isAllUndone = ended?.log.every(({ state }) => state === "reverted") === true;
      // Only a death around its effect leaves a call unknown.
      if (isAllUndone) expect(undone).toEqual(["untag bob", "untag ann"]);
      expect(await rollBack()).toHaveLength(isAllUndone ? 0 : 1);
      expect(bot.done.filter((one) => one.startsWith("untag"))).toEqual(undone);
    },
  );
});
