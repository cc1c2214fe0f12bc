#!/usr/bin/env node
/** The command `switchboard`. Its commands are in `commands/`, one file each. */
import { runCommand } from "./run-command.ts";
import { processIo } from "./command-io.ts";

process.exitCode = await runCommand(process.argv.slice(2), processIo());
