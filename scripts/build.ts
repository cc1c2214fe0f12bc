/**
 * `npm run build`: writes the package to `dist/`: modules, declarations and source maps, the command, and the simulator's
 * page.
 */
import { chmod, cp, glob, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { bundleCommand } from "./bundle-command.ts";
import { reportSteps, root, runStep, tool } from "./run-step.ts";

const dist = path.join(root, "dist");
/** Modules that are served as they are. */
const SERVED = ["playground/telegram/page", "playground/served-bot/worker"];
/** The engine of the sandbox, which bundlers take as it is. */
const ENGINE = ["src/sandbox/quickjs.wasm", "src/sandbox/quickjs.wasm.d.ts"];

await rm(dist, { recursive: true, force: true });
const results = [
  await runStep("modules of the product", tool("tsc"), ["-p", "tsconfig.build.json", "--singleThreaded"]),
  await runStep("modules of the tools", tool("tsc"), ["-p", "tsconfig.build.tools.json", "--singleThreaded"]),
];
if (!reportSteps(results)) process.exit(1);

// The compiler rewrites extensions in modules only.
for await (const file of glob("**/*.d.ts", { cwd: dist })) {
  const place = path.join(dist, file);
  const text = await readFile(place, "utf8");
  await writeFile(place, text.replace(/((?:from |import\()"\.[^"]+)\.ts"/g, '$1.js"'));
}
for (const folder of SERVED) await cp(path.join(root, folder), path.join(dist, folder), { recursive: true });
for (const file of ENGINE) await cp(path.join(root, file), path.join(dist, file));
await bundleCommand(path.join(dist, "cli"), dist);
// A part of zod is in the bundle.
await cp(path.join(root, "node_modules/zod/LICENSE"), path.join(dist, "cli/zod.LICENSE"));
await chmod(path.join(dist, "cli/main.js"), 0o755);
