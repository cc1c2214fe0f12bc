/**
 * `npm test`: the unit, worker and end-to-end tests. Parameters go to the test runner: `npm test -- --project unit
 * delivery`. Projects that are commands of their own (`npm run browser`, `contracts`, `simulation`) come here, too. The
 * last line is `N passed, N failed, N skipped` over all projects of the run.
 */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { runStep, root, tool } from "./run-step.ts";
import { closingLine, readCounts } from "./test/report.ts";

const PROJECTS = ["unit", "worker", "e2e"];

/** Time limit of the whole run. The runner itself cannot stop a test that loops without ever yielding. */
const TIMEOUT_MS = 20 * 60_000;

const parameters = process.argv.slice(2);
const reportFile = path.join(root, "node_modules/.cache/test-report.json");
await mkdir(path.dirname(reportFile), { recursive: true });
await rm(reportFile, { force: true });

const chosen = parameters.some((parameter) => parameter.startsWith("--project"));
const projects = chosen ? [] : PROJECTS;
const whole: Record<string, string> = chosen ? {} : { WHOLE_RUN: "yes" };

const result = await runStep(
  "tests",
  tool("vitest"),
  ["run", "--passWithNoTests", ...projects.map((name) => `--project=${name}`), ...parameters],
  { environment: { TEST_REPORT: reportFile, ...whole }, timeoutMs: TIMEOUT_MS },
);
if (existsSync(reportFile)) {
  const counts = await readCounts(reportFile);
  process.stdout.write(`${closingLine(counts)}\n`);
  if (counts.failed > 0) process.exitCode = 1;
} else {
  process.stderr.write("The test runner ended without a report.\n");
  process.exitCode = 1;
}
if (!result.passed) process.exitCode = 1;
