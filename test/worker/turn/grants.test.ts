import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ActionError } from "../../../src/index.ts";
import type { ThinkActions } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, more, refundAction, refundScript, shown } from "../support/refund-bot.ts";
import type { RefundOptions } from "../support/refund-bot.ts";
import { callTool, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;
const small: NonNullable<RefundOptions["grantable"]> = ({ input }) =>
  input.orderId.length < 3 ? { scope: "small", words: "Refunds of small orders" } : undefined;

/** Resolves when nobody is asked about one more refund. */
async function runsUnasked(world: World, effects: readonly string[], orderId: string): Promise<void> {
  const before = effects.length;
  await world.write("c1", `Refund ${orderId}`);
  await vi.waitFor(() => expect(effects.slice(before)).toEqual([orderId]), { timeout: 8000, interval: 20 });
}

describe("a grant", () => {
  it("covers later calls in its words, until somebody ends it; every use is in the audit", async () => {
    const requested: string[] = [];
    const { effects, runs, world } = createRefundBot(
      { grantable: small },
      {
        settings: {
          onApprovalRequested: ({ descriptor }) =>
            void requested.push((descriptor.input as { orderId: string }).orderId),
        },
      },
    );
    await world.write("c1", "Refund 7");
    await more(world);
    await shown(world, "You can also allow: Refunds of small orders, in this chat, asked by ada");
    expect(await world.press("c1", "Allow always")).toBe(
      "Approved. I won't ask again for this: Refunds of small orders, in this chat, asked by ada, always. /grants shows it and ends it.",
    );
    await shown(world, "Told: Approved by ada");
    await shown(world, "Also allowed always: Refunds of small orders");
    await runsUnasked(world, effects, "8");
    expect(runs[1]?.approver).toMatchObject({ userId: "ada" });
    await vi.waitFor(async () => {
      const [use, given] = await world.thread("c1").approvals.list();
      const grantId = given?.decidedBy?.grantId ?? "none";
      expect(use).toMatchObject({ state: "done", input: { orderId: "8" }, outcome: { refunded: "8" } });
      expect(use?.decidedBy).toEqual({ surface: "grant", person: expect.anything() as unknown, grantId });
      expect((await world.thread("c1").approvals.grants())[0]).toMatchObject({ id: grantId, uses: 1 });
    }, 8000);
    // The root's audit has the use, too, and nobody was asked about it.
    await vi.waitFor(async () => {
      const [use, given] = await world.stub.approvals.list({ state: "done" });
      expect(use).toMatchObject({ input: { orderId: "8" }, conversation: "thread:fake:fake%3Ac1" });
      expect(use?.decidedBy).toMatchObject({
        surface: "grant",
        grantId: given?.decidedBy?.grantId ?? "none",
      });
    }, 8000);
    expect(requested).toEqual(["7"]);
    await world.write("c1", "/grants");
    await shown(
      world,
      "1. Refunds of small orders, in this chat, asked by ada, always – given by ada, used once",
    );
    expect(await world.press("c1", "End 1")).toBe("Ended. From now on I ask again.");
    expect(await world.press("c1", "End 1")).toBe("This is over already.");
    await world.write("c1", "Refund 9");
    await asked(world);
    expect(effects).toEqual(["7", "8"]);
  });

  it("covers calls up to its number and its sum, which the root counts, and gives back what had no effect", async () => {
    let fails = true;
    const { effects, refund } = refundAction({
      amount: ({ input }) => ({ value: Number(input.orderId), currency: "EUR" }),
      grantable: () => ({ scope: "all", words: "Refunds", calls: 3, sum: { value: 100, currency: "EUR" } }),
    });
    const failing = {
      ...refund,
      execute: (...call: Parameters<typeof refund.execute>) => {
        if (fails) throw new ActionError("The shop is closed.");
        return refund.execute(...call);
      },
    };
    const world = createWorld({ script: refundScript, getActions: () => ({ refund: failing }) });
    await world.write("c1", "Refund 7");
    await more(world);
    await shown(
      world,
      "You can also allow: Refunds, up to 100 € in all, 3 times, in this chat, asked by ada",
    );
    await world.press("c1", "Allow always");
    await shown(world, "Told: Approved by ada");
    // It fails without an effect, so its 90 € can be used again.
    await world.write("c1", "Refund 90");
    await vi.waitFor(
      async () =>
        expect(
          (await world.thread("c1").approvals.list({ state: "failed" })).map(({ input }) => input),
        ).toContainEqual({
          orderId: "90",
        }),
      { timeout: 8000, interval: 20 },
    );
    fails = false;
    const claimed = (): Promise<number> =>
      runInDurableObject(
        world.stub,
        (_bot, state) =>
          state.storage.sql
            .exec<{ units: number }>("SELECT sum(units) AS units FROM allowance_v1 WHERE is_given_back = 0")
            .one().units,
      );
    await vi.waitFor(async () => expect((await claimed()) ?? 0).toBe(0), { timeout: 8000, interval: 50 });
    await runsUnasked(world, effects, "60");
    await runsUnasked(world, effects, "30");
    expect(await claimed()).toBe(900_000);
    // 20 € more would be too much, so people are asked.
    await world.write("c1", "Refund 20");
    await shown(world, "Refund order 20?");
    await runsUnasked(world, effects, "10");
    await world.write("c1", "Refund 0");
    await shown(world, "Refund order 0?");
    expect(effects).toEqual(["60", "30", "10"]);
  });

  it("covers no other input than the action says, and no other person or chat", async () => {
    const { effects, world } = createRefundBot({ grantable: small, approvers: "anyone" });
    await world.write("g1", "Refund 7", GROUP);
    await more(world, "g1", GROUP);
    await world.press("g1", "Allow always", GROUP);
    await shown(world, "Told: Approved by ada", "g1");
    await world.write("g1", "Refund 1000", GROUP);
    await shown(world, "Refund order 1000", "g1");
    await world.write("g1", "Refund 8", { ...GROUP, user: "bob" });
    await shown(world, "Refund order 8", "g1");
    await world.write("g2", "Refund 9", GROUP);
    await shown(world, "Refund order 9", "g2");
    expect(effects).toEqual(["7"]);
    await world.write("g1", "/grants", { ...GROUP, user: "bob" });
    await shown(world, "Nothing is allowed in advance here", "g1");
    await world.write("g1", "/grants", GROUP);
    expect(await world.press("g1", "End 1", { ...GROUP, user: "bob" })).toBe(
      "Only ada and ada can end this.",
    );
  });

  it("counts only while the person who gave it may still decide", async () => {
    const approvers = new Set(["bob"]);
    const { effects, world } = createRefundBot({
      grantable: true,
      approvers: ({ userId }) => approvers.has(userId),
    });
    await world.write("g1", "Refund 7", GROUP);
    await more(world, "g1", { ...GROUP, user: "bob" });
    await world.press("g1", "Allow for an hour", { ...GROUP, user: "bob" });
    await shown(world, "Told: Approved by bob", "g1");
    approvers.delete("bob");
    await world.write("g1", "Refund 8", GROUP);
    await shown(world, "Refund order 8", "g1");
    expect(effects).toEqual(["7"]);
  });

  it("for this request covers its other calls, also those that wait, and no later request", async () => {
    const { effects, world } = createRefundBot({ grantable: true });
    world.script(({ prompt, said }) => {
      const ids = /refund (.+)/i.exec(said)?.[1]?.split(" ") ?? [];
      if (prompt.at(-1)?.role === "tool" || said.includes("Decision:") || ids.length === 0)
        return [say("OK.")];
      return ids.map((orderId) => callTool("refund", { orderId }));
    });
    await world.write("c1", "Refund 7 8 9");
    await shown(world, "Refund order 9");
    await world.press("c1", "One by one");
    await shown(world, "Refund order 9?");
    await more(world);
    await world.press("c1", "Allow for this request");
    await vi.waitFor(() => expect(effects.toSorted()).toEqual(["7", "8", "9"]), 8000);
    await world.write("c1", "Refund 10");
    await shown(world, "Refund order 10");
    expect(effects).toHaveLength(3);
  });

  it.each<[string, RefundOptions]>([
    ["without a word of the action", {}],
    ["for a high risk", { grantable: true, approvalRisk: "high" }],
    ["for what cannot be undone", { grantable: true, annotations: { destructive: true } }],
    ["for an input that the action leaves out", { grantable: () => undefined }],
  ])("is not offered %s", async (_what, options) => {
    const { world } = createRefundBot(options);
    await world.write("c1", "Refund 7");
    await asked(world);
    await more(world);
    expect(world.chats.messages("c1").flatMap(({ buttons }) => buttons.map(({ label }) => label))).toEqual([
      "Approve",
      "Reject",
      "Less",
      "Ask for changes",
      "Take back",
      "Edit",
    ]);
  });

  it("is offered for a high risk if the action says so", async () => {
    const grantable = () => ({ scope: "all", words: "All refunds", evenHighRisk: true });
    const { effects, world } = createRefundBot({ grantable, approvalRisk: "high" });
    await world.write("c1", "Refund 7");
    await more(world);
    await world.press("c1", "Allow for an hour");
    await shown(world, "Told: Approved");
    await runsUnasked(world, effects, "8");
    expect(effects).toEqual(["7", "8"]);
  });

  it("does not cover a call that is of high risk by now", async () => {
    const { effects, world } = createRefundBot({
      grantable: true,
      approvalRisk: ({ input }) => (input.orderId === "8" ? "high" : "low"),
    });
    await world.write("c1", "Refund 7");
    await more(world);
    await world.press("c1", "Allow always");
    await shown(world, "Told: Approved");
    await world.write("c1", "Refund 8");
    await shown(world, "Refund order 8");
    expect(effects).toEqual(["7"]);
  });

  it("survives a crash, and can be ended by the bot's own code", async () => {
    const { effects, refund } = refundAction({ grantable: true });
    const actions: ThinkActions = { refund };
    const world = createWorld({ script: refundScript, getActions: () => actions });
    await world.write("c1", "Refund 7");
    await more(world);
    await world.press("c1", "Allow always");
    await shown(world, "Told: Approved");
    await runInDurableObject(world.thread("c1"), async (_bot, state) => {
      await state.storage.sync();
      state.abort("killed by a test");
    }).catch(() => undefined);
    await runsUnasked(world, effects, "8");
    const stub = world.thread("c1");
    const [grant] = await stub.approvals.grants();
    expect(await stub.approvals.revokeGrant(grant?.id ?? "")).toBe(true);
    expect(await stub.approvals.revokeGrant(grant?.id ?? "")).toBe(false);
    await world.write("c1", "Refund 9");
    await asked(world);
    expect(effects).toEqual(["7", "8"]);
  });

  it("is listed and ended in the private chat of the approver who gave it for another chat", async () => {
    const dana = { user: "dana" } as const;
    const { effects, world } = createRefundBot({
      grantable: small,
      approvers: ["dana"],
      askIn: "approver-dm",
    });
    await world.write("dana", "Hello", dana);
    await shown(world, "Hm?", "dana");
    await world.write("c1", "Refund 7");
    await more(world, "dana", dana);
    await world.press("dana", "Allow always", dana);
    await shown(world, "Told: Approved by dana");
    await runsUnasked(world, effects, "8");
    // The root knows the decision, and with it the grant.
    await vi.waitFor(async () => expect(await world.stub.pendingApprovals()).toEqual([]), 8000);
    await world.write("dana", "/grants", dana);
    await shown(
      world,
      "1. Refunds of small orders, in “c1”, asked by ada, always – given by dana, used once",
      "dana",
    );
    await world.write("eve", "/grants", { user: "eve" });
    await shown(world, "Nothing is allowed in advance here", "eve");
    const token = world.chats.button("dana", "End 1") ?? "";
    expect(await world.pressToken("dana", token, dana)).toBe("Ended. From now on I ask again.");
    await world.write("c1", "Refund 9");
    await asked(world, "dana");
    expect(effects).toEqual(["7", "8"]);
  });
});
