import * as original from "fast-check";

/*
 * `fast-check` as the tests get it: `vitest.config.ts` puts this module in its place. A run must not fail by chance, so
 * every property has the same seed in every run. `npm run explore` looks for counterexamples with other seeds.
 *
 * - `PROPERTY_SEED`: the seed; the message of a failure names it
 * - `PROPERTY_RUNS`: how many times as often each property runs
 */

const SEED = 20_260_101;
const USUAL_RUNS = 100;

const runsFactor = wholeNumber("PROPERTY_RUNS") ?? 1;

original.configureGlobal({
  seed: wholeNumber("PROPERTY_SEED") ?? SEED,
  numRuns: USUAL_RUNS * runsFactor,
});

/** `assert` of `fast-check`, with more runs if more are asked for. */
export function assert<Values>(
  property: original.IAsyncProperty<Values>,
  parameters?: original.Parameters<Values>,
): Promise<void>;
export function assert<Values>(
  property: original.IProperty<Values>,
  parameters?: original.Parameters<Values>,
): void;
export function assert<Values>(
  property: original.IRawProperty<Values>,
  { numRuns = USUAL_RUNS, ...others }: original.Parameters<Values> = {},
): Promise<void> | void {
  return original.assert(property, { ...others, numRuns: numRuns * runsFactor });
}

function wholeNumber(name: string): number | undefined {
  const text = process.env[name] ?? "";
  if (text === "") return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new Error(`${name} takes a whole number, not "${text}".`);
}

/** Every code point but halves of surrogate pairs. The unit of `fast-check` with this name first lists all of them. */
const anyCodePoint = original.integer({ min: 0, max: 0x10_f7ff }).map(
  (number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800),
  (text) => {
    const [character, ...more] = typeof text === "string" ? text : "";
    const point = character?.codePointAt(0);
    if (point === undefined || more.length > 0) throw new TypeError("This is not one character.");
    return point < 0xd800 ? point : point - 0x800;
  },
);

/** `string` of `fast-check`. */
export function string(constraints: original.StringConstraints = {}): original.Arbitrary<string> {
  return original.string(
    constraints.unit === "binary" ? { ...constraints, unit: anyCodePoint } : constraints,
  );
}

export * from "fast-check";
export default { ...original.default, assert, string };
