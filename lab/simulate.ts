/**
 * `npm run simulate -- --seeds 10000 --from 1`: runs the simulation of `lab/simulation/` with many seeds.
 *
 * Lists the seeds that fail, with a readable trace of the first one and the command that repeats it. `--shrink` reduces
 * a failing plan to the items that it needs, `--only 0,2,5` runs these items of a plan, `--trace` also shows a run that
 * passes.
 */
import { readOptions } from "../scripts/command-line/read-options.ts";
import { mutantNamed } from "./simulation/mutants/mutants.ts";
import { createPlan } from "./simulation/plan/create-plan.ts";
import type { Plan } from "./simulation/plan/plan.ts";
import { runSeeds } from "./simulation/run-seeds.ts";
import { onlyItems, shrink } from "./simulation/shrink.ts";
import { simulate } from "./simulation/simulate.ts";
import { describeTotals } from "./simulation/totals.ts";

const values = readOptions("npm run simulate", {
  seeds: { type: "string", default: "1000", about: "how many seeds to run" },
  from: { type: "string", default: "1", about: "the first seed" },
  shrink: { type: "boolean", default: false, about: "reduce a failing plan to the items it needs" },
  trace: { type: "boolean", default: false, about: "also show a run that passes" },
  only: { type: "string", about: "run a plan with these items only: 0,2,5" },
  mutant: { type: "string", about: "add a deliberate defect" },
  needs: { type: "string", about: "only seeds with plan items of this kind: code" },
  most: { type: "string", default: "10", about: "stop after this many failing seeds" },
  workers: { type: "string", about: "how many seeds run at once; without it one for each core" },
  json: { type: "boolean", default: false, about: "print the totals as JSON" },
});

const from = wholeNumber("from", values.from);
const seeds = wholeNumber("seeds", values.seeds);
const most = wholeNumber("most", values.most);
const workers = values.workers === undefined ? undefined : wholeNumber("workers", values.workers);
const only = values.only?.split(",").map(Number);
const mutant = mutantNamed(values.mutant);

if (only === undefined && !values.trace) {
  const { totals, failed } = await runSeeds({
    from,
    seeds,
    most,
    mutant: mutant?.name,
    needs: values.needs,
    workers,
  });
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

/** Prints the trace of one run, whether it fails or not. */
async function show(seed: number): Promise<void> {
  const whole = createPlan(seed);
  const plan = only === undefined ? whole : onlyItems(whole, only);
  const { trace, violation } = await simulate({ plan, mutant, isTraced: true });
  process.stdout.write(`${trace.join("\n")}\n`);
  if (violation === undefined) return;
  process.exitCode = 1;
  process.stdout.write(`seed ${seed}: ${violation.invariant} ${violation.message}\n`);
}

/** Prints the trace of a failing seed, and the command that repeats it. */
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

/** Describes the setup of a plan in one line. */
function describeManner({ interruptedStep, modes, places, platform, policy, whenBusy }: Plan): string {
  const where = places.map(({ threadId }, index) => `${threadId} by ${modes[index] ?? "edit"}`).join(", ");
  return `${platform}: ${where}; ${interruptedStep} after a cut call; when busy ${whenBusy}; ${JSON.stringify(policy)}`;
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} takes a whole number, not "${text}".`);
}
