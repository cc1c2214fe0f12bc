import type { Argument, Command, Option } from "commander";
import { code, table } from "../scripts/reference/markdown.ts";

const INTRODUCTION = `# Commands

<!-- Made by \`npm run reference\` from the commands themselves. Change their texts there. -->

Every argument and option of \`npx switchboard\`. [The command](../command.md) explains them, the exit codes and the
variables. Every command takes \`--help\`, and \`--json\` to print its result as one line of JSON.`;

/** Options that every command has. */
const COMMON = new Set(["--json", "--help"]);

/** Returns the page \`docs/reference/commands.md\`. */
export function commandsPage(program: Command): string {
  const sections = program.commands.flatMap((command) => sectionsOf(command, program.name()));
  return `${[INTRODUCTION, ...sections].join("\n\n")}\n`;
}

/** Returns the sections of a command: one for each command that does something. */
function sectionsOf(command: Command, parents: string): readonly string[] {
  const name = `${parents} ${command.name()}`;
  if (command.commands.length > 0) return command.commands.flatMap((child) => sectionsOf(child, name));
  const words = command.registeredArguments.map((argument) => {
    const shown = argument.name();
    return argument.required ? `<${shown}>` : `[${shown}]`;
  });
  const rows = [
    ...command.registeredArguments.map((argument) => [
      code(argument.name()),
      defaultOf(argument),
      description(argument),
    ]),
    ...command.options
      .filter(({ long }) => !COMMON.has(long ?? ""))
      .map((option) => [code(option.flags), defaultOf(option), description(option)]),
  ];
  return [
    `## \`${[name, ...words].join(" ")}\``,
    `${capitalised(command.description())}.`,
    ...(rows.length === 0 ? [] : [table(["Argument or option", "Default", "Meaning"], rows)]),
  ];
}

function defaultOf({ defaultValue }: Argument | Option): string {
  return typeof defaultValue === "string" || typeof defaultValue === "number" ? code(`${defaultValue}`) : "";
}

function description({ argChoices, description: text }: Argument | Option): string {
  return argChoices === undefined ? text : `${text}: ${argChoices.map(code).join(", ")}`;
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
