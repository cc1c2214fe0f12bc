/**
 * `npm run check-package`: builds the package, checks how npm and TypeScript will see it, and uses it as a user does. Takes
 * two minutes.
 */
import { reportSteps, runStep, tool } from "./run-step.ts";

const results = [await runStep("build", process.execPath, ["scripts/build.ts"])];
if (results.every(({ passed }) => passed)) {
  results.push(
    await runStep("publint", tool("publint"), ["--strict"]),
    await runStep("are the types wrong", tool("attw"), ["--pack", ".", "--profile", "esm-only"]),
    await runStep("use it", tool("vitest"), ["run", "--project=package"], { timeoutMs: 600_000 }),
  );
}
if (!reportSteps(results)) process.exitCode = 1;
