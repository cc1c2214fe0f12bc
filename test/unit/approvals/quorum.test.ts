import fc from "fast-check";
import { expect, it } from "vitest";
import { approvalCard } from "../../../src/approvals/rules/approval-card.ts";
import type { Decider } from "../../../src/approvals/rules/approval.ts";
import { ApprovalsRig, asked } from "./approvals-rig.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

function by(userId: string): Decider {
  return { surface: "chat", person: { userId } };
}

const press = fc.record({
  kind: fc.constant("press" as const),
  decision: fc.constantFrom("approve", "approve", "approve", "retract", "reject"),
  // The rig lets nobody decide whose id is 99.
  person: fc.constantFrom("ada", "bob", "cy", "99"),
  killAt: fc.oneof(
    { weight: 4, arbitrary: fc.constant(Infinity) },
    { weight: 1, arbitrary: fc.nat({ max: 6 }) },
  ),
});
const step = fc.oneof(
  { weight: 8, arbitrary: press },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("lose" as const), person: fc.constantFrom("ada", "bob") }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("expire" as const) }) },
);

it("runs once, and only while as many different people agree as must, whatever order of presses and crashes", async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 14 }),
      fc.constantFrom(2, 3),
      async (steps, quorum) => {
        const rig = new ApprovalsRig();
        const { id } = rig.ask({ ...asked("7"), quorum });
        await rig.approvals.work.run();
        /** Those whose consent holds, as people were told. A press that died may count or not. */
        const agreed = new Set<string>();
        const maybe = new Set<string>();
        for (const one of steps) {
          const waits = rig.approvals.get(id)?.state === "waiting";
          if (one.kind === "expire") await rig.clock.advance(8 * DAY_MS);
          if (one.kind === "lose") rig.lost.add(one.person);
          if (one.kind === "press") {
            const { decision, killAt, person } = one;
            rig.toGo = killAt;
            const result = await rig.decide(id, { kind: decision }, by(person)).catch(() => undefined);
            if (result === undefined || killAt !== Infinity) {
              rig.toGo = Infinity;
              rig.start();
              if (waits && decision === "approve" && person !== "99") maybe.add(person);
            }
            if (result?.kind === "decided" && waits) {
              if (person === "99" || (decision !== "retract" && rig.lost.has(person)))
                throw new Error(`${person} decides`);
              if (decision === "approve") agreed.add(person);
              if (decision === "retract") {
                agreed.delete(person);
                maybe.delete(person);
              }
            }
          }
          await rig.approvals.work.run().catch(() => rig.start());
          const stored = rig.approvals.get(id);
          const names = new Set((stored?.agreed ?? []).map((each) => each.person?.userId ?? ""));
          if (names.size !== (stored?.agreed ?? []).length) throw new Error("somebody counts twice");
          for (const name of names)
            if (!agreed.has(name) && !maybe.has(name))
              throw new Error(`${name} counts without having approved`);
          if (rig.runs.length > 0 && names.size < quorum) throw new Error("it runs with too few");
          if (stored?.state === "waiting" && names.size >= quorum) throw new Error("it waits with enough");
        }
        expect(rig.runs.length).toBeLessThanOrEqual(1);
        runs += rig.runs.length;
      },
    ),
    { numRuns: 150 },
  );
  expect(runs).toBeGreaterThan(20);
});

it("counts nobody who may not decide any more when the last one approves", async () => {
  const rig = new ApprovalsRig();
  const { id } = rig.ask({ ...asked("7"), quorum: 2 });
  await rig.decide(id, { kind: "approve" }, by("ada"));
  rig.lost.add("ada");
  await rig.decide(id, { kind: "approve" }, by("bob"));
  expect(rig.approvals.get(id)).toMatchObject({ state: "waiting", agreed: [by("bob")] });
  await rig.decide(id, { kind: "approve" }, by("cy"));
  await rig.approvals.work.run();
  expect(rig.approvals.get(id)).toMatchObject({ state: "done", agreed: [by("bob"), by("cy")] });
});

it("is decided by the bot's own code alone, and by one who rejects", async () => {
  const rig = new ApprovalsRig();
  const first = rig.ask({ ...asked("7"), quorum: 2 });
  await rig.decide(first.id, { kind: "approve" }, by("ada"));
  await rig.decide(first.id, { kind: "approve" }, { surface: "api" });
  await rig.approvals.work.run();
  expect(rig.approvals.get(first.id)).toMatchObject({ state: "done", decidedBy: { surface: "api" } });
  const second = rig.ask({ ...asked("8"), quorum: 2 });
  await rig.decide(second.id, { kind: "approve" }, by("ada"));
  await rig.decide(second.id, { kind: "reject" }, by("ada"));
  expect(rig.approvals.get(second.id)).toMatchObject({ state: "rejected", agreed: [] });
});

it("says the truth about how many have approved, and offers to undo it", () => {
  const rig = new ApprovalsRig();
  const approval = rig.ask({ ...asked("7"), quorum: 2 });
  const view = { approvers: "Ada, Bob", time: () => "later", face: "more" } as const;
  const shown = (agreed: readonly Decider[]) => {
    const { buttons = [], fields = [] } = approvalCard({ ...approval, agreed }, view);
    return [
      fields.find(({ label }) => label === "Approved by")?.value,
      buttons.flat().map(({ label }) => label),
    ];
  };
  expect(shown([])).toEqual(["0 of 2", expect.arrayContaining(["Undo my approval"])]);
  expect(shown([{ surface: "chat", person: { userId: "1", fullName: "Ada" } }])).toEqual([
    "1 of 2: Ada",
    expect.arrayContaining(["Undo my approval"]),
  ]);
});
