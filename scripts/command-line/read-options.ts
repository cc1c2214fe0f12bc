import { Command } from "commander";
import type { ParseArgsOptionDescriptor, parseArgs } from "node:util";

/** An option of a command, with a text that describes it. */
export interface CommandOption extends ParseArgsOptionDescriptor {
  readonly about: string;
}

type CommandOptions = Readonly<Record<string, CommandOption>>;
type Values<Options extends CommandOptions> = ReturnType<typeof parseArgs<{ options: Options }>>["values"];

/** Reads the options of the running process. `--help` lists them and ends the process; so does a mistake. */
export function readOptions<const Options extends CommandOptions>(
  command: string,
  options: Options,
): Values<Options> {
  return parseOptions(new Command(command), options, process.argv.slice(2));
}

/**
 * Reads the parameters of a command.
 *
 * @throws {CommanderError} if the command does not end the process for an unknown option or parameter, or a missing value
 */
export function parseOptions<const Options extends CommandOptions>(
  command: Command,
  options: Options,
  parameters: readonly string[],
): Values<Options> {
  command.allowExcessArguments(false).showHelpAfterError();
  for (const [name, { about, default: initial, multiple, type }] of Object.entries(options)) {
    const option = command.createOption(type === "string" ? `--${name} <value>` : `--${name}`, about);
    if (initial !== undefined) option.default(initial);
    if (multiple === true)
      option.argParser((value: string, earlier?: readonly string[]) => [...(earlier ?? []), value]);
    command.addOption(option);
  }
  const values = command.parse(parameters, { from: "user" }).opts();
  return Object.fromEntries(
    command.options.map((option) => [option.long?.slice(2), values[option.attributeName()]]),
  ) as Values<Options>;
}
