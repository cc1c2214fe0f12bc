import defaultFastCheck, * as fc from "fast-check";
import { expect, it } from "vitest";

const SEED = process.env["PROPERTY_SEED"] ?? "20260101";
const RUNS = Number(process.env["PROPERTY_RUNS"] ?? 1);

it.each([fc, defaultFastCheck])("gives a property the same values in every run", ({ assert }) => {
  const draw = (): number[] => {
    const drawn: number[] = [];
    assert(fc.property(fc.integer(), (value) => void drawn.push(value)));
    return drawn;
  };
  expect(draw()).toEqual(draw());
});

it("runs a property as often as it asks, times PROPERTY_RUNS", () => {
  let runs = 0;
  fc.assert(
    fc.property(fc.integer(), () => void (runs += 1)),
    { numRuns: 7 },
  );
  expect(runs).toBe(7 * RUNS);
});

it("names the seed of a failure", () => {
  const property = fc.property(fc.integer(), () => false);
  expect(() => fc.assert(property)).toThrow(`seed: ${SEED},`);
});
