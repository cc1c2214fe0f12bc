import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { build, stop } from "esbuild";
import type { TestProject } from "vitest/node";
import { BUILT_COMMAND } from "../../lab/support/served-bot.ts";

const root = path.resolve(import.meta.dirname, "../..");
/** The bundle finds its packages from here. */
const folder = path.join(root, "node_modules/.cache/command");
const bundle = path.join(folder, "main.mjs");

/**
 * Bundles the command for the bots that tests start: its 160 modules take as long to find and to load as all else that
 * it does. In watch mode each run bundles again.
 *
 * Lets Node keep what it makes of the bundle, and of the sources that other tests start (`NODE_COMPILE_CACHE`). Node does
 * so when a process ends, and most bots that tests start are killed. Goes on beside the first tests.
 */
export default async function compileCommand(project: TestProject): Promise<() => Promise<unknown>> {
  await bundleCommand();
  project.onTestsRerun(bundleCommand);
  process.env[BUILT_COMMAND] = bundle;
  const compiled = [run(bundle, "serve", "--help"), run("cli/main.ts", "--version")];
  return () => Promise.all(compiled);
}

async function bundleCommand(): Promise<void> {
  await build({
    entryPoints: [path.join(root, "cli/main.ts")],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    external: ["@clack/prompts", "esbuild"],
    // Packages that are no modules require those of Node.
    banner: { js: `const require = process.getBuiltinModule("module").createRequire(import.meta.url);` },
    logLevel: "error",
  });
  await stop();
}

function run(...parameters: readonly string[]): Promise<unknown> {
  return once(spawn(process.execPath, parameters, { cwd: root, stdio: "ignore" }), "exit");
}
