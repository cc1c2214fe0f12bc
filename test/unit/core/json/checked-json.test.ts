import { expect, it } from "vitest";
import { z } from "zod";
import { CheckedJson } from "../../../../src/core/json/checked-json.ts";

const bird = z.looseObject({ name: z.string() });

/** Counts the checks of a schema. */
function countedBirds(): { birds: CheckedJson<z.infer<typeof bird>>; checks: () => number } {
  let checks = 0;
  const counted = bird.refine(() => {
    checks += 1;
    return true;
  });
  return { birds: new CheckedJson(counted), checks: () => checks };
}

it("checks a text once, and returns an object of its own each time", () => {
  const { birds, checks } = countedBirds();
  const first = birds.read('{"name":"owl","age":3}');
  first.name = "changed by the caller";
  expect(birds.read('{"name":"owl","age":3}')).toEqual({ name: "owl", age: 3 });
  expect(checks()).toBe(1);
});

it("refuses a text that does not fit, every time", () => {
  const { birds } = countedBirds();
  for (let time = 0; time < 2; time += 1) expect(() => birds.read('{"name":7}')).toThrow("name");
});

it("remembers the texts that were used last, and no long ones", () => {
  const { birds, checks } = countedBirds();
  const text = (name: string): string => JSON.stringify({ name });
  for (let at = 0; at < 1_000; at += 1) {
    birds.read(text("kept"));
    birds.read(text(`other ${at}`));
  }
  expect(checks()).toBe(1_001);
  birds.read(text("other 0"));
  expect(checks()).toBe(1_002);
  const long = text("a".repeat(10_000));
  birds.read(long);
  birds.read(long);
  expect(checks()).toBe(1_004);
});
