import { readFileSync } from "node:fs";
import { Command } from "commander";
import type { CommandIo } from "./command-io.ts";

/** Makes a command. It may have commands of its own. */
type MakeCommand = (io: CommandIo) => Command;

/** All commands, in the order in which the help lists them. To load all takes as long as to start a bot. */
const COMMANDS: Readonly<Record<string, () => Promise<MakeCommand>>> = {
  init: async () => (await import("./commands/init.ts")).initCommand,
  dev: async () => (await import("./commands/dev.ts")).devCommand,
  build: async () => (await import("./commands/build.ts")).buildCommand,
  serve: async () => (await import("./commands/serve.ts")).serveCommand,
  telegram: async () => (await import("./commands/telegram.ts")).telegramCommand,
  token: async () => (await import("./commands/token.ts")).tokenCommand,
  skills: async () => (await import("./commands/skills.ts")).skillsCommand,
  data: async () => (await import("./commands/data.ts")).dataCommand,
  doctor: async () => (await import("./commands/doctor.ts")).doctorCommand,
};

/**
 * Makes the program. It never ends the process, and writes only through `io`.
 *
 * @param asked the command that will run, if it is known. The others are left out then. @default all commands
 */
export async function createProgram(io: CommandIo, asked = ""): Promise<Command> {
  const program = new Command("switchboard")
    .description("A durable AI agent behind every chat thread.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .showHelpAfterError("(--help lists the commands and their options)")
    .exitOverride()
    .configureOutput({ writeOut: io.write, writeErr: io.writeError });
  const one = Object.hasOwn(COMMANDS, asked) ? COMMANDS[asked] : undefined;
  const loaded = (one === undefined ? Object.values(COMMANDS) : [one]).map((load) => load());
  for (const make of await Promise.all(loaded)) program.addCommand(adapt(program, make(io)));
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
