/** `npm run check-package`: builds the package, and checks how npm and TypeScript will see it. */
import { reportSteps, runStep, tool } from "./run-step.ts";

const results = [await runStep("build", process.execPath, ["scripts/build.ts"])];
if (results.every(({ passed }) => passed)) {
  results.push(
    await runStep("publint", tool("publint"), ["--strict"]),
    await runStep("are the types wrong", tool("attw"), ["--pack", ".", "--profile", "esm-only"]),
  );
}
if (!reportSteps(results)) process.exitCode = 1;
