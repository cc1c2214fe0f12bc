/**
 * `npm run explore -- --rounds 10`: runs the tests that have random properties, again and again, with a new seed each
 * time. `npm test` always uses the same seed, so only this finds new counterexamples.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { readOptions } from "./command-line/read-options.ts";
import { root, runStep, tool } from "./run-step.ts";

const LONGEST_ROUND_MS = 60 * 60_000;

const values = readOptions("npm run explore", {
  rounds: { type: "string", default: "10", about: "how many seeds to try" },
  seed: { type: "string", about: "the first seed; without it a random one" },
  runs: { type: "string", default: "1", about: "how many times as often each property runs" },
  only: { type: "string", default: "", about: "only files whose path contains this" },
});

const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const files = filesWithProperties().filter((file) => file.includes(values.only));
if (files.length === 0) throw new Error(`No test with a random property has "${values.only}" in its path.`);
const failed: number[] = [];
const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort());
for (let seed = first; seed < first + Number(values.rounds) && !stopping.signal.aborted; seed += 1) {
  const { passed } = await runStep(
    `seed ${seed}`,
    tool("vitest"),
    ["run", "--project=unit", "--reporter=dot", ...files],
    {
      environment: { PROPERTY_SEED: String(seed), PROPERTY_RUNS: values.runs },
      timeoutMs: LONGEST_ROUND_MS,
    },
  );
  if (!passed) failed.push(seed);
  process.stdout.write(`seed ${seed}: ${passed ? "ok" : "FAILED"}\n`);
}
for (const seed of failed) {
  process.stdout.write(`PROPERTY_SEED=${seed} PROPERTY_RUNS=${values.runs} npx vitest run --project unit\n`);
}
if (failed.length > 0) process.exitCode = 1;

/** Returns the unit tests that use `fast-check`, themselves or through another file of the tests. */
function filesWithProperties(): string[] {
  const texts = new Map(
    readdirSync(path.join(root, "test/unit"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => path.join("test/unit", name))
      .map((file) => [file, readFileSync(path.join(root, file), "utf8")] as const),
  );
  const found = new Set(
    [...texts].filter(([, text]) => text.includes('from "fast-check"')).map(([file]) => file),
  );
  // A set's loop also visits the members that are added during it.
  for (const file of found) {
    for (const [other, text] of texts) if (text.includes(`/${path.basename(file)}"`)) found.add(other);
  }
  return [...found].filter((file) => file.endsWith(".test.ts"));
}
