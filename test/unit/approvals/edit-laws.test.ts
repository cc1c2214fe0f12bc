import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { CardBody } from "../../../src/core/chat/delivery.ts";
import { ConsentRig } from "./consent-rig.ts";
import type { ShownCard } from "./consent-rig.ts";

const APPROVERS: ReadonlySet<string> = new Set(["dana", "eli"]);

const step = fc.record({
  /** `edit` goes on with the form: opens it, chooses the amount, writes another one, sends it. */
  kind: fc.oneof(
    { weight: 16, arbitrary: fc.constant("edit" as const) },
    { weight: 2, arbitrary: fc.constant("Approve" as const) },
    { weight: 1, arbitrary: fc.constantFrom("Reject" as const, "Take back" as const, "wait" as const) },
  ),
  person: fc.constantFrom("dana", "dana", "eli", "anna", "mallory"),
  amount: fc.constantFrom(4_001, 4_002, 4_003),
  /** Whether the person who has opened a form goes on with it. Otherwise `person`. */
  isOwner: fc.constantFrom(true, true, true, false),
  /** A press of a card as it was a moment ago. */
  isStale: fc.constantFrom(false, false, false, true),
  killAt: fc.oneof(
    { weight: 6, arbitrary: fc.constant(Infinity) },
    { weight: 1, arbitrary: fc.nat({ max: 14 }) },
  ),
});

interface Seen {
  readonly card: ShownCard;
  readonly body: CardBody;
}

/** The cards of a rig as people see them now, or as they were before the last step. */
function lookAt(rig: ConsentRig): Seen[] {
  return rig.cards.flatMap((card) => {
    const body = rig.shown(card.id);
    return body === undefined ? [] : [{ card, body }];
  });
}

function tokenOf({ body }: Seen, label: string): string | undefined {
  const found = body.buttons?.flat().find((one) => one.kind === "callback" && one.label === label);
  return found?.kind === "callback" ? found.token : undefined;
}

const isForm = ({ card }: Seen): boolean => card.id.includes(":edit:");
const ownerOf = ({ body }: Seen): string => /^\W*(\w+) changes/.exec(body.text)?.[1] ?? "";
const amountIn = ({ body }: Seen): number =>
  Number(body.fields?.find(({ label }) => label === "Amount")?.value ?? Number.NaN);

it("pays once, with the amount that an approver has seen, and the person who asks has no say (I9)", async () => {
  const totals = { effects: 0, edited: 0, told: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 40, size: "max" }),
      fc.constantFrom("anna", "dana", "boris"),
      async (steps, requester) => {
        const rig = new ConsentRig();
        const mayDecide = (person: string): boolean => APPROVERS.has(person) && person !== requester;
        const [turn, toolCall, order] = ["turn0", "call0", "1"];
        await rig.ask({ turn, toolCall, order, person: requester, amount: 5_000, isPrivate: false });
        /** Amounts to which people agreed who may, and the decisions that people were told of. */
        const agreed = new Set<number>();
        const told = new Set<string>();
        let before = lookAt(rig);
        for (const { amount, isOwner, isStale, kind, killAt, person } of steps) {
          const now = lookAt(rig);
          const seen = isStale ? before : now;
          before = now;
          const question = seen.findLast((one) => !isForm(one));
          const form = seen.findLast((one) => isForm(one) && ownerOf(one) !== "");
          rig.killAt(killAt);
          if (kind === "wait") await rig.pass(1);
          else if (kind === "edit" && form !== undefined) {
            const isChanged = question !== undefined && amountIn(form) !== amountIn(question);
            const labels = isChanged ? ["Send", "Amount"] : ["Amount", "Change"];
            const token = labels.map((label) => tokenOf(form, label)).find((one) => one !== undefined);
            const editor = isOwner ? ownerOf(form) : person;
            if (token !== undefined) await rig.press(form.card, token, editor, "here");
            else await rig.write(form.card, String(amount), editor, true);
          } else if (question !== undefined) {
            const labels = kind === "edit" ? ["Edit", "More"] : [kind, "More"];
            const label = labels.find((one) => tokenOf(question, one) !== undefined);
            const token = label === undefined ? undefined : tokenOf(question, label);
            if (label !== undefined && token !== undefined) {
              if (label === "Approve" && mayDecide(person)) agreed.add(amountIn(question));
              const result = await rig.press(question.card, token, person, "here");
              if (result === "decided") {
                told.add(`${person} ${label}`);
                expect(label === "Take back" ? person === requester : mayDecide(person)).toBe(true);
              }
            }
          }
          rig.killAt(Infinity);
          for (const { edited } of rig.approvals())
            for (const { person: by } of edited?.by ?? []) expect(mayDecide(by?.userId ?? "")).toBe(true);
          expect(rig.effects.length).toBeLessThanOrEqual(1);
        }
        await rig.rest();
        expect(told.size).toBeLessThanOrEqual(1);
        expect(rig.effects.length).toBeLessThanOrEqual(1);
        for (const { call } of rig.effects) expect([...agreed]).toContain(call.amount);
        totals.effects += rig.effects.length;
        totals.told += told.size;
        totals.edited += rig.approvals().filter(({ edited }) => edited !== undefined).length;
      },
    ),
    { numRuns: 60 },
  );
  expect(totals.told).toBeGreaterThan(10);
  expect(totals.effects).toBeGreaterThan(10);
  expect(totals.edited).toBeGreaterThan(10);
});
