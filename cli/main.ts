#!/usr/bin/env node
/** The command `switchboard`. Its commands are in `commands/`, one file each. */
import { nodeProblem } from "../ops/doctor/node-version.ts";

const problem = nodeProblem(process.versions.node);
const code = problem === undefined ? await run() : refuse(problem);
// A command may leave behind a timer or an open standard input, which must not keep the process.
process.stdout.write("", () => process.exit(code));

async function run(): Promise<number> {
  // Loaded here, because an old Node cannot load all of it.
  const { processIo } = await import("./command-io.ts");
  const { runCommand } = await import("./run-command.ts");
  return runCommand(process.argv.slice(2), processIo());
}

function refuse(message: string): number {
  if (process.argv.includes("--json")) {
    process.stdout.write(`${JSON.stringify({ error: { code: "node-too-old", message } })}\n`);
  } else {
    process.stderr.write(`${message}\n`);
  }
  return 1;
}
