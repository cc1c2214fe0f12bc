import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Command } from "commander";
import { moveData } from "../../ops/data/bot-names.ts";
import { dataDirectoryOf } from "../../ops/data/data-directory.ts";
import { exportData } from "../../ops/data/export-chat.ts";
import { forget } from "../../ops/data/forget.ts";
import { finishMove, moveConversation } from "../../ops/data/move-conversation.ts";
import { backUp, restoreBackup, verifyBackup } from "../../ops/data/snapshot.ts";
import { findTarget } from "../../ops/data/targets.ts";
import { dataUsage } from "../../ops/data/usage.ts";
import { lockDataDirectory } from "../../ops/serve/data-lock.ts";
import { askYesNo } from "../ask.ts";
import { environmentOf } from "../bot-folder.ts";
import { CommandError } from "../command-error.ts";
import type { CommandIo } from "../command-io.ts";
import { createReport } from "../report.ts";

interface Common {
  readonly config: string;
  readonly json?: boolean;
}

interface ForgetOptions extends Common {
  readonly name?: readonly string[];
  readonly yes?: boolean;
}

const CONFIG = ["-c, --config <file>", "the bot's wrangler configuration", "wrangler.jsonc"] as const;
const MOST_SHOWN = 20;

/** `switchboard data`: the memory of a bot that is served on this machine. */
export function dataCommand(io: CommandIo): Command {
  return new Command("data")
    .description("back up, restore, export, delete and measure the memory of a served bot")
    .addCommand(backupCommand(io))
    .addCommand(verifyCommand(io))
    .addCommand(restoreCommand(io))
    .addCommand(exportCommand(io))
    .addCommand(forgetCommand(io))
    .addCommand(usageCommand(io))
    .addCommand(moveCommand(io));
}

function backupCommand(io: CommandIo): Command {
  return new Command("backup")
    .description("copy the data into a new folder, while the bot runs")
    .argument("[folder]", "the new folder; by default backup-<time>")
    .option(...CONFIG)
    .action(async (folder: string | undefined, options: Common) => {
      const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
      const target = path.resolve(io.folder, folder ?? `backup-${time}`);
      const { createdAt, files } = await backUp(await dataDirectory(io, options), target, Date.now);
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      createReport(io, options).result({ folder: target, createdAt, files: files.length, bytes }, [
        `Copied ${files.length} files (${sizeWords(bytes)}) to ${target}`,
        "It holds what people wrote. Keep it as safe as the bot itself.",
      ]);
    });
}

function verifyCommand(io: CommandIo): Command {
  return new Command("verify")
    .description("check that a backup is complete and unchanged")
    .argument("<folder>", "the backup")
    .action(async (folder: string, options: Common) => {
      const { createdAt, files } = await verifyBackup(path.resolve(io.folder, folder));
      createReport(io, options).result({ createdAt, files: files.length }, [
        `The backup of ${createdAt} is whole: ${files.length} files.`,
      ]);
    });
}

function restoreCommand(io: CommandIo): Command {
  return new Command("restore")
    .description("put a backup in the place of the data; the bot must not run")
    .argument("<folder>", "the backup")
    .option("-y, --yes", "do not ask")
    .option(...CONFIG)
    .action(async (folder: string, options: Common & { readonly yes?: boolean }) => {
      const data = await dataDirectory(io, options);
      await withoutBot(data, async () => {
        await confirm(io, options.yes, `Replace the data in ${data} by this backup?`);
        const aside = await restoreBackup(path.resolve(io.folder, folder), data, Date.now);
        createReport(io, options).result({ restored: data, aside: aside ?? null }, [
          `Restored the data in ${data}`,
          ...(aside === undefined ? [] : [`The data that was there is now in ${aside}`]),
        ]);
      });
    });
}

function exportCommand(io: CommandIo): Command {
  return new Command("export")
    .description("write everything that is stored about a chat or a person as JSON, while the bot runs")
    .argument("<id>", "the platform's id of the chat or the person")
    .option("-o, --out <file>", "the file; by default <id>.json")
    .option(...CONFIG)
    .action(async (id: string, options: Common & { readonly out?: string }) => {
      const exported = exportData(await dataDirectory(io, options), id, Date.now);
      const file = path.resolve(io.folder, options.out ?? `${id.replaceAll(/[^\w-]+/g, "_")}.json`);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, `${JSON.stringify(exported, undefined, 1)}\n`, { mode: 0o600 });
      const rows = exported.objects.flatMap(({ tables }) => Object.values(tables)).flat().length;
      createReport(io, options).result({ file, objects: exported.objects.length, rows }, [
        `Wrote ${rows} rows of ${exported.objects.length} objects to ${file}`,
      ]);
    });
}

