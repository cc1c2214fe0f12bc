/**
 * `npm run bundle-size`: bundles the smallest bot, and fails if it has grown past its budget. Names the parts that grew.
 * `-- --write` makes the present size the budget, with some room. `-- --features` tells what each imported feature adds.
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { z } from "zod";
import { root } from "./run-step.ts";
import { ENTRY } from "../ops/serve/bundle-files.ts";
import { bundleWorker } from "../ops/serve/worker-bundle.ts";
import { parseWorkerConfig } from "../ops/serve/worker-config.ts";

/** Growth that a budget allows before somebody has to look. */
const ROOM = 1.01;

const budgetFile = path.join(root, "scripts/bundle-budget.json");
const configFile = path.join(root, "examples/minimal/wrangler.jsonc");

const budgetSchema = z.object({
  /** Most gzipped KiB of the smallest bot. */
  gzippedKiB: z.number(),
  /** KiB of each part when the budget was set. */
  parts: z.record(z.string(), z.number()),
});

const toKiB = (bytes: number): number => Math.round(bytes / 1024);

/** Packages of models that a new bot does not have. The repository has them for its tests. */
const NOT_INSTALLED = ["@ai-sdk/anthropic", "workers-ai-provider"];

const minimal = parseWorkerConfig(await readFile(configFile, "utf8"), configFile);
const alias = Object.fromEntries(NOT_INSTALLED.map((name) => [name, `${name}/not-installed`]));
const config = { ...minimal, alias: { ...minimal.alias, ...alias } };
const bundle = await bundleWorker(configFile, config);
const gzippedKiB = toKiB(gzipSync(bundle.files.get(ENTRY) ?? new Uint8Array()).length);
const parts = Object.fromEntries(
  [...bundle.parts]
    .map(([name, bytes]) => [name, toKiB(bytes)] as const)
    .filter(([, size]) => size > 0)
    .toSorted(([, a], [, b]) => b - a),
);
if (process.argv.includes("--features")) {
  const { featureSizes } = await import("./feature-sizes.ts");
  for (const [name, kiB] of await featureSizes(configFile, config))
    process.stdout.write(`  ${name.padEnd(16)} +${kiB} KiB gzipped\n`);
}
if (process.argv.includes("--write")) {
  const budget = { gzippedKiB: Math.ceil(gzippedKiB * ROOM), parts };
  await writeFile(budgetFile, `${JSON.stringify(budget, null, 2)}\n`);
}
const budget = budgetSchema.parse(JSON.parse(await readFile(budgetFile, "utf8")));
process.stdout.write(`The smallest bot: ${gzippedKiB} KiB gzipped, of ${budget.gzippedKiB} KiB\n`);
const grown = Object.entries(parts)
  .map(([name, size]) => ({ name, size, by: size - (budget.parts[name] ?? 0) }))
  .filter(({ by }) => by > 0)
  .toSorted((a, b) => b.by - a.by);
for (const { by, name, size } of grown.slice(0, 10))
  process.stdout.write(`  +${by} KiB  ${name} (${size} KiB)\n`);
if (gzippedKiB > budget.gzippedKiB) {
  process.stderr.write(
    "The bundle is over its budget. Make it smaller, or set a new one: npm run bundle-size -- --write\n",
  );
  process.exitCode = 1;
}
