import fc from "fast-check";
import { expect, it } from "vitest";
import type { Action } from "../../../src/actions/declare/action.ts";
import { createActionRig, killed, refund } from "./action-rig.ts";

/** Where in its work an action is when its effect happens. */
const WORK = ["effect at once", "effect later", "nothing to wait for"] as const;

function payingAction(kind: (typeof WORK)[number], paid: string[], canVerify: boolean): Action {
  return refund({
    idempotencyKey: ({ input }) => input.orderId,
    execute: async ({ orderId }) => {
      if (kind === "effect later") await Promise.resolve();
      paid.push(orderId);
      if (kind === "effect at once") await Promise.resolve();
      return { paid: orderId };
    },
    ...(canVerify && {
      verify: ({ input: { orderId } }) =>
        paid.includes(orderId) ? { done: true, output: { paid: orderId } } : { done: false },
    }),
  });
}

/** Kills while the ledger is written, and in the end one life that is left alone. */
const schedules = fc.record({
  work: fc.constantFrom(...WORK),
  kills: fc.array(fc.nat({ max: 12 }), { maxLength: 5 }),
});

it("has its effect exactly once through any crashes, if it can be verified (I9)", async () => {
  await fc.assert(
    fc.asyncProperty(schedules, async ({ work, kills }) => {
      const rig = createActionRig();
      const paid: string[] = [];
      const action = payingAction(work, paid, true);
      for (const point of kills) {
        rig.killAtWrite(point);
        await rig.call(action);
      }
      rig.killAtWrite(Infinity);
      expect(await rig.call(action)).toEqual({ paid: "7" });
      expect(paid).toEqual(["7"]);
    }),
    { numRuns: 300 },
  );
});

it("has its effect at least once, and never again after the model has its result (I9)", async () => {
  await fc.assert(
    fc.asyncProperty(schedules, async ({ work, kills }) => {
      const rig = createActionRig();
      const paid: string[] = [];
      const action = payingAction(work, paid, false);
      let known: number | undefined;
      for (const point of [...kills, Infinity]) {
        rig.killAtWrite(point);
        const result = await rig.call(action);
        if (result !== killed) known ??= paid.length;
      }
      expect(paid.length).toBeGreaterThan(0);
      expect(known).toBe(paid.length);
    }),
    { numRuns: 300 },
  );
});
