import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { stop } from "esbuild";
import type { TestProject } from "vitest/node";
import { BUILT_COMMAND } from "../../lab/support/served-bot.ts";
import { bundleCommand } from "../../scripts/bundle-command.ts";

const root = path.resolve(import.meta.dirname, "../..");
/** The bundle finds its packages from here. */
const folder = path.join(root, "node_modules/.cache/command");
const main = path.join(folder, "main.js");

/**
 * Bundles the command as it is in the package: its modules take as long to find and to load as all else that it does. In
 * watch mode each run bundles again.
 *
 * Lets Node keep what it makes of the bundle, and of the sources that other tests start (`NODE_COMPILE_CACHE`). Node does
 * so when a process ends, and most bots that tests start are killed. Goes on beside the first tests.
 */
export default async function compileCommand(project: TestProject): Promise<() => Promise<unknown>> {
  await bundle();
  project.onTestsRerun(bundle);
  process.env[BUILT_COMMAND] = main;
  const compiled = [run(main, "--version"), run("cli/main.ts", "--version")];
  return () => Promise.all(compiled);
}

async function bundle(): Promise<void> {
  await bundleCommand(folder, root);
  await stop();
}

function run(...parameters: readonly string[]): Promise<unknown> {
  return once(spawn(process.execPath, parameters, { cwd: root, stdio: "ignore" }), "exit");
}
