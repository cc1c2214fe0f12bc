import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { SHARED_BUILDS } from "../../lab/support/built-bot.ts";

/** Lets the test files of a run share the builds of bots. In watch mode each run builds again. */
export default async function shareBuilds(project: TestProject): Promise<() => Promise<void>> {
  let folder = "";
  const clear = () => rm(folder, { recursive: true, force: true });
  const begin = async () => {
    await clear();
    folder = await mkdtemp(path.join(tmpdir(), "switchboard-builds-"));
    process.env[SHARED_BUILDS] = folder;
  };
  await begin();
  project.onTestsRerun(begin);
  return clear;
}
