import { describe, expect, it } from "vitest";
import { QuestionRig } from "./question-rig.ts";

const REMINDER = "I'm still waiting for your answer";

/** An action has asked, and waits. */
async function waiting(): Promise<QuestionRig> {
  const rig = new QuestionRig();
  await rig.ask("A", "ada");
  expect(rig.questions("A")).toHaveLength(1);
  return rig;
}

describe("a question that waits", () => {
  it("wakes its object for its reminder and its end, and makes no statement before", async () => {
    const rig = await waiting();
    const { remindAt, expiresAt, createdAt } = rig.questions("A")[0] ?? {};
    expect([remindAt, expiresAt].map((at = 0) => at - (createdAt ?? 0))).toEqual([1_800_000, 3_600_000]);
    expect(rig.nextWakeAt()).toBe(remindAt);
    const [first, second] = [rig.statements, (rig.nextWakeAt(), rig.statements)];
    expect(await rig.pass(29)).toBe(0);
    // Only the look at the next time to wake, which this test makes.
    expect(rig.statements - second).toBe(second - first);
    expect(await rig.pass(2)).toBe(1);
    expect(rig.nextWakeAt()).toBe(expiresAt);
    expect(await rig.pass(28)).toBe(0);
    expect(rig.questions("A")[0]?.end).toBeUndefined();
  });

  it("reminds once, with one text, also if the object dies around it", async () => {
    for (let point = 0; point < 12; point += 1) {
      const rig = await waiting();
      expect(await rig.pass(29)).toBe(0);
      expect(rig.below("A")).toEqual([]);
      rig.killAt(point);
      await rig.pass(2);
      rig.kill();
      await rig.pass(20);
      const texts = rig.below("A");
      expect(texts, `killed at ${point}`).toEqual([expect.stringContaining(REMINDER)]);
      await rig.press("A", "Yes", "ada");
      await rig.pass(5);
      expect(rig.below("A")).toEqual(texts);
    }
  });

  it("takes back a reminder that still waits to be sent when it has its answer, and no other", async () => {
    const rig = await waiting();
    rig.holdsTexts = true;
    await rig.pass(31);
    expect(rig.below("A")).toEqual([expect.stringContaining(REMINDER)]);
    await rig.press("A", "Yes", "ada");
    expect(rig.below("A")).toEqual([]);
    const next = await waiting();
    await next.pass(31);
    await next.press("A", "Yes", "ada");
    expect(next.below("A")).toHaveLength(1);
  });

  it("sends no reminder once it has its answer", async () => {
    const rig = await waiting();
    await rig.press("A", "Yes", "ada");
    await rig.write("A", "blue", "ada");
    await rig.pass(120);
    expect(rig.below("A")).toEqual([]);
    expect(rig.nextWakeAt()).toBeUndefined();
  });
});
