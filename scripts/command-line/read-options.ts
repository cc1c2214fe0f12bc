import { parseArgs } from "node:util";
import type { ParseArgsOptionDescriptor } from "node:util";

/** An option of a command, with a text that describes it. */
export interface CommandOption extends ParseArgsOptionDescriptor {
  readonly about: string;
}

type CommandOptions = Readonly<Record<string, CommandOption>>;
type Values<Options extends CommandOptions> = ReturnType<typeof parseArgs<{ options: Options }>>["values"];

/** A command line that cannot be understood. The message is for the person who typed it. */
export class CommandLineError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CommandLineError";
  }
}

/**
 * Reads the parameters of a command.
 *
 * @throws {CommandLineError} for an unknown option or parameter, or a missing value
 */
export function parseOptions<const Options extends CommandOptions>(
  command: string,
  options: Options,
  parameters: readonly string[],
): Values<Options> {
  try {
    return parseArgs({ args: [...parameters], options }).values;
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split(/\. |\n/, 1)[0] ?? "") : String(error);
    throw new CommandLineError(`${reason.replace(/\.$/, "")}.\n${listOptions(command, options)}`);
  }
}

/** Reads the options of the running process. `--help` lists them and ends the process; so does a mistake. */
export function readOptions<const Options extends CommandOptions>(
  command: string,
  options: Options,
): Values<Options> {
  const parameters = process.argv.slice(2);
  if (parameters.includes("--help")) {
    process.stdout.write(`${listOptions(command, options)}\n`);
    process.exit(0);
  }
  try {
    return parseOptions(command, options, parameters);
  } catch (error) {
    if (!(error instanceof CommandLineError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

function listOptions(command: string, options: CommandOptions): string {
  const rows = Object.entries(options).map(([name, { about, default: initial, type }]) => {
    const value = typeof initial === "string" && initial !== "" ? ` (${initial})` : "";
    return [type === "string" ? `--${name} <value>` : `--${name}`, `${about}${value}`] as const;
  });
  const width = Math.max(...rows.map(([option]) => option.length));
  return [
    `Options of ${command}:`,
    ...rows.map(([option, about]) => `  ${option.padEnd(width)}  ${about}`),
  ].join("\n");
}
