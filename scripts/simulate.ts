/**
 * `npm run simulate -- --seeds 10000 --from 1`: runs the simulation of `test/simulation/` with many seeds and tells
 * which fail, with a readable trace of the first and the command that repeats it. `--shrink` leaves out what is not
 * needed for the failure, `--only 0,2,5` runs a plan with these items only, `--trace` shows a run that does not fail.
 */
import { readOptions } from "./command-line/read-options.ts";
import { mutantNamed } from "../test/simulation/mutants.ts";
import { createPlan } from "../test/simulation/create-plan.ts";
import type { Plan } from "../test/simulation/plan.ts";
import { runSeeds } from "../test/simulation/run-seeds.ts";
import { onlyItems, shrink } from "../test/simulation/shrink.ts";
import { simulate } from "../test/simulation/simulate.ts";
import { describeTotals } from "../test/simulation/totals.ts";

const values = readOptions("npm run simulate", {
  seeds: { type: "string", default: "1000", about: "how many seeds to run" },
  from: { type: "string", default: "1", about: "the first of them" },
  shrink: { type: "boolean", default: false, about: "leave out of a failing plan what it does not need" },
  trace: { type: "boolean", default: false, about: "show a run that does not fail, too" },
  only: { type: "string", about: "run a plan with these items only: 0,2,5" },
  mutant: { type: "string", about: "put a deliberate defect in" },
  most: { type: "string", default: "10", about: "stop after so many failing seeds" },
  workers: { type: "string", about: "how many seeds run at the same time; without it one for each core" },
  json: { type: "boolean", default: false, about: "print the totals as JSON" },
});

const from = wholeNumber("from", values.from);
const seeds = wholeNumber("seeds", values.seeds);
const most = wholeNumber("most", values.most);
const workers = values.workers === undefined ? undefined : wholeNumber("workers", values.workers);
const only = values.only?.split(",").map(Number);
const mutant = mutantNamed(values.mutant);

if (only === undefined && !values.trace) {
  const { totals, failed } = await runSeeds({ from, seeds, most, mutant: mutant?.name, workers });
  for (const { seed, invariant, message } of failed) {
    process.stdout.write(`seed ${seed}: ${invariant} ${message}\n`);
  }
  process.stdout.write(values.json ? `${JSON.stringify(totals)}\n` : `${describeTotals(totals)}\n`);
  const [first] = failed;
  if (first !== undefined) {
    process.exitCode = 1;
    await explain(first.seed);
  }
} else {
  for (let seed = from; seed < from + seeds; seed += 1) await show(seed);
}

/** One run to be read, whether it fails or not. */
async function show(seed: number): Promise<void> {
  const whole = createPlan(seed);
  const plan = only === undefined ? whole : onlyItems(whole, only);
  const { trace, violation } = await simulate({ plan, mutant, isTraced: true });
  process.stdout.write(`${trace.join("\n")}\n`);
  if (violation === undefined) return;
  process.exitCode = 1;
  process.stdout.write(`seed ${seed}: ${violation.invariant} ${violation.message}\n`);
}

/** The story of a failing seed, and how to see it again. */
async function explain(seed: number): Promise<void> {
  const whole = createPlan(seed);
  const kept = values.shrink ? await shrink(whole, mutant) : undefined;
  const plan = kept === undefined ? whole : onlyItems(whole, kept);
  const { trace, violation } = await simulate({ plan, mutant, isTraced: true });
  const items = plan.items.map((item) => `  ${JSON.stringify(item)}`);
  process.stdout.write(
    [
      "",
      `What happens in seed ${seed} (${describeManner(plan)}):`,
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

/** What is set up, and where it runs. */
function describeManner({ interruptedStep, modes, places, platform, policy, whenBusy }: Plan): string {
  const where = places.map(({ threadId }, index) => `${threadId} by ${modes[index] ?? "edit"}`).join(", ");
  return `${platform}: ${where}; ${interruptedStep} after a cut call; when busy ${whenBusy}; ${JSON.stringify(policy)}`;
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} takes a whole number, not "${text}".`);
}
