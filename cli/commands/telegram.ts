import { Command } from "commander";
import { createBotApi } from "../../ops/telegram/bot-api.ts";
import type { BotApi } from "../../ops/telegram/bot-api.ts";
import { deleteTelegramWebhook, telegramInfo } from "../../ops/telegram/info.ts";
import type { TelegramInfo } from "../../ops/telegram/info.ts";
import { askFacts } from "../../ops/serve/running-bot.ts";
import { setUpTelegram } from "../../ops/telegram/setup.ts";
import type { SetupResult } from "../../ops/telegram/setup.ts";
import { telegramAccount, webhookSecret } from "../../ops/telegram/telegram-environment.ts";
import { askYesNo } from "../ask.ts";
import { environmentOf } from "../bot-folder.ts";
import { CommandError } from "../command-error.ts";
import type { CommandIo } from "../command-io.ts";
import { createReport } from "../report.ts";

interface Common {
  readonly config: string;
  readonly json?: boolean;
}

interface SetupOptions extends Common {
  readonly url: string;
  readonly bot?: string;
  readonly messenger?: string;
  readonly dropPending?: boolean;
}

interface DeleteOptions extends Common {
  readonly dropPending?: boolean;
  readonly yes?: boolean;
}

const CONFIG = ["-c, --config <file>", "the bot's wrangler configuration", "wrangler.jsonc"] as const;

/** `switchboard telegram`: the webhook of a real Telegram bot. No output has the token or the secret. */
export function telegramCommand(io: CommandIo): Command {
  return new Command("telegram")
    .description("set, inspect and remove the webhook of a Telegram bot")
    .addCommand(setupCommand(io))
    .addCommand(infoCommand(io))
    .addCommand(deleteCommand(io));
}

function setupCommand(io: CommandIo): Command {
  return new Command("setup")
    .description("make Telegram deliver to a running bot, with the secret and the updates that it handles")
    .requiredOption("-u, --url <address>", "public address of the bot, such as https://bot.example.com")
    .option("--bot <address>", "address at which this machine reaches the bot, if it is another one")
    .option("--messenger <id>", "the messenger, if the bot has several for Telegram")
    .option("--drop-pending", "throw away the updates that wait")
    .option(...CONFIG)
    .action(async (options: SetupOptions) => {
      const { values } = await environmentOf(io, options.config);
      const secret = webhookSecret(values);
      const { api, isPublic } = apiOf(values);
      const result = await setUpTelegram({
        api,
        url: options.url,
        secret,
        messenger: options.messenger,
        dropPending: options.dropPending ?? false,
        isPublicApi: isPublic,
        messengers: async () => (await askFacts(options.bot ?? options.url, values.ADMIN_TOKEN)).messengers,
        now: Date.now,
      });
      createReport(io, options).result(result, setupLines(result));
    });
}

function setupLines({ bot, commands, state, updates, webhook }: SetupResult): readonly string[] {
  return [
    `Set the webhook of ${bot} to ${webhook}`,
    `  Updates   ${updates.join(", ")}`,
    `  Menu      ${commands} commands, which the bot sets by itself`,
    `  State     ${state.summary}`,
    ...(state.fix === undefined ? [] : [`  Fix       ${state.fix}`]),
    "Write to the bot, then run: switchboard telegram info",
  ];
}

function infoCommand(io: CommandIo): Command {
  return new Command("info")
    .description("tell the state of the webhook, its last error and how to repair it")
    .option(...CONFIG)
    .action(async (options: Common) => {
      const { api } = apiOf((await environmentOf(io, options.config)).values);
      const info = await telegramInfo({ api, now: Date.now });
      createReport(io, options).result(info, infoLines(info));
    });
}

function infoLines({ bot, commands, state, updates }: TelegramInfo): readonly string[] {
  return [
    `${bot}: ${state.summary}`,
    `  Updates   ${updates.length === 0 ? "Telegram's default" : updates.join(", ")}`,
    `  Menu      ${commands.length === 0 ? "no commands" : commands.map((name) => `/${name}`).join(" ")}`,
    ...(state.fix === undefined ? [] : [`  Fix       ${state.fix}`]),
  ];
}

function deleteCommand(io: CommandIo): Command {
  return new Command("delete")
    .description("remove the webhook; Telegram then keeps updates for a day")
    .option("--drop-pending", "throw away the updates that wait")
    .option("-y, --yes", "do not ask")
    .option(...CONFIG)
    .action(async (options: DeleteOptions) => {
      const { api } = apiOf((await environmentOf(io, options.config)).values);
      const isSure =
        options.yes === true ||
        (await askYesNo(io, "The bot gets no updates without its webhook. Remove it?"));
      if (!isSure) {
        throw new CommandError(
          "not-confirmed",
          "Nothing was removed. To remove it without a question, give --yes.",
        );
      }
      const webhook = await deleteTelegramWebhook({ api, dropPending: options.dropPending ?? false });
      createReport(io, options).result({ removed: webhook ?? null }, [
        webhook === undefined ? "No webhook was set." : `Removed the webhook ${webhook}`,
      ]);
    });
}

function apiOf(environment: Readonly<Record<string, string | undefined>>): {
  readonly api: BotApi;
  readonly isPublic: boolean;
} {
  const account = telegramAccount(environment);
  return { api: createBotApi(account), isPublic: account.apiBaseUrl === undefined };
}
