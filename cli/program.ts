import { readFileSync } from "node:fs";
import { Command } from "commander";
import type { CommandIo } from "./command-io.ts";
import { buildCommand } from "./commands/build.ts";
import { dataCommand } from "./commands/data.ts";
import { devCommand } from "./commands/dev.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { initCommand } from "./commands/init.ts";
import { serveCommand } from "./commands/serve.ts";
import { telegramCommand } from "./commands/telegram.ts";
import { tokenCommand } from "./commands/token.ts";

/** Makes a command. It may have commands of its own. */
export type MakeCommand = (io: CommandIo) => Command;

/** All commands, in the order in which the help lists them. */
const COMMANDS: readonly MakeCommand[] = [
  initCommand,
  devCommand,
  buildCommand,
  serveCommand,
  telegramCommand,
  tokenCommand,
  dataCommand,
  doctorCommand,
];

/** Makes the program. It never ends the process, and writes only through `io`. */
export function createProgram(io: CommandIo): Command {
  const program = new Command("switchboard")
    .description("A durable AI agent behind every chat thread.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .showHelpAfterError("(--help lists the commands and their options)")
    .exitOverride()
    .configureOutput({ writeOut: io.write, writeErr: io.writeError });
  for (const make of COMMANDS) program.addCommand(adapt(program, make(io)));
  return program;
}

/** Gives a command and its own commands the settings of the program, and `--json`. */
function adapt(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent);
  if (command.commands.length === 0) command.option("--json", "print the result as one line of JSON");
  for (const child of command.commands) adapt(command, child);
  return command;
}

/** Reads the version of the package, which is one folder up in the sources and two in the built package. */
function readVersion(): string {
  for (const up of ["../package.json", "../../package.json"]) {
    try {
      const { version } = JSON.parse(readFileSync(new URL(up, import.meta.url), "utf8")) as {
        readonly version: string;
      };
      return version;
    } catch {
      // Not in this folder.
    }
  }
  return "unknown";
}
