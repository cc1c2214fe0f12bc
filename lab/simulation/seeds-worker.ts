import { parentPort } from "node:worker_threads";
import { mutantNamed } from "./mutants/mutants.ts";
import type { FailedSeed, SeedsQuestion, SeedsResult } from "./run-seeds.ts";
import { createPlan } from "./plan/create-plan.ts";
import { simulate } from "./simulate.ts";
import { addFigures, noFigures } from "./totals.ts";

// Many errors of a run are planned, and nobody reads their stacks here.
Error.stackTraceLimit = 0;

/** Runs the seeds that `runSeeds` asks for, one question at a time. */
parentPort?.on("message", (question: SeedsQuestion) => {
  void answer(question).then((result) => parentPort?.postMessage(result));
});

async function answer({ from, seeds, mutant, needs }: SeedsQuestion): Promise<SeedsResult> {
  const totals = noFigures();
  const failed: FailedSeed[] = [];
  for (let seed = from; seed < from + seeds; seed += 1) {
    const plan = createPlan(seed);
    if (needs !== undefined && !plan.items.some(({ kind }) => kind === needs)) continue;
    const result = await simulate({ plan, mutant: mutantNamed(mutant) });
    addFigures(totals, result);
    if (result.violation !== undefined) failed.push({ seed, ...result.violation });
  }
  return { totals, failed };
}
