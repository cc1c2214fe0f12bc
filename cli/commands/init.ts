import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { isCancel, select, text } from "@clack/prompts";
import { Command, Option } from "commander";
import { createBot, TEMPLATES } from "../create-bot.ts";
import type { PackageVersions, TemplateName } from "../create-bot.ts";
import { CommandError } from "../command-error.ts";
import type { CommandIo } from "../command-io.ts";
import { createReport } from "../report.ts";

interface Options {
  readonly template?: TemplateName;
  readonly package?: string;
  readonly json?: boolean;
}

const NAMES = Object.keys(TEMPLATES) as TemplateName[];

/** `switchboard init`: a new bot in a folder of its own. */
export function initCommand(io: CommandIo): Command {
  return new Command("init")
    .description("write a new bot into a folder")
    .argument("[folder]", "the folder; it must be new or empty")
    .addOption(new Option("-t, --template <name>", "the template to begin with").choices(NAMES))
    .option("--package <version>", "the version of Switchboard, or the path of a tarball")
    .addHelpText("after", () =>
      ["", "Templates:", ...NAMES.map((name) => `  ${name.padEnd(14)}${TEMPLATES[name]}`)].join("\n"),
    )
    .action(async (folder: string | undefined, options: Options) => {
      const root = packageRoot();
      const chosen = folder ?? (await askFolder(io));
      const botFolder = path.resolve(io.folder, chosen);
      const created = await createBot({
        folder: botFolder,
        template: options.template ?? (await askTemplate(io)),
        templates: path.join(root, "templates"),
        versions: versionsOf(root, packageFor(botFolder, io.folder, options.package)),
      });
      const go = path.relative(io.folder, created.folder);
      createReport(io, options).result(created, [
        `Wrote ${created.files.length} files to ${created.folder}`,
        "",
        ...(go === "" ? [] : [`  cd ${go}`]),
        "  npm install",
        "  npm run dev",
      ]);
    });
}

async function askFolder(io: CommandIo): Promise<string> {
  if (!io.isInteractive) {
    throw new CommandError("folder-missing", "Name the folder of the new bot: switchboard init my-bot");
  }
  const answer = await text({ message: "Folder of the new bot", initialValue: "my-bot" });
  if (isCancel(answer)) throw cancelled();
  return answer;
}

async function askTemplate(io: CommandIo): Promise<TemplateName> {
  if (!io.isInteractive) return "minimal";
  const answer = await select({
    message: "Template",
    options: NAMES.map((value) => ({ value, label: value, hint: TEMPLATES[value] })),
  });
  if (isCancel(answer)) throw cancelled();
  return answer;
}

function cancelled(): CommandError {
  return new CommandError("not-confirmed", "Nothing was written.");
}

/** Returns the folder of the package: the nearest one above this file that has templates. */
function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(path.join(folder, "templates", "shared"))) {
    const above = path.dirname(folder);
    if (above === folder)
      throw new CommandError("templates-missing", "The templates are missing. Install again.");
    folder = above;
  }
  return folder;
}

/** Returns a version, or the path of a tarball as the new bot's folder has it. npm reads it from there. */
function packageFor(botFolder: string, folder: string, given: string | undefined): string | undefined {
  const file = given === undefined ? "" : path.resolve(folder, given);
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? `file:${path.relative(botFolder, file)}` : given;
}

/** Returns the versions that this package is tried with. */
function versionsOf(root: string, given: string | undefined): PackageVersions {
  const { version, ...own } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    readonly version: string;
    readonly dependencies?: Record<string, string>;
    readonly devDependencies?: Record<string, string>;
  };
  return {
    switchboard: given ?? `^${version}`,
    others: { ...own.devDependencies, ...own.dependencies },
  };
}
