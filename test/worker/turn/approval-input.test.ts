import { beforeEach, describe, expect, it } from "vitest";
import { tool } from "ai";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, refundScript, shown } from "../support/refund-bot.ts";
import { createWorld } from "../support/world.ts";
import type { WorldOptions } from "../support/world.ts";

beforeEach(() => void captureLog());

describe("the input that people have seen", () => {
  it("is what runs: a hook changes it before they are asked, and not after", async () => {
    let hooked = 0;
    const { effects, world } = createRefundBot(
      {},
      {
        hooks: {
          beforeToolCall: () => ({ action: "allow", input: { orderId: `${9 + (hooked += 1)}` } }),
        },
      },
    );
    await world.write("c1", "Refund 7");
    await shown(world, "Refund order 10");
    await world.press("c1", "Approve");
    await shown(world, "Told: Approved");
    expect(effects).toEqual(["10"]);
    expect(hooked).toBe(1);
  });

  const cents = z.object({ orderId: z.string().transform((euros) => Number(euros) * 100) });
  const effects: unknown[] = [];
  const pay = (input: unknown): string => {
    effects.push(input);
    return "paid";
  };

  it.each<[string, Pick<WorldOptions, "getActions" | "getTools">, boolean]>([
    [
      "an action",
      { getActions: () => ({ refund: action({ description: "Pay.", inputSchema: cents, execute: pay }) }) },
      false,
    ],
    [
      "an action that asks",
      {
        getActions: () => ({
          refund: action({ description: "Pay.", inputSchema: cents, approval: true, execute: pay }),
        }),
      },
      true,
    ],
    [
      "a tool that asks",
      {
        getTools: () => ({
          // oxlint-disable-next-line typescript/no-deprecated -- bots still declare approvals so
          refund: tool({ inputSchema: cents, needsApproval: true, execute: pay }),
        }),
      },
      true,
    ],
  ])("is changed by the schema once: %s", async (_what, rest, asks) => {
    effects.length = 0;
    const world = createWorld({ script: refundScript, ...rest });
    await world.write("c1", "Refund 7");
    if (asks) {
      await asked(world);
      await shown(world, "Order id: 7");
      await world.press("c1", "Approve");
      await shown(world, "Told: Approved");
    } else await shown(world, "Somebody has to decide.");
    expect(effects).toEqual([{ orderId: 700 }]);
  });

  it("does not run if a new version of the bot reads it differently", async () => {
    let amountCents = 100;
    effects.length = 0;
    const world = createWorld({
      script: refundScript,
      getActions: () => ({
        refund: action({
          description: "Refund an order.",
          inputSchema: z.object({
            orderId: z.string().transform((orderId) => ({ orderId, amountCents })),
          }),
          approval: true,
          approvalSummary: ({ input }) => `Refund ${input.orderId.amountCents} cents`,
          execute: pay,
        }),
      }),
    });
    await world.write("c1", "Refund 7");
    await asked(world);
    await shown(world, "Refund 100 cents");
    amountCents = 100_000;
    await world.press("c1", "Approve");
    await shown(world, "The action has changed since somebody agreed to it.");
    await shown(world, "Approved, but it failed");
    expect(effects).toEqual([]);
  });
});
