#!/usr/bin/env node
/** The command `switchboard`. Its commands are in `commands/`, one file each. */
import { runCommand } from "./run-command.ts";
import { processIo } from "./command-io.ts";

const code = await runCommand(process.argv.slice(2), processIo());
// A command may leave behind a timer or an open standard input, which must not keep the process.
process.stdout.write("", () => process.exit(code));
