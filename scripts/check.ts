/** `npm run check`: every check that a change must pass before it is shared. Takes about a minute. */
import { reportSteps, runStep, tool, type StepResult } from "./run-step.ts";

const results: StepResult[] = [];
for (const [name, command, parameters] of [
  ["format", "oxfmt", ["--check"]],
  ["lint", "oxlint", []],
  ["types", "node", ["scripts/types.ts"]],
  ["dead code", "knip", []],
  ["forwarding closures", "node", ["scripts/closures.ts"]],
  ["unit and worker tests", "vitest", ["run", "--project=unit", "--project=worker"]],
] as const) {
  process.stdout.write(`\n> ${name}\n`);
  results.push(await runStep(name, tool(command), parameters));
}
if (!reportSteps(results)) process.exitCode = 1;
