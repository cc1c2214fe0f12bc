import * as fc from "fast-check";
import { expect, it } from "vitest";
import { groupsOf } from "../../../src/approvals/rules/together.ts";
import { ApprovalsRig, asked } from "./approvals-rig.ts";

const ANNA = { surface: "chat", person: { userId: "1" } } as const;

function createRig(): ApprovalsRig {
  const rig = new ApprovalsRig();
  rig.room = 3;
  return rig;
}

function askInStep(rig: ApprovalsRig, key: string, requestId = "turn"): string {
  const question = rig.approvals.asking.request({ ...asked(key), requestId }, () => {}, true);
  return question?.id ?? "";
}

it("shows the questions of a step on one card when the step has ended, or after two seconds", async () => {
  const rig = createRig();
  const [first, second] = [askInStep(rig, "7"), askInStep(rig, "8")];
  await rig.approvals.work.run();
  expect(rig.shown).toEqual([]);
  rig.approvals.work.stepEnded("turn");
  expect(rig.shown).toEqual([[first, second]]);
  const third = askInStep(rig, "9");
  await rig.clock.advance(2_000);
  await rig.approvals.work.run();
  expect(rig.shown.slice(1)).toEqual([[third]]);
});

it("shows no question of a step whose message changes before its end", async () => {
  const rig = createRig();
  const id = askInStep(rig, "7");
  rig.approvals.questions.drop("turn", "replaced");
  await rig.approvals.work.run();
  expect(rig.approvals.get(id)).toMatchObject({ state: "replaced", drawnState: "replaced" });
  expect(rig.shown).toEqual([]);
});

it("never adds a call to a card that is shown, whatever decisions and crashes come", async () => {
  const step = fc.record({
    kind: fc.constantFrom("ask", "ask", "end", "decide", "work", "apart", "wait"),
    which: fc.nat(5),
    killAt: fc.oneof({ weight: 3, arbitrary: fc.constant(Infinity) }, fc.nat(6)),
  });
  let together = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const rig = createRig();
      let key = 0;
      for (const { kind, killAt, which } of steps) {
        rig.toGo = killAt;
        try {
          const ids = rig.approvals.list().map(({ id }) => id);
          const id = ids[which % Math.max(1, ids.length)] ?? "";
          if (kind === "ask") askInStep(rig, String((key += 1)), `turn${which % 2}`);
          else if (kind === "end") rig.approvals.work.stepEnded(`turn${which % 2}`);
          else if (kind === "decide") await rig.decide(id, { kind: "approve" }, ANNA);
          else if (kind === "apart") rig.approvals.questions.showApart(id, () => {});
          else if (kind === "wait") await rig.clock.advance(2_000);
          else await rig.approvals.work.run();
        } catch {
          // Killed by the test.
        }
        rig.toGo = Infinity;
        if (killAt !== Infinity) rig.start();
      }
      rig.start();
      await rig.approvals.work.run();
      await rig.approvals.work.run();
      for (const { drawnState, id, state } of rig.approvals.list()) {
        expect(drawnState).toBe(state);
        expect(rig.isShown(id)).toBe(true);
        // The card of a call keeps its calls, until each of them gets its own.
        const cards = rig.shown.filter((ids) => ids.includes(id)).map((ids) => ids.join());
        const alone = cards.indexOf(id);
        const before = alone === -1 ? cards : cards.slice(0, alone);
        expect(new Set(before).size).toBeLessThanOrEqual(1);
        expect(new Set(alone === -1 ? [] : cards.slice(alone)).size).toBeLessThanOrEqual(1);
        if (before[0]?.includes(",") === true) together += 1;
      }
      // Each runs once at most.
      expect(new Set(rig.runs).size).toBe(rig.runs.length);
    }),
    { numRuns: 150 },
  );
  expect(together).toBeGreaterThan(20);
});

it("puts only those on one card that ask the same people in the same way", () => {
  const rig = new ApprovalsRig();
  const questions = [
    asked("1"),
    asked("2"),
    { ...asked("3"), risk: "high" as const },
    { ...asked("4"), quorum: 2 },
    { ...asked("5"), requesterMayApprove: false },
    { ...asked("6"), approvers: { kind: "people", userIds: ["2"] } as const },
    { ...asked("7"), requester: { userId: "2" } },
    { ...asked("8"), requestId: "other" },
    asked("9"),
  ].map((question) => rig.ask(question));
  const groups = groupsOf(questions, () => true);
  expect(groups.map((group) => group.map(({ ledgerKey }) => ledgerKey))).toEqual([["1", "2", "9"]]);
  expect(groupsOf(questions, (group) => group.length < 3).map((group) => group.length)).toEqual([2]);
});
