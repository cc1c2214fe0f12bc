import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ActionError } from "../../../src/index.ts";
import type { OccurrenceRecord, ThinkScheduledTasks } from "../../../src/index.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { captureLog } from "../support/log-lines.ts";
import { found, more, refundAction, shown } from "../support/refund-bot.ts";
import type { RefundOptions } from "../support/refund-bot.ts";
import { callTool, say, textOf } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";

beforeEach(() => void captureLog());

const MONTHLY = { schedule: "every month on 1 at 00:00 in UTC" } as const;
const to = (chat: string): { messenger: string; chatId: string } => ({ messenger: "fake", chatId: chat });
const NIGHT: ThinkScheduledTasks = {
  night: { ...MONTHLY, prompt: "Refund them.", deliverTo: to("team"), owner: to("boss") },
};

/** Refunds in every scheduled run, the next order each time, and tells the outcome. */
function refunds(orders: readonly string[] = ["1", "2", "3"]): ModelScript {
  let next = 0;
  return ({ prompt, said }) => {
    if (prompt.at(-1)?.role === "tool") {
      const result = textOf(prompt.at(-1)) + JSON.stringify(prompt.at(-1)?.content);
      return [say(result.includes("waiting") ? "I've asked." : `Not asked: ${result}`)];
    }
    const outcome = /Decision: (.*)\nResult: (.*)/.exec(said);
    if (outcome !== null) return [say(`Digest: ${outcome[1]} → ${outcome[2]}`)];
    if (!said.startsWith("⟦Scheduled task")) return [say("Hm?")];
    next += 1;
    return [say("Looking. "), callTool("refund", { orderId: orders[next - 1] ?? `${next}` })];
  };
}

interface Bot {
  readonly world: World;
  readonly effects: string[];
  readonly persons: (string | undefined)[];
}

async function create(
  tasks: ThinkScheduledTasks = NIGHT,
  { chats = ["boss", "team"], ...rest }: WorldOptions & { readonly chats?: readonly string[] } = {},
  refundOptions: RefundOptions = {},
): Promise<Bot> {
  const { effects, refund, runs } = refundAction(refundOptions);
  const world = createWorld({
    script: refunds(),
    getActions: () => ({ refund }),
    scheduledTasks: () => tasks,
    ...rest,
  });
  for (const chat of chats) {
    await world.write(chat, `Hello from ${chat}`, { user: chat });
    await shown(world, "Hm?", chat);
  }
  return {
    world,
    effects,
    get persons() {
      return runs.map(({ person }) => person?.userId);
    },
  };
}

async function until(world: World, states: readonly string[], child?: string): Promise<OccurrenceRecord[]> {
  const stub = child === undefined ? world.stub : world.child(child);
  return vi.waitFor(
    async () => {
      const all = await stub.schedules.occurrences();
      const listed = all.map(({ state }) => state);
      if (JSON.stringify(listed) !== JSON.stringify(states)) throw new Error(JSON.stringify(all));
      return all;
    },
    { timeout: 8000, interval: 20 },
  );
}

async function kill(stub: World["stub"]): Promise<void> {
  await runInDurableObject(stub, async (_bot, state) => {
    await state.storage.sync();
    state.abort("killed by a test");
  }).catch(() => undefined);
}

