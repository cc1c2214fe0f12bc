import path from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { runDevServer } from "../../playground/dev-server.ts";
import { isHostName } from "../../playground/telegram/control/trusted-callers.ts";
import type { BotEnvironment } from "../../ops/serve/env-files.ts";
import { readableLine } from "../../ops/serve/log/readable-line.ts";
import { askYesNo } from "../ask.ts";
import { environmentOf } from "../bot-folder.ts";
import type { CommandIo } from "../command-io.ts";
import { NEW_BOT } from "../new-bot-option.ts";
import { createReport } from "../report.ts";

interface Options {
  readonly config: string;
  readonly host: string;
  readonly allowHost: readonly string[];
  readonly port: string;
  readonly fresh?: boolean;
  readonly beside?: string;
  readonly telegram?: boolean;
  readonly yes?: boolean;
  readonly newBot?: boolean;
  readonly json?: boolean;
}

/** `switchboard dev`: the bot with a simulated Telegram and its page. */
export function devCommand(io: CommandIo): Command {
  return new Command("dev")
    .description("run the bot with a simulated Telegram and a page to chat on")
    .option("-c, --config <file>", "the bot's wrangler configuration", "wrangler.jsonc")
    .option("-p, --port <port>", "port of the page; if it is taken, the next free one", "8080")
    .option(
      "--host <address>",
      "address that the page listens on; 0.0.0.0 for all of this machine",
      "127.0.0.1",
    )
    .option(
      "--allow-host <name>",
      "a further name under which the page may be opened; may be repeated",
      allowedHosts,
      [],
    )
    .option("--fresh", "remove the data of earlier runs")
    .option(...NEW_BOT)
    .option(
      "--beside <module>",
      "a module that starts something beside the bot, such as a copy of its backend",
    )
    .option(
      "--telegram",
      "connect the bot to the real Telegram; it needs TELEGRAM_BOT_TOKEN and no public address",
    )
    .option("-y, --yes", "with --telegram: remove a webhook that is set, without asking")
    .action(async (options: Options) => {
      const report = createReport(io, options);
      const readVariables = (): Promise<BotEnvironment> => environmentOf(io, options.config);
      const { values } = await readVariables();
      await runDevServer(
        {
          folder: io.folder,
          environment: values,
          readVariables,
          configFile: path.resolve(io.folder, options.config),
          host: options.host,
          allowHosts: options.allowHost,
          port: options.port,
          fresh: options.fresh ?? false,
          isNewBot: options.newBot ?? false,
          beside: options.beside,
          telegram: options.telegram === true ? mayRemove(io, options.yes === true) : undefined,
          say: (line) => report.say(line),
          onLine: (line) => report.say(options.json === true ? line : readableLine(line)),
        },
        ({ addresses, problem, rows }) =>
          report.result({ ready: problem === undefined, problem, ...addresses }, [
            "",
            problem === undefined
              ? "Switchboard is running."
              : "Switchboard is up, but the bot is not ready.",
            "",
            ...rows.map(([name, value]) => `  ${capitalised(name).padEnd(12)}${value}`),
            "",
            closing(problem, addresses),
            "",
          ]),
      );
    });
}

function allowedHosts(name: string, before: readonly string[]): readonly string[] {
  if (isHostName(name)) return [...before, name];
  throw new InvalidArgumentError("Give a name alone, such as laptop.local, without a port.");
}

/** Asks before a webhook is removed, because the bot that runs there gets nothing from then on. */
function mayRemove(io: CommandIo, isAllowed: boolean): (webhook: string, bot: string) => Promise<boolean> {
  return async (webhook, bot) =>
    isAllowed || askYesNo(io, `Telegram delivers the updates of @${bot} to ${webhook}. Remove that webhook?`);
}

function closing(problem: string | undefined, addresses: Readonly<Record<string, string>>): string {
  if (problem !== undefined) return `The bot cannot answer yet: ${problem}`;
  if (addresses.telegram !== undefined) return `Write to ${addresses.telegram}. Ctrl-C stops everything.`;
  return addresses.playground === undefined
    ? "Ctrl-C stops everything."
    : `Open ${addresses.playground} in a browser and write to the bot. Ctrl-C stops everything.`;
}

function capitalised(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
