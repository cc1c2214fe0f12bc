import { beforeEach, describe, expect, it, vi } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { callTool, holdAt, say } from "../support/scripted-model.ts";
import { asked, createRefundBot, found, refundInput, shown, told } from "../support/refund-bot.ts";
import { action } from "../../../src/index.ts";
import { createWorld } from "../support/world.ts";

beforeEach(() => void captureLog());

const messenger = { burstMs: 0, rerunOnEdit: true, delivery: { editEveryMs: 0 } };

describe("a message that has led to a question, edited before the decision", () => {
  it.each([true, false])(
    "replaces the card: the old input can no longer be approved (rerunOnEdit: %j)",
    async (rerunOnEdit) => {
      const { effects, world } = createRefundBot({}, { messenger: { ...messenger, rerunOnEdit } });
      await world.write("c1", "Refund 7");
      const card = await asked(world);
      const token = world.chats.button("c1", "Approve") ?? "";
      await world.post({ kind: "edit", id: "m1", chat: "c1", user: "ada", text: "Refund 8" });
      await shown(world, "Replaced: the message has changed");
      expect(found(world, "Replaced: the message has changed").id).toBe(card);
      await shown(world, "Refund order 8");
      expect(await world.pressToken("c1", token)).toBe(
        "The message behind this request has changed, so nothing was decided.",
      );
      expect(effects).toEqual([]);
      await world.press("c1", "Approve");
      await vi.waitFor(() => expect(effects).toEqual(["8"]), 8000);
      await shown(world, "Told: Approved");
      expect(told(world)).toHaveLength(1);
    },
  );

  it("is not answered again once somebody has agreed", async () => {
    const held = Promise.withResolvers<void>();
    const { effects, world } = createRefundBot(
      {
        execute: async ({ orderId }) => {
          await held.promise;
          effects.push(orderId);
          return { refunded: orderId };
        },
      },
      { messenger },
    );
    await world.write("c1", "Refund 7");
    await world.press("c1", "Approve");
    await shown(world, "Working on it");
    await world.post({ kind: "edit", id: "m1", chat: "c1", user: "ada", text: "Refund 8" });
    held.resolve();
    await shown(world, "Told: Approved");
    expect(world.chats.visible("c1").join("\n")).not.toContain("Refund order 8");
    expect(effects).toEqual(["7"]);
  });

  it("is not answered again if another action of the same step had its effect", async () => {
    const notes: string[] = [];
    const note = action({
      description: "Take a note.",
      inputSchema: refundInput,
      execute: ({ orderId }) => notes.push(orderId),
    });
    const refund = action({
      description: "Refund an order.",
      inputSchema: refundInput,
      approval: true,
      execute: ({ orderId }) => orderId,
    });
    const end = Promise.withResolvers<void>();
    const world = createWorld({
      messenger,
      getActions: () => ({ note, refund }),
      script: ({ prompt }) =>
        prompt.at(-1)?.role === "tool"
          ? [holdAt({ pass: () => end.promise }), say("OK.")]
          : [callTool("note", { orderId: "7" }), callTool("refund", { orderId: "7" })],
    });
    await world.write("c1", "Refund 7 and note it");
    await asked(world);
    await world.post({ kind: "edit", id: "m1", chat: "c1", user: "ada", text: "Refund 8 and note it" });
    end.resolve();
    await shown(world, "OK.");
    expect(notes).toEqual(["7"]);
    expect(found(world, "Refund an order?").texts).toHaveLength(1);
  });
});

it("takes a question back when its message is deleted, and says so", async () => {
  const { effects, world } = createRefundBot();
  await world.write("c1", "Refund 7");
  await asked(world);
  await world.post({ kind: "delete", id: "m1", chat: "c1", user: "ada" });
  await shown(world, "Told: Taken back by ada.");
  expect(world.chats.messages("c1").flatMap(({ buttons }) => buttons)).toEqual([]);
  expect(effects).toEqual([]);
});