function forgetCommand(io: CommandIo): Command {
  return new Command("forget")
    .description("delete everything that is stored about a chat or a person; the bot must not run")
    .argument("<id>", "the platform's id of the chat or the person")
    .option("--name <name...>", "names of the person in groups, as the model reads them")
    .option("-y, --yes", "do not ask")
    .option(...CONFIG)
    .action(async (id: string, options: ForgetOptions) => {
      const data = await dataDirectory(io, options);
      await withoutBot(data, async () => {
        const report = createReport(io, options);
        const target = findTarget(data, id, options.name);
        const groups = target.objects.filter(({ because }) => because === "its messages").length;
        for (const { because, name } of target.objects.slice(0, MOST_SHOWN))
          report.say(`${name} (${because})`);
        if (target.objects.length > MOST_SHOWN) report.say(`and ${target.objects.length - MOST_SHOWN} more`);
        const others =
          groups === 0 ? "" : ` ${groups} of them are shared with others, whose memory there ends, too.`;
        await confirm(
          io,
          options.yes,
          `Delete these ${target.objects.length} conversations for good?${others}`,
        );
        const forgotten = await forget(data, target);
        report.result(forgotten, [
          `Deleted ${forgotten.objects.length} objects, and ${forgotten.rows} rows in others.`,
          "Backups still have the data. So has the platform.",
        ]);
      });
    });
}

function usageCommand(io: CommandIo): Command {
  return new Command("usage")
    .description("list the conversations with their size")
    .option(...CONFIG)
    .action(async (options: Common) => {
      const data = await dataDirectory(io, options);
      const usage = dataUsage(data);
      createReport(io, options).result(usage, [
        usage.objects === 0
          ? `No bot has stored anything in ${data}. If its data is elsewhere, set DATA_DIR.`
          : `${usage.objects} objects, ${sizeWords(usage.bytes)}`,
        ...usage.conversations
          .slice(0, MOST_SHOWN)
          .map(
            ({ agentClass, bytes, chat, chosenClass, lastActive, messenger, name, title }) =>
              `  ${sizeWords(bytes).padStart(9)}  ${lastActive.slice(0, 10)}  ${messenger} ${chat}${title === undefined ? "" : `  ${title}`}${agentClass === chosenClass ? "" : `  ${name}: ${agentClass}, chosen: ${chosenClass}`}`,
          ),
        ...(usage.conversations.length > MOST_SHOWN
          ? [`  and ${usage.conversations.length - MOST_SHOWN} more (--json lists all)`]
          : []),
      ]);
    });
}

function moveCommand(io: CommandIo): Command {
  return new Command("move")
    .description(
      "give the data of one bot name to another one, after `name` was changed in the configuration; or a conversation to another class",
    )
    .argument("<from>", "the name under which the data was made, or a conversation: named:...")
    .argument("<to>", "the name that the configuration has now, or the class that conversation() chooses now")
    .option(...CONFIG)
    .action(async (from: string, to: string, options: Common) => {
      const data = await dataDirectory(io, options);
      await withoutBot(data, async () => {
        if (from.includes(":")) {
          await moveConversation(data, from, to);
          createReport(io, options).result({ conversation: from, agentClass: to }, [
            `${to} now has the conversation ${from}, with all its memory.`,
          ]);
          return;
        }
        const aside = await moveData(data, from, to, Date.now);
        createReport(io, options).result({ from, to, aside: aside ?? null }, [
          `The bot "${to}" now has the data of "${from}".`,
          ...(aside === undefined ? [] : [`Its own data, without any message, is now in ${aside}`]),
        ]);
      });
    });
}

async function dataDirectory(io: CommandIo, { config }: Common): Promise<string> {
  const { values } = await environmentOf(io, config);
  const configFile = path.resolve(io.folder, config);
  return dataDirectoryOf({ folder: io.folder, environment: values, configFile });
}

/** Runs the work while no bot uses the data, and none can start. */
async function withoutBot(data: string, work: () => Promise<void>): Promise<void> {
  const lock = await lockDataDirectory(data);
  try {
    await finishMove(data);
    await work();
  } finally {
    await new Promise((resolve) => lock.close(resolve));
  }
}

async function confirm(io: CommandIo, isAllowed: boolean | undefined, question: string): Promise<void> {
  if (isAllowed === true || (await askYesNo(io, question))) return;
  throw new CommandError("not-confirmed", "Nothing was changed. To do it without a question, give --yes.");
}

function sizeWords(bytes: number): string {
  const kibibytes = bytes / 1024;
  return kibibytes < 1024 ? `${Math.ceil(kibibytes)} KB` : `${(kibibytes / 1024).toFixed(1)} MB`;
}
