/**
 * `npm run simulate -- --seeds 10000 --from 1`: runs the simulation of `test/simulation/` with many seeds and tells
 * which fail, with a readable trace of the first and the command that repeats it. `--shrink` leaves out what is not
 * needed for the failure, `--only 0,2,5` runs a plan with these items only, `--trace` shows a run that does not fail.
 */
import { parseArgs } from "node:util";
import { mutants } from "../test/simulation/mutants.ts";
import type { Mutant } from "../test/simulation/mutants.ts";
import { createPlan } from "../test/simulation/plan.ts";
import { onlyItems, shrink } from "../test/simulation/shrink.ts";
import { simulate } from "../test/simulation/simulate.ts";
import type { SimulationResult } from "../test/simulation/simulate.ts";
import { addFigures, describeTotals, noFigures } from "../test/simulation/totals.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    shrink: { type: "boolean", default: false },
    trace: { type: "boolean", default: false },
    only: { type: "string" },
    mutant: { type: "string" },
    /** Stops after so many failing seeds. */
    most: { type: "string", default: "10" },
    json: { type: "boolean", default: false },
  },
});

const from = wholeNumber("from", values.from);
const seeds = wholeNumber("seeds", values.seeds);
const most = wholeNumber("most", values.most);
const only = values.only?.split(",").map(Number);
const mutant = mutantOf(values.mutant);
const totals = noFigures();
const failed: SimulationResult[] = [];
const startedAt = performance.now();

for (let seed = from; seed < from + seeds && failed.length < most; seed += 1) {
  const whole = createPlan(seed);
  const plan = only === undefined ? whole : onlyItems(whole, only);
  const result = await simulate({ plan, mutant, isTraced: values.trace });
  addFigures(totals, result);
  if (values.trace) process.stdout.write(`${result.trace.join("\n")}\n`);
  if (result.violation === undefined) continue;
  failed.push(result);
  process.stdout.write(`seed ${seed}: ${result.violation.invariant} ${result.violation.message}\n`);
}

const seconds = (performance.now() - startedAt) / 1_000;
totals.seedsPerSecond = Math.round(totals.seeds / seconds);
process.stdout.write(values.json ? `${JSON.stringify(totals)}\n` : `${describeTotals(totals)}\n`);
const [first] = failed;
if (first !== undefined) {
  process.exitCode = 1;
  if (!values.trace) await explain(first);
}

/** The story of a failing seed, and how to see it again. */
async function explain({ seed }: SimulationResult): Promise<void> {
  const whole = createPlan(seed);
  const given = only === undefined ? whole : onlyItems(whole, only);
  const kept = values.shrink && only === undefined ? await shrink(given, mutant) : only;
  const plan = kept === undefined ? given : onlyItems(whole, kept);
  const { trace, violation } = await simulate({ plan, mutant, isTraced: true });
  const items = plan.items.map((item) => `  ${JSON.stringify(item)}`);
  process.stdout.write(
    [
      "",
      `What happens in seed ${seed} (${plan.interruptedStep} after a cut call):`,
      ...items,
      "",
      ...trace,
      "",
      `${violation?.invariant ?? "nothing"} is broken: ${violation?.message ?? ""}`,
      `npm run simulate -- --seeds 1 --from ${seed} --trace${kept === undefined ? "" : ` --only ${kept.join(",")}`}${
        mutant === undefined ? "" : ` --mutant ${mutant.name}`
      }`,
      "",
    ].join("\n"),
  );
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} takes a whole number, not "${text}".`);
}

function mutantOf(name: string | undefined): Mutant | undefined {
  if (name === undefined) return undefined;
  const found = mutants.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  throw new Error(
    `There is no mutant "${name}". There are: ${mutants.map((known) => known.name).join(", ")}.`,
  );
}