describe("a scheduled run whose action needs consent", () => {
  it("waits with a card in the owner's chat, and delivers its digest after the decision", async () => {
    const { effects, world } = await create();
    await world.stub.schedules.run("night");
    await shown(world, "Refund order 1?", "boss");
    expect(found(world, "Refund order 1?", "boss").texts.at(-1)).toContain("Scheduled task: night");
    await until(world, ["waiting"]);
    expect(world.chats.visible("team")).toEqual(["Hm?"]);
    expect(effects).toEqual([]);
    expect(await world.press("boss", "Approve", { user: "boss" })).toBe("Approved.");
    const [occurrence] = await until(world, ["delivered"]);
    expect(effects).toEqual(["1"]);
    expect(occurrence?.deliveries).toMatchObject([
      { state: "delivered", messageIds: [expect.any(String) as string] },
    ]);
    expect(occurrence?.code).toBeUndefined();
    expect(world.chats.visible("team")).toEqual(["Hm?", expect.stringMatching(/^Digest: Approved by boss/)]);
    expect(world.chats.visible("boss")).toHaveLength(2);
    const said = world.requests.find(({ said: text }) => text.includes("Outcome of an action"))?.said;
    expect(said).toContain('⟦This belongs to the scheduled task "night".');
  });

  it.each([
    ["Reject", /^Digest: Rejected by boss/, "rejected"],
    ["Approve", /^Digest: Approved by boss. It did not work/, "action-failed"],
  ])("tells the truth after %s", async (button, text, code) => {
    const { world } = await create(
      NIGHT,
      {},
      {
        execute: () => {
          throw new ActionError("The shop is closed.");
        },
      },
    );
    await world.stub.schedules.run("night");
    await world.press("boss", button, { user: "boss" });
    expect(await until(world, ["delivered"])).toMatchObject([{ code }]);
    expect(world.chats.visible("team")).toEqual(["Hm?", expect.stringMatching(text)]);
    expect(world.chats.visible("boss")).toHaveLength(2);
  });

  it("asks again after a wish for changes, and delivers one digest", async () => {
    const { effects, world } = await create();
    let asked = 0;
    world.script(({ prompt, said }) => {
      if (prompt.at(-1)?.role === "tool") return [say("I've asked.")];
      if (said.includes("Changes wanted")) return [callTool("refund", { orderId: "9" })];
      if (said.includes("Decision:")) return [say("All done.")];
      return said.startsWith("⟦Scheduled task") && (asked += 1) === 1
        ? [callTool("refund", { orderId: "1" })]
        : [say("Hm?")];
    });
    await world.stub.schedules.run("night");
    await more(world, "boss", { user: "boss" });
    await world.press("boss", "Ask for changes", { user: "boss" });
    await shown(world, "Refund order 9", "boss");
    await world.press("boss", "Approve", { user: "boss" });
    await until(world, ["delivered"]);
    expect(effects).toEqual(["9"]);
    expect(world.chats.visible("team")).toEqual(["Hm?", "All done."]);
  });

  it("is asked once: a later run takes over the card, and the old buttons say so", async () => {
    const { effects, world } = await create();
    await world.stub.schedules.run("night");
    await shown(world, "Refund order 1", "boss");
    await until(world, ["waiting"]);
    const old = world.chats.button("boss", "Approve") ?? "";
    await world.stub.schedules.run("night");
    await shown(world, "Refund order 2", "boss");
    const [, replaced] = await until(world, ["waiting", "skipped"]);
    expect(replaced?.code).toBe("replaced");
    // The same message, with other buttons.
    expect(world.chats.visible("boss")).toHaveLength(2);
    expect(world.chats.button("boss", "Approve")).not.toBe(old);
    expect(await world.pressToken("boss", old, { user: "boss" })).toBe(
      "A newer request has replaced this one, so nothing has changed.",
    );
    expect(await world.press("boss", "Approve", { user: "boss" })).toBe("Approved.");
    await until(world, ["delivered", "skipped"]);
    expect(effects).toEqual(["2"]);
    expect(await world.pressToken("boss", old, { user: "boss" })).toMatch(/newer request has replaced/);
    expect(world.chats.visible("team")).toHaveLength(2);
    expect(world.chats.visible("boss")).toHaveLength(2);
    const approvals = await world.child("task:night").approvals.list();
    expect(approvals.map(({ state }) => state)).toEqual(["done", "replaced"]);
    expect((await world.stub.pendingApprovals()).length).toBe(0);
  });

  it.each([
    ["a word", "yes", {}],
    [
      "a number",
      "1",
      {
        messengers: (world: World) => ({
          fake: { ...world.messenger(), platform: fakePlatform(world.chats, { buttons: false }) },
        }),
      },
    ],
  ])("is not decided with %s that was written before the card showed it", async (_kind, text, options) => {
    const { effects, world } = await create(NIGHT, options);
    await world.stub.schedules.run("night");
    await shown(world, "Refund order 1", "boss");
    const { id: quotes } = found(world, "Refund order 1", "boss");
    const first = Date.now() + 1_000;
    await world.stub.schedules.run("night");
    await shown(world, "Refund order 2", "boss");
    // The person has seen the first order only.
    await world.write("boss", text, { user: "boss", quotes, sentAt: first });
    await shown(world, "A newer request has replaced this one", "boss");
    expect(effects).toEqual([]);
    await world.write("boss", text, { user: "boss", quotes, sentAt: Date.now() + 60_000 });
    await until(world, ["delivered", "skipped"]);
    expect(effects).toEqual(["2"]);
  });

  it("takes over the card also for the same input", async () => {
    const { effects, world } = await create(NIGHT, { script: refunds(["7", "7"]) });
    await world.stub.schedules.run("night");
    await until(world, ["waiting"]);
    await world.stub.schedules.run("night");
    await until(world, ["waiting", "skipped"]);
    expect(world.chats.visible("boss")).toHaveLength(2);
    await world.press("boss", "Approve", { user: "boss" });
    await until(world, ["delivered", "skipped"]);
    expect(effects).toEqual(["7"]);
  });

  it("keeps waiting over restarts of every object", async () => {
    const { effects, world } = await create();
    await world.stub.schedules.run("night");
    await shown(world, "Refund order 1?", "boss");
    await until(world, ["waiting"]);
    for (const stub of [world.stub, world.child("task:night"), world.thread("boss")]) await kill(stub);
    await world.press("boss", "Approve", { user: "boss" });
    await kill(world.child("task:night"));
    await kill(world.stub);
    await until(world, ["delivered"]);
    expect(effects).toEqual(["1"]);
    expect(world.chats.visible("team")).toHaveLength(2);
  });

  it("is asked in the owner's chat, and nowhere else, if every subscriber's conversation runs it", async () => {
    const { effects, world } = await create({
      night: {
        ...MONTHLY,
        prompt: "Refund them.",
        deliverTo: "subscribers",
        fanOut: "each",
        owner: to("boss"),
      },
    });
    await world.stub.broadcasts.subscribe(to("team"));
    await world.stub.schedules.run("night");
    await shown(world, "Refund order 1?", "boss");
    expect(world.chats.visible("team")).toEqual(["Hm?", "Looking."]);
    const [waiting] = await until(world, ["waiting"]);
    const id = waiting?.broadcastId ?? "";
    expect(await world.stub.broadcasts.get(id)).toMatchObject({ deciding: 1, waiting: 1 });
    expect(await world.stub.broadcasts.receipts(id)).toMatchObject({
      receipts: [{ address: { chatId: "team" }, state: "open", code: "waits-for-decision" }],
    });
    expect(effects).toEqual([]);
    await world.press("boss", "Approve", { user: "boss" });
    await vi.waitFor(
      () => expect(world.chats.visible("team").at(-1)).toMatch(/^Digest: Approved by boss/),
      8000,
    );
    await until(world, ["delivered"]);
    expect(effects).toEqual(["1"]);
    expect(world.chats.visible("boss")).toHaveLength(2);
  });

  it("asks for each chat of one occurrence, also if one conversation answers in all of them", async () => {
    const { effects, world } = await create(
      {
        night: {
          ...MONTHLY,
          prompt: "Refund them.",
          deliverTo: [to("team"), to("branch")],
          fanOut: "each",
          owner: to("boss"),
        },
      },
      {
        chats: ["boss", "team", "branch"],
        messenger: { conversation: "self" },
      },
    );
    await world.stub.schedules.run("night");
    await shown(world, "Refund order 1", "boss");
    await shown(world, "Refund order 2", "boss");
    const waiting = await world.stub.pendingApprovals();
    expect(waiting).toHaveLength(2);
    for (const { executionId } of waiting) await world.stub.approveExecution(executionId);
    await until(world, ["delivered"]);
    expect(effects.toSorted()).toEqual(["1", "2"]);
    for (const chat of ["team", "branch"])
      expect(world.chats.visible(chat).at(-1)).toMatch(/^Digest: Approved/);
    expect(await world.stub.pendingApprovals()).toEqual([]);
  });

  it("asks where the action says", async () => {
    const { effects, world } = await create(
      NIGHT,
      { chats: ["boss", "team", "board"] },
      { askIn: to("board"), approvers: ["carol"] },
    );
    await world.stub.schedules.run("night");
    await shown(world, "Refund order 1?", "board");
    expect(world.chats.button("boss", "Approve")).toBeUndefined();
    expect(await world.press("board", "Approve", { user: "ada" })).toMatch(/You can't decide this/);
    expect(await world.press("board", "Approve", { user: "carol" })).toBe("Approved.");
    await until(world, ["delivered"]);
    expect(effects).toEqual(["1"]);
  });

  it.each<[string, ThinkScheduledTasks, RefundOptions]>([
    ["no owner", { night: { ...MONTHLY, prompt: "Refund them.", deliverTo: to("team") } }, {}],
    ["an empty list", NIGHT, { approvers: [] }],
  ])("fails with the reason if nobody can decide: %s", async (_name, tasks, options) => {
    const code = "approvers-missing";
    const { effects, world } = await create(tasks, {}, options);
    await world.stub.schedules.run("night");
    expect(await until(world, ["failed"])).toMatchObject([{ code }]);
    expect(effects).toEqual([]);
    expect(world.chats.visible("team")).toEqual(["Hm?"]);
  });

  it("tells the owner once that a group needs named approvers", async () => {
    const { world } = await create(
      { night: { ...MONTHLY, prompt: "Refund them.", deliverTo: to("team"), owner: to("group") } },
      { chats: ["team"] },
    );
    await world.write("group", "Hello", { isGroup: true, mentions: true });
    await shown(world, "Hm?", "group");
    await world.stub.schedules.run("night");
    expect(await until(world, ["failed"])).toMatchObject([{ code: "approvers-missing" }]);
    await shown(world, "The scheduled task night failed", "group");
    await world.stub.schedules.run("night");
    await until(world, ["failed", "failed"]);
    expect(world.chats.visible("group")).toHaveLength(2);
    expect(world.chats.visible("team")).toEqual(["Hm?"]);
  });
});

describe("a grant for a schedule", () => {
  it("covers its later runs, and nothing once the schedule has changed", async () => {
    const tasks: Record<string, ThinkScheduledTasks[string]> = { ...NIGHT };
    const { effects, world } = await create(tasks, {}, { grantable: true });
    await world.stub.schedules.run("night");
    await more(world, "boss", { user: "boss" });
    await shown(world, "by the scheduled task night", "boss");
    expect(world.chats.button("boss", "Allow always")).toBeUndefined();
    expect(await world.press("boss", "Allow whenever this schedule runs", { user: "boss" })).toMatch(
      /I won't ask again for this: Refund an order, by the scheduled task night/,
    );
    await until(world, ["delivered"]);
    world.script(({ prompt }) =>
      prompt.at(-1)?.role === "tool"
        ? [say(`Refunded: ${JSON.stringify(prompt.at(-1)?.content)}`)]
        : [callTool("refund", { orderId: "2" })],
    );
    await world.stub.schedules.run("night");
    await until(world, ["delivered", "delivered"]);
    expect(effects).toEqual(["1", "2"]);
    expect(world.chats.visible("boss")).toHaveLength(2);
    // Another prompt: people are asked again.
    tasks["night"] = { ...MONTHLY, prompt: "Refund all.", deliverTo: to("team"), owner: to("boss") };
    await world.stub.internal_reconcileScheduledTasks();
    world.script(refunds(["3"]));
    await world.stub.schedules.run("night");
    await until(world, ["waiting", "delivered", "delivered"]);
    await shown(world, "Refund order 3", "boss");
    expect(effects).toEqual(["1", "2"]);
    const [grant] = await world.child("task:night").approvals.grants();
    expect(grant?.revokedBy).toMatchObject({ name: "a change of the schedule" });
  });
});

describe("a digest that somebody has asked for and that needs consent", () => {
  it("has the rights of that person, also after the decision", async () => {
    const asked: (string | undefined)[] = [];
    const { refund, effects, runs } = refundAction({ permissions: ["refunds"] });
    const world = createWorld({
      settings: { chatSchedules: true },
      getActions: () => ({ refund }),
      authorizeTurn: (context) => {
        asked.push(context.person?.userId);
        return { allowed: true, grantedPermissions: context.person?.userId === "ada" ? ["refunds"] : [] };
      },
      script: ({ prompt, said }) => {
        const last = prompt.at(-1);
        if (last?.role === "tool") return [say("OK.")];
        if (said.includes("Decision:")) return [say("Refunded.")];
        if (said.startsWith("⟦Scheduled task")) return [callTool("refund", { orderId: "1" })];
        return /\bgo$/.test(said)
          ? [callTool("schedule_digest", { text: "Refund", when: "every day at 09:00", timezone: "UTC" })]
          : [say("Hm?")];
      },
    });
    await world.write("c1", "go");
    await shown(world, "I'll write this for you");
    asked.length = 0;
    expect(await runInDurableObject(world.thread("c1"), (bot) => bot.schedules.run("#1"))).toBeDefined();
    await shown(world, "Refund order 1?");
    await vi.waitFor(
      async () =>
        expect((await world.thread("c1").schedules.occurrences()).map(({ state }) => state)).toEqual([
          "waiting",
        ]),
      8000,
    );
    expect(await world.press("c1", "Approve")).toBe("Approved.");
    await shown(world, "Refunded.");
    await vi.waitFor(
      async () =>
        expect(await world.thread("c1").schedules.occurrences()).toMatchObject([
          { state: "delivered", deliveries: [{ state: "delivered" }] },
        ]),
      8000,
    );
    expect(effects).toEqual(["1"]);
    expect(runs[0]?.person).toMatchObject({ userId: "ada" });
    expect(new Set(asked)).toEqual(new Set(["ada"]));
  });
});
