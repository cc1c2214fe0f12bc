/**
 * `node scripts/are-types-wrong.ts package.tgz`: fails if TypeScript and Node disagree about a module of a packed package.
 * Looks as a user with ES modules does. The tool's own command takes three times as long.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";

/** Ways to find a module that the package does not promise. */
const IGNORED = new Set(["node10", "node16-cjs"]);

const packed = createPackageFromTarballData(new Uint8Array(await readFile(process.argv[2] ?? "")));
const folders = new Set<string>();
for (const file of packed.listFiles()) {
  for (let folder = path.posix.dirname(file); !folders.has(folder); folder = path.posix.dirname(folder))
    folders.add(folder);
}
// It is asked thousands of times, and would look at all files each time.
packed.directoryExists = (name) => folders.has(path.posix.normalize(name).replace(/(?<=.)\/$/, ""));

const analysis = await checkPackage(packed);
if (analysis.types === false) throw new Error("The package has no types.");
const problems = analysis.problems.filter(
  (problem) => !("resolutionKind" in problem && IGNORED.has(problem.resolutionKind)),
);
for (const problem of problems) process.stderr.write(`${JSON.stringify(problem)}\n`);
process.stdout.write(
  `Types of ${Object.keys(analysis.entrypoints).length} entries: ${problems.length} problems\n`,
);
if (problems.length > 0) process.exitCode = 1;
