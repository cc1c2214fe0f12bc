import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Approval } from "../../../src/approvals/rules/approval.ts";
import type { ChangedCall } from "../../../src/approvals/consent/edited-questions.ts";
import { changesForModel } from "../../../src/approvals/rules/changes-for-model.ts";
import { changesInWords } from "../../../src/approvals/rules/edited-input.ts";
import { sayEnglish } from "../../../src/core/text/bot-texts.ts";
import { ApprovalsRig, asked } from "./approvals-rig.ts";

const HERE = { messengerId: "m", chatId: "g", threadId: "g", isDirectMessage: false };
const by = (userId: string) => ({ surface: "chat", messengerId: "m", person: { userId } }) as const;
const FORM = { at: { kind: "summary" }, values: {}, skipped: [] } as const;

/** The call of a question with another amount. Its key stays, as the order is the same. */
function changedCall({ approvers, ledgerKey, permissions }: Approval, euros: number): ChangedCall {
  return {
    approvers,
    ledgerKey,
    permissions,
    input: { orderId: ledgerKey, euros },
    inputHash: `hash ${ledgerKey} ${euros}`,
    summary: `Refund ${euros} €`,
    summaryReads: [],
    risk: undefined,
    offer: undefined,
    preview: undefined,
    labels: {},
  };
}

function change(rig: ApprovalsRig, approval: Approval, userId: string, euros: number): Approval | undefined {
  const { edited } = rig.approvals;
  edited.begin(approval.id, { by: by(userId), address: HERE, form: FORM }, () => {});
  const number = rig.approvals.get(approval.id)?.edits ?? 0;
  return edited.replace(approval.id, number, changedCall(approval, euros), () => {});
}

it("takes the place, the card and the time of the question, and nobody has agreed to it", async () => {
  const rig = new ApprovalsRig();
  const first = rig.ask({ ...asked("7"), quorum: 2, remindAt: rig.clock.now() + 5_000 });
  await rig.decide(first.id, { kind: "approve" }, by("ada"));
  await rig.clock.advance(1_000);
  const second = change(rig, first, "bob", 40);
  const third = second && change(rig, second, "cy", 30);
  expect(rig.approvals.get(first.id)).toMatchObject({
    state: "replaced",
    successor: second?.id,
    isTold: true,
  });
  expect(rig.approvals.get(third?.id ?? "")).toMatchObject({
    state: "waiting",
    agreed: undefined,
    cardOf: first.id,
    expiresAt: first.expiresAt,
    remindAt: first.remindAt,
    edited: { by: [by("bob"), by("cy")], original: first.input },
  });
  expect(rig.approvals.onCard(first.id).map(({ id }) => id)).toEqual([first.id, second?.id, third?.id]);
  expect(await rig.decide(first.id, { kind: "approve" }, by("ada"))).toMatchObject({ kind: "late" });
});

it("is over when somebody decides or opens another form, and never asks twice about the same call", async () => {
  const rig = new ApprovalsRig();
  const first = rig.ask(asked("7"));
  const { edited } = rig.approvals;
  const open = (userId: string) =>
    edited.begin(first.id, { by: by(userId), address: HERE, form: FORM }, () => {});
  expect([open("bob"), open("cy")]).toEqual([true, true]);
  expect(edited.step(first.id, 1, FORM, () => {})).toBe(false);
  expect(edited.replace(first.id, 1, changedCall(first, 40), () => {})).toBeUndefined();
  const other = rig.ask(asked("8"));
  expect(edited.replace(first.id, 2, changedCall(other, 40), () => {})).toBeUndefined();
  await rig.decide(first.id, { kind: "approve" }, by("ada"));
  expect(edited.replace(first.id, 2, changedCall(first, 40), () => {})).toBeUndefined();
  expect(open("bob")).toBe(false);
});

it("runs once, with an input that as many people as must have seen, whatever changes, presses and crashes come", async () => {
  const people = ["ada", "bob", "cy", "99"];
  const step = fc.record({
    kind: fc.constantFrom("approve", "approve", "approve", "retract", "change", "change", "reject", "work"),
    person: fc.constantFrom(...people),
    /** A press of an old card is about an earlier question. */
    isOld: fc.boolean(),
    euros: fc.integer({ min: 1, max: 3 }),
    killAt: fc.oneof({ weight: 3, arbitrary: fc.constant(Infinity) }, fc.nat(8)),
  });
  const totals = { runs: 0, changed: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 14 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, quorum) => {
        const rig = new ApprovalsRig();
        const first = rig.ask({ ...asked("7"), quorum: quorum === 1 ? undefined : quorum });
        /** Who agrees to which question, by the answers that people got. Unsure after a crash. */
        const seen = new Map<string, Set<string>>();
        for (const { euros, isOld, kind, killAt, person } of steps) {
          rig.toGo = killAt;
          const chain = rig.approvals.onCard(first.id);
          const one = (isOld ? chain[0] : chain.at(-1)) ?? first;
          try {
            if (kind === "approve") {
              const agreed = seen.get(one.id) ?? new Set();
              seen.set(one.id, agreed);
              if (!rig.lost.has(person)) agreed.add(person);
              await rig.decide(one.id, { kind }, by(person));
            } else if (kind === "change") {
              change(rig, one, person, euros);
            } else if (kind === "work") await rig.approvals.work.run();
            else await rig.decide(one.id, { kind }, by(person));
          } catch {
            // Killed by the test.
          }
          rig.toGo = Infinity;
          if (killAt !== Infinity) rig.start();
        }
        rig.start();
        await rig.approvals.work.run();
        await rig.approvals.work.run();
        const chain = rig.approvals.onCard(first.id);
        const last = chain.at(-1);
        for (const one of chain) {
          if (one.id === last?.id) continue;
          expect(one).toMatchObject({ state: "replaced", isTold: true, isCardTaken: true, edit: undefined });
        }
        totals.changed += chain.length - 1;
        // The same call was never asked twice, and its card shows the newest.
        expect(rig.approvals.list()).toHaveLength(chain.length);
        expect(last?.drawnState).toBe(last?.state);
        expect(rig.runs.length).toBeLessThanOrEqual(1);
        expect(rig.told.length).toBe(last?.state === "waiting" ? 0 : 1);
        if (rig.runs.length === 0) return;
        totals.runs += 1;
        expect(rig.runs).toEqual([last?.id]);
        expect(rig.inputs).toEqual([last?.input]);
        expect(seen.get(last?.id ?? "")?.size).toBeGreaterThanOrEqual(quorum);
      },
    ),
    { numRuns: 250 },
  );
  expect(totals.runs).toBeGreaterThan(20);
  expect(totals.changed).toBeGreaterThan(100);
});

it("says what was changed: to people and to the model, without secrets", () => {
  const edited = {
    input: { euros: 40, iban: "DE99", note: "new" },
    edited: { by: [by("bob"), by("cy")], original: { euros: 50, iban: "DE11" } },
    labels: { euros: "Amount" },
    sensitive: ["iban"],
  };
  expect(changesInWords(edited, sayEnglish)).toBe("Amount: 50 → 40 · Note: – → new");
  expect(changesForModel(edited)).toBe(
    ' bob, cy had changed your input: euros from 50 to 40, iban to a value that is not shown, note from nothing to "new".',
  );
});
