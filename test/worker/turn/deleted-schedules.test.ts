import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import { found, refundAction, shown } from "../support/refund-bot.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

beforeEach(() => void captureLog());

const GONE = "Not needed any more: its schedule was deleted";
const CHANGED_NOTHING = "The schedule behind this request was deleted, so nothing has changed.";

interface Bot {
  readonly world: World;
  readonly effects: string[];
  /** The button of the card that approves. */
  readonly approve: string;
}

async function kill(stub: World["stub"]): Promise<void> {
  await runInDurableObject(stub, async (_bot, state) => {
    await state.storage.sync();
    state.abort("killed by a test");
  }).catch(() => undefined);
}

/** A bot with a digest that somebody has made, `#1`. */
async function made(options: WorldOptions = {}): Promise<Bot> {
  const { effects, refund } = refundAction();
  const world = createWorld({
    settings: { chatSchedules: true },
    getActions: () => ({ refund }),
    script: ({ prompt, said }) => {
      if (prompt.at(-1)?.role === "tool") return [say("OK.")];
      if (said.startsWith("⟦Scheduled task")) return [callTool("refund", { orderId: "1" })];
      if (/\bdelete$/.test(said)) return [callTool("cancel_schedule", { id: "#1" })];
      return /\bgo$/.test(said)
        ? [callTool("schedule_digest", { text: "Refund", when: "every day at 09:00", timezone: "UTC" })]
        : [say("Hm?")];
    },
    ...options,
  });
  await world.write("c1", "go");
  await shown(world, "I'll write this for you");
  return { world, effects, approve: "" };
}

/** Runs the digest until it waits. `keeper` has the schedule. */
async function run(bot: Bot, keeper: World["stub"]): Promise<Bot> {
  await runInDurableObject(keeper, (one) => one.schedules.run("#1"));
  await shown(bot.world, "Refund order 1?");
  await vi.waitFor(
    async () => expect(await keeper.schedules.occurrences()).toMatchObject([{ state: "waiting" }]),
    8000,
  );
  return { ...bot, approve: bot.world.chats.button("c1", "Approve") ?? "" };
}

/** The request has ended, its card says so, and a press of an old button changes nothing. */
async function expectEnded({ approve, effects, world }: Bot, keeper: World["stub"]): Promise<void> {
  await shown(world, GONE);
  expect(found(world, GONE).buttons).toEqual([]);
  expect(await world.pressToken("c1", approve)).toBe(CHANGED_NOTHING);
  expect(effects).toEqual([]);
  await vi.waitFor(
    async () =>
      expect(await keeper.schedules.occurrences()).toMatchObject([
        { state: "skipped", code: "task-removed" },
      ]),
    8000,
  );
  await vi.waitFor(async () => expect(await world.stub.pendingApprovals()).toEqual([]), 8000);
  expect(await world.stub.approvals.list()).toMatchObject([
    { state: "withdrawn", reason: "schedule-deleted" },
  ]);
}

describe("a schedule that is deleted while its run waits for consent", () => {
  it.each<[string, (world: World) => Promise<unknown>]>([
    ["with the button of the card that confirmed it", (world) => world.press("c1", "Delete")],
    [
      "with /schedules",
      async (world) => {
        await world.write("c1", "/schedules");
        await world.press("c1", "Delete #1");
      },
    ],
    ["with words", (world) => world.write("c1", "delete")],
    ["by the bot's own code", (world) => world.thread("c1").schedules.delete("#1")],
  ])("takes its request back, and its chat hears nothing more of it: %s", async (_name, remove) => {
    const bot = await made();
    const keeper = bot.world.thread("c1");
    const asked = await run(bot, keeper);
    await remove(bot.world);
    await expectEnded(asked, keeper);
    const told = bot.world.requests.filter(({ said }) => said.includes("Outcome of an action"));
    expect(told).toEqual([]);
  });

  it("takes its request back although another object runs it, and both die", async () => {
    let name = "one";
    const bot = await made({ messenger: { conversation: () => ({ target: "subagent", name }) } });
    const { world } = bot;
    name = "two";
    await world.write("c1", "Hello");
    await shown(world, "Hm?");
    const keeper = world.child("named:one");
    const asked = await run(bot, keeper);
    expect(await world.child("named:two").approvals.list()).toMatchObject([{ state: "waiting" }]);
    await kill(world.child("named:two"));
    await keeper.schedules.delete("#1");
    await kill(keeper);
    // The call starts it again.
    const restarted = world.child("named:one");
    expect(await restarted.schedules.list()).toEqual([]);
    await expectEnded(asked, restarted);
  });

  it("asks nobody any more if its question was still on its way", async () => {
    const gate = createGate();
    const { effects, refund } = refundAction({
      preview: async () => {
        await gate.pass();
        return "Nothing else.";
      },
    });
    const bot = await made({ getActions: () => ({ refund }) });
    const keeper = bot.world.thread("c1");
    await runInDurableObject(keeper, (one) => one.schedules.run("#1"));
    await untilReached(gate);
    await keeper.schedules.delete("#1");
    await vi.waitFor(
      async () => expect(await keeper.schedules.occurrences()).toMatchObject([{ code: "task-removed" }]),
      8000,
    );
    gate.open();
    await bot.world.write("c1", "Hello");
    await shown(bot.world, "Hm?");
    expect(await keeper.approvals.list()).toEqual([]);
    expect(effects).toEqual([]);
  });
});

it("Delete on the card of a declared task that has paused itself takes back what it still asks", async () => {
  const { effects, refund } = refundAction();
  let data: string | undefined = "orders";
  const boss = { messenger: "fake", chatId: "boss" };
  const world = createWorld({
    getActions: () => ({ refund }),
    scheduledTasks: () => ({
      night: {
        schedule: "every month on 1 at 00:00 in UTC",
        prompt: "Refund them.",
        source: () => {
          if (data === undefined) throw new Error("The shop is closed.");
          return data;
        },
        deliverTo: boss,
        owner: boss,
      },
    }),
    script: ({ prompt, said }) => {
      if (prompt.at(-1)?.role === "tool") return [say("OK.")];
      return said.startsWith("⟦Scheduled task") ? [callTool("refund", { orderId: "1" })] : [say("Hm?")];
    },
  });
  await world.write("boss", "Hello", { user: "boss" });
  await shown(world, "Hm?", "boss");
  const states = async (): Promise<string[]> =>
    (await world.stub.schedules.occurrences()).map(({ state }) => state).toSorted();
  await world.stub.schedules.run("night");
  await vi.waitFor(async () => expect(await states()).toEqual(["waiting"]), 8000);
  const approve = world.chats.button("boss", "Approve") ?? "";
  data = undefined;
  for (let failed = 1; failed <= 5; failed += 1) {
    await world.stub.schedules.run("night");
    const failures = Array.from({ length: failed }, () => "failed");
    await vi.waitFor(async () => expect(await states()).toEqual([...failures, "waiting"]), 8000);
  }
  expect(await world.press("boss", "Delete", { user: "boss" })).toBe("It stays stopped.");
  await shown(world, GONE, "boss");
  expect(await world.pressToken("boss", approve, { user: "boss" })).toBe(CHANGED_NOTHING);
  await vi.waitFor(
    async () =>
      expect(await world.stub.schedules.occurrences({ state: "skipped" })).toMatchObject([
        { code: "schedule-deleted" },
      ]),
    8000,
  );
  expect(effects).toEqual([]);
});
