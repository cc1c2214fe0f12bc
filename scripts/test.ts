/**
 * `npm test`: the tests but those that are commands of their own: the simulation (`npm run simulation`), the suites of
 * platforms (`npm run contracts`) and of the package. Parameters go to the test runner: `npm test -- --project unit
 * delivery`. The last line is `N passed, N failed, N skipped` over all projects.
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

const chromium = process.env.CHROMIUM || "/usr/bin/chromium";
const chosen = parameters.some((parameter) => parameter.startsWith("--project"));
const withoutBrowser = !chosen && !existsSync(chromium);
const projects = chosen ? [] : PROJECTS;
// The end-to-end tests then have the browser tests among them.
const withBrowser: Record<string, string> = chosen || withoutBrowser ? {} : { WITH_BROWSER: "yes" };

const result = await runStep(
  "tests",
  tool("vitest"),
  ["run", "--passWithNoTests", ...projects.map((name) => `--project=${name}`), ...parameters],
  { environment: { TEST_REPORT: reportFile, ...withBrowser }, timeoutMs: TIMEOUT_MS },
);
if (withoutBrowser) {
  process.stdout.write(`Browser tests left out: no Chromium at ${chromium} (install it, or set CHROMIUM).\n`);
}
if (existsSync(reportFile)) {
  const counts = await readCounts(reportFile);
  process.stdout.write(`${closingLine(counts)}\n`);
  if (counts.failed > 0) process.exitCode = 1;
} else {
  process.stderr.write("The test runner ended without a report.\n");
  process.exitCode = 1;
}
if (!result.passed) process.exitCode = 1;
