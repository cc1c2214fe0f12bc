import { beforeEach, describe, expect, it, vi } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { found, refundAction, shown, told } from "../support/refund-bot.ts";
import type { RefundBot, RefundOptions } from "../support/refund-bot.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;
const as = (user: string) => ({ ...GROUP, user });

/** Calls `refund` for every number of the message, in one step. */
const severalAtOnce: ModelScript = ({ prompt, said }) => {
  if (prompt.at(-1)?.role === "tool") return [say("Somebody has to decide.")];
  const outcome = /Decision: (.*)\nResult: (.*)$/.exec(said);
  if (outcome !== null) return [say(`Told: ${outcome[1]} → ${outcome[2]}`)];
  const orders = [...said.matchAll(/\d+/g)].map(([orderId]) => callTool("refund", { orderId }));
  return orders.length === 0 ? [say("Hm?")] : [say("I'll ask."), ...orders];
};

function createBot(options: RefundOptions = {}): RefundBot {
  const { effects, refund, runs } = refundAction(options);
  return { world: createWorld({ script: severalAtOnce, getActions: () => ({ refund }) }), effects, runs };
}

/** Resolves with the labels of the buttons of the only card with buttons. */
async function buttonsOf({ world }: RefundBot, chat = "c1"): Promise<string[]> {
  const cards = world.chats.messages(chat).filter(({ buttons }) => buttons.length > 0);
  expect(cards).toHaveLength(1);
  return cards.flatMap(({ buttons }) => buttons.map(({ label }) => label));
}

describe("one card for several calls of a step", () => {
  it("decides all of them at once, and names what failed", async () => {
    const bot = createBot({
      execute: ({ orderId }) => {
        if (orderId === "8") throw new Error("Order 8 is too old.");
        return { refunded: orderId };
      },
    });
    const { world } = bot;
    await world.write("c1", "Refund 7, 8 and 9");
    await shown(world, "Shall I do this?");
    expect(await buttonsOf(bot)).toEqual([
      "Approve all",
      "Reject all",
      "Approve 1",
      "Reject 1",
      "Approve 2",
      "Reject 2",
      "Approve 3",
      "Reject 3",
      "One by one",
    ]);
    expect(await world.press("c1", "Approve all")).toBe("Approved.");
    await shown(world, "1. Refund order 7: Done");
    await shown(world, "2. Refund order 8: Approved, but it failed · Result: It did not work.");
    await shown(world, "3. Refund order 9: Done");
    await vi.waitFor(() => expect(told(world)).toHaveLength(3), 8000);
    expect(world.chats.messages("c1").filter(({ buttons }) => buttons.length > 0)).toEqual([]);
  });

  it("decides each by itself, and says who may not decide about the rest", async () => {
    const bot = createBot({ approvers: ["bob"] });
    const { effects, world } = bot;
    await world.write("g1", "Refund 7 and 8", GROUP);
    await shown(world, "Shall I do this?", "g1");
    expect(await world.press("g1", "Approve all", as("eve"))).toContain("You can't decide this.");
    expect(await world.press("g1", "Reject 1", as("bob"))).toBe("Rejected.");
    await shown(world, "1. Refund order 7: Rejected · Decided by: bob", "g1");
    expect(await buttonsOf(bot, "g1")).toEqual(["Approve 2", "Reject 2", "One by one"]);
    const { id: quotes } = found(world, "Shall I do this?", "g1");
    await world.write("g1", "yes", { ...as("bob"), quotes });
    expect(effects).toEqual([]);
    expect(await world.press("g1", "Approve 2", as("bob"))).toBe("Approved.");
    await shown(world, "2. Refund order 8: Done", "g1");
    expect(effects).toEqual(["8"]);
  });

  it("gives each its own card on request, with all that is possible", async () => {
    const { effects, world } = createBot();
    await world.write("c1", "Refund 7 and 8");
    await shown(world, "Shall I do this?");
    expect(await world.press("c1", "One by one")).toBeUndefined();
    await shown(world, "Refund order 7?");
    await shown(world, "Refund order 8?");
    expect(world.chats.visible("c1").join()).not.toContain("Shall I do this?");
    const { id: quotes } = found(world, "Refund order 8?");
    await world.write("c1", "yes", { quotes });
    await shown(world, "Told: Approved by ada");
    expect(effects).toEqual(["8"]);
    expect(await world.thread("c1").pendingApprovals()).toHaveLength(1);
  });

  it("takes no call of a later turn, of high risk, or for which several must approve", async () => {
    const { effects, world } = createBot();
    await world.write("c1", "Refund 7 and 8");
    await shown(world, "Shall I do this?");
    await world.write("c1", "Refund 9");
    await shown(world, "Refund order 9?");
    expect(await world.press("c1", "Approve all")).toBe("Approved.");
    await vi.waitFor(() => expect(told(world)).toHaveLength(2), 8000);
    expect(effects).toEqual(["7", "8"]);
    for (const options of [{ approvalRisk: "high" }, { approvers: "anyone", quorum: 2 }] as const) {
      const bot = createBot(options);
      await bot.world.write("g1", "Refund 7 and 8", GROUP);
      await shown(bot.world, "Refund order 7?", "g1");
      await shown(bot.world, "Refund order 8?", "g1");
    }
  });
});
