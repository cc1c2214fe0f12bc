/**
 * `npm run check-package`: builds and packs the package, checks how npm and TypeScript will see it, and uses it as a user
 * does. Takes a minute.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { reportSteps, runStep, tool, type StepResult } from "./run-step.ts";

const folder = await mkdtemp(path.join(tmpdir(), "switchboard-packed-"));

/** The tests wait for npm while the packed file is looked at. */
async function checkPacked(): Promise<readonly StepResult[]> {
  const [name = ""] = await readdir(folder);
  const tarball = path.join(folder, name);
  return Promise.all([
    runStep("publint", tool("publint"), ["--strict", tarball]),
    runStep("are the types wrong", process.execPath, ["scripts/are-types-wrong.ts", tarball]),
    runStep("use it", process.execPath, ["scripts/test.ts", "--project=package"], {
      environment: { PACKED: tarball },
      timeoutMs: 600_000,
    }),
  ]);
}

try {
  const results = [await runStep("build", process.execPath, ["scripts/build.ts"])];
  const pack = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder];
  if (results.every(({ passed }) => passed)) results.push(await runStep("pack", "npm", pack));
  if (results.every(({ passed }) => passed)) results.push(...(await checkPacked()));
  if (!reportSteps(results)) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
