import path from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { dataDirectoryOf } from "../../ops/data/data-directory.ts";
import { readControl } from "../../ops/serve/control-file.ts";
import { createToken, listTokens, revokeToken } from "../../ops/tokens/bot-tokens.ts";
import type { BotToken, ReachedBot } from "../../ops/tokens/bot-tokens.ts";
import { environmentOf } from "../bot-folder.ts";
import { CommandError } from "../command-error.ts";
import type { CommandIo } from "../command-io.ts";
import { createReport } from "../report.ts";

interface Common {
  readonly config: string;
  readonly url?: string;
  readonly json?: boolean;
}

interface CreateOptions extends Common {
  readonly scope?: readonly string[];
  readonly person?: { readonly messenger: string; readonly userId: string };
  readonly days: number;
  readonly perMinute: number;
  readonly atOnce: number;
}

const CONFIG = ["-c, --config <file>", "the bot's wrangler configuration", "wrangler.jsonc"] as const;
const URL_OPTION = ["-u, --url <address>", "a running bot, if it runs elsewhere"] as const;

/** `switchboard token`: the tokens with which other agents use the bot's actions at `/mcp`. */
export function tokenCommand(io: CommandIo): Command {
  return new Command("token")
    .description("make, list and revoke the tokens of agents that use the bot's actions")
    .addCommand(createCommand(io))
    .addCommand(listCommand(io))
    .addCommand(revokeCommand(io));
}

function createCommand(io: CommandIo): Command {
  return new Command("create")
    .description("make a token; it is shown once")
    .argument("<name>", "tells whose token it is")
    .option(
      "-s, --scope <permission...>",
      'permissions that its calls may use at most; "*" for all of the person',
    )
    .option("-p, --person <messenger:id>", "the person for whom it calls, such as telegram:4711", personIn)
    .option("--days <number>", "how long it is valid", numberIn, 90)
    .option("--per-minute <number>", "most requests in a minute", numberIn, 60)
    .option("--at-once <number>", "most calls at the same time", numberIn, 4)
    .option(...URL_OPTION)
    .option(...CONFIG)
    .action(
      async (name: string, { atOnce, days, perMinute, person, scope = [], ...options }: CreateOptions) => {
        const asked = { name, scopes: scope, person, days, perMinute, atOnce };
        const made = await createToken(await botOf(io, options), asked);
        createReport(io, options).result(made, [
          made.token,
          "",
          `Token ${wordsOf(made.record)}`,
          "Keep it now: it is not shown again.",
        ]);
      },
    );
}

function listCommand(io: CommandIo): Command {
  return new Command("list")
    .description("list the tokens, without their secrets")
    .option(...URL_OPTION)
    .option(...CONFIG)
    .action(async (options: Common) => {
      const tokens = await listTokens(await botOf(io, options));
      createReport(io, options).result(
        { tokens },
        tokens.length === 0 ? ["The bot has no tokens."] : tokens.map(wordsOf),
      );
    });
}

function revokeCommand(io: CommandIo): Command {
  return new Command("revoke")
    .description("end a token at once")
    .argument("<id>", "its id in the list")
    .option(...URL_OPTION)
    .option(...CONFIG)
    .action(async (id: string, options: Common) => {
      await revokeToken(await botOf(io, options), id);
      createReport(io, options).result({ revoked: id }, [`Revoked ${id}. Its next request is refused.`]);
    });
}

/** The bot of this folder, if it runs on this machine, or the one at `--url`, which needs its `ADMIN_TOKEN`. */
async function botOf(io: CommandIo, { config, url }: Common): Promise<ReachedBot> {
  const { values } = await environmentOf(io, config);
  if (url !== undefined) return { url, adminToken: values.ADMIN_TOKEN };
  const configFile = path.resolve(io.folder, config);
  const data = await dataDirectoryOf({ folder: io.folder, environment: values, configFile });
  const control = await readControl(data);
  if (control !== undefined) return control;
  throw new CommandError(
    "bot-not-running",
    "No bot runs on the data of this folder. Start it, or name the address of a deployed one: --url.",
  );
}

function wordsOf({ expiresAt, id, lastUsedAt, name, person, revokedAt, scopes }: BotToken): string {
  const facts = [
    scopes.length === 0 ? "no permissions" : scopes.join(", "),
    ...(person === undefined ? [] : [`for ${person.messenger}:${person.userId}`]),
    revokedAt === undefined ? `until ${day(expiresAt)}` : `revoked ${day(revokedAt)}`,
    lastUsedAt === undefined ? "never used" : `last used ${day(lastUsedAt)}`,
  ];
  return `${id}  ${name}: ${facts.join("; ")}`;
}

function day(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}

function personIn(text: string): { readonly messenger: string; readonly userId: string } {
  const [, messenger, userId] = /^([^:]+):(.+)$/.exec(text) ?? [];
  if (messenger === undefined || userId === undefined)
    throw new InvalidArgumentError("Write the messenger and the person's id, such as telegram:4711.");
  return { messenger, userId };
}

function numberIn(text: string): number {
  const number = Number(text);
  if (!(number >= 1)) throw new InvalidArgumentError("It must be a number, at least 1.");
  return number;
}
