import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { SHARED_BUILDS } from "../../lab/support/built-bot.ts";

/**
 * Lets the test files of a run share the builds of bots. In watch mode each run builds again. A whole run (`npm test`)
 * needs nearly all bots: they are built together, beside its first tests.
 */
export default async function shareBuilds(project: TestProject): Promise<() => Promise<void>> {
  let folder = "";
  let builds: Promise<unknown> | undefined;
  const clear = async () => {
    await builds;
    await rm(folder, { recursive: true, force: true });
  };
  const begin = async () => {
    await clear();
    folder = await mkdtemp(path.join(tmpdir(), "switchboard-builds-"));
    process.env[SHARED_BUILDS] = folder;
    if (process.env.WHOLE_RUN !== undefined) builds = buildBots();
  };
  await begin();
  project.onTestsRerun(begin);
  return clear;
}

/** Its failure shows in the tests that then build their bots themselves. */
function buildBots(): Promise<unknown> {
  const script = path.join(import.meta.dirname, "build-bots.ts");
  return once(spawn(process.execPath, [script], { stdio: ["ignore", "ignore", "inherit"] }), "exit");
}
