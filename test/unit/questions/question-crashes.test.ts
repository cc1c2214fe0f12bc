import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QuestionRig } from "./question-rig.ts";
import type { PlantedMistakes } from "./question-rig.ts";

const MOST_POINTS = 200;

/** One call with a step and two questions, and a crash at one of the writes. Returns what has gone wrong. */
async function story(point: number, planted?: PlantedMistakes): Promise<string[] | "no such write"> {
  const rig = new QuestionRig(planted);
  rig.killAt(point);
  await rig.ask("A", "ada");
  await rig.press("A", "Yes", "ada");
  await rig.rest();
  await rig.write("A", "blue", "ada");
  await rig.rest();
  if (rig.isPointLeft) return "no such write";
  rig.kill();
  await rig.rest();
  const wrong: string[] = [];
  const made = "end A: true, blue";
  const told = rig.told("A");
  if (told.length !== 1 || told[0] !== JSON.stringify(made)) wrong.push(`told ${JSON.stringify(told)}`);
  const asked = rig.questions("A").map(({ end, message }) => `${message} ${end}`);
  const expected = ["Really A? answered", "Which colour, A? answered"];
  if (asked.join() !== expected.join()) wrong.push(`asked ${asked.join()}`);
  const ends = rig.effects.filter((effect) => effect.startsWith("end"));
  if (ends.join() !== made) wrong.push(`done ${ends.join()}`);
  const steps = rig.effects.filter((effect) => effect.startsWith("hold")).length;
  // A step whose process dies before its result is stored is repeated, as its action is.
  if (steps !== 1 && !(steps === 2 && rig.deathsInCall === 1)) wrong.push(`${steps} steps`);
  if (rig.nextWakeAt() !== undefined) wrong.push("there is work left");
  return wrong;
}

/** Returns what went wrong at the first crash that shows something, and the number of crashes before it. */
async function table(
  planted?: PlantedMistakes,
): Promise<{ readonly points: number; readonly wrong: string[] }> {
  for (let point = 0; point < MOST_POINTS; point += 1) {
    const found = await story(point, planted);
    if (found === "no such write") return { points: point, wrong: [] };
    if (found.length > 0) return { points: point, wrong: found.map((one) => `${point}: ${one}`) };
  }
  throw new Error(`More than ${MOST_POINTS} writes`);
}

describe("a call that asks people (I14)", () => {
  it("asks once, does each step once and gets each answer, wherever the process dies", async () => {
    const { points, wrong } = await table();
    expect(wrong).toEqual([]);
    expect(points).toBeGreaterThan(30);
  });

  it.each([
    ["transactions that are none", { hasNoTransactions: true }],
    ["an outcome that is told outside of its transaction", { tellsOutside: true }],
    ["steps that are not stored", { losesSteps: true }],
  ] satisfies [string, PlantedMistakes][])("finds %s", async (_what, planted) => {
    const { wrong } = await table(planted).catch((error: unknown) => ({ wrong: [String(error)] }));
    expect(wrong).not.toEqual([]);
  });

  it("wakes for a reminder and the expiry, and for nothing else", async () => {
    const rig = new QuestionRig();
    await rig.ask("A", "ada");
    await rig.rest();
    const begun = rig.questions("A")[0]?.createdAt ?? 0;
    expect(rig.nextWakeAt()).toBe(begun + 30 * 60_000);
    expect(await rig.pass(29 - 3)).toBe(0);
    expect(await rig.pass(2)).toBe(1);
    expect(rig.nextWakeAt()).toBe(begun + 60 * 60_000);
    await rig.pass(30);
    expect(rig.told("A")).toEqual([]);
    expect(rig.questions("A").map(({ end }) => end)).toEqual(["expired", undefined]);
    await rig.pass(120);
    expect(rig.told("A")).toEqual(['"end A: false, expired"']);
    expect(rig.nextWakeAt()).toBeUndefined();
  });

  it("gets the answers of the person whom it has asked, and no others, in any story", async () => {
    const turns = ["A", "B", "C"] as const;
    const people = { A: "ada", B: "bob", C: "ada" } as const;
    const turn = fc.constantFrom(...turns);
    const person = fc.constantFrom("ada", "bob");
    const command = fc.oneof(
      fc.record({ kind: fc.constant("press" as const), turn, person, label: fc.constantFrom("Yes", "No") }),
      fc.record({ kind: fc.constant("write" as const), turn, person, text: fc.constantFrom("red", "blue") }),
      fc.record({ kind: fc.constant("crash" as const), point: fc.nat(12) }),
      fc.record({ kind: fc.constant("pass" as const), minutes: fc.nat(20) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (commands) => {
        const rig = new QuestionRig();
        for (const one of turns) await rig.ask(one, people[one]);
        const given: Record<string, { pressed?: string; written?: string }> = { A: {}, B: {}, C: {} };
        for (const next of commands) {
          if (next.kind === "crash") rig.killAt(next.point);
          else if (next.kind === "pass") await rig.pass(next.minutes);
          else {
            const before = rig.questions(next.turn);
            const isOpen = before.at(-1)?.end === undefined;
            const answers = given[next.turn] ?? {};
            const isOwn = next.person === people[next.turn];
            if (next.kind === "press") {
              if (isOwn && isOpen && before.length === 1) answers.pressed = next.label;
              await rig.press(next.turn, next.label, next.person);
            } else {
              if (isOwn && isOpen && before.length === 2) answers.written = next.text;
              await rig.write(next.turn, next.text, next.person, true);
            }
            await rig.rest();
          }
        }
        rig.kill();
        await rig.pass(300);
        for (const one of turns) {
          const { pressed, written } = given[one] ?? {};
          const colour = written ?? "expired";
          expect(rig.told(one)).toEqual([JSON.stringify(`end ${one}: ${pressed === "Yes"}, ${colour}`)]);
        }
      }),
      { numRuns: 60 },
    );
  });
});
