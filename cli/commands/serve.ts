import { existsSync } from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { dataDirectoryOf } from "../../ops/data/data-directory.ts";
import { fromBuild, fromSourcesOnce } from "../../ops/serve/bot-source.ts";
import type { BotSource } from "../../ops/serve/bot-source.ts";
import { readableLine } from "../../ops/serve/log/readable-line.ts";
import { createServeLog } from "../../ops/serve/log/serve-log.ts";
import { parsePort } from "../../ops/serve/port.ts";
import { reportHealth } from "../../ops/serve/report-health.ts";
import { serveBot } from "../../ops/serve/serve-bot.ts";
import { stopWithParent } from "../../ops/serve/stop-with-parent.ts";
import { environmentOf } from "../bot-folder.ts";
import { CommandError } from "../command-error.ts";
import type { CommandIo } from "../command-io.ts";
import { NEW_BOT } from "../new-bot-option.ts";
import { createReport } from "../report.ts";

const DEFAULT_PORT = "8787";
const DEFAULT_DRAIN_SECONDS = "5";
const LONGEST_DRAIN_SECONDS = 600;

interface Options {
  readonly config?: string;
  readonly port?: string;
  readonly exitWithStdin?: boolean;
  readonly newBot?: boolean;
  readonly json?: boolean;
}

/** `switchboard serve`: the bot alone, in the foreground. */
export function serveCommand(io: CommandIo): Command {
  return new Command("serve")
    .description("run the bot on this machine, with its storage on disk")
    .argument("[folder]", "a folder that `switchboard build` wrote, or the folder of a bot (this one)")
    .option("-c, --config <file>", "the bot's wrangler configuration, if there is no build")
    .option("-p, --port <port>", "the port; wins over PORT (8787); 0 picks a free one")
    .option(...NEW_BOT)
    .option("--exit-with-stdin", "end when standard input does")
    .addHelpText(
      "after",
      "\nVariables: HOST (127.0.0.1), PORT, DATA_DIR (.data beside the configuration), DRAIN_SECONDS (5), and those of the bot.",
    )
    .action(async (folder: string | undefined, options: Options) => {
      const report = createReport(io, options);
      const isTerminal = process.stdout.isTTY && options.json !== true;
      const log = createServeLog({ isTerminal, write: (line) => report.say(line), now: Date.now });
      const { environment, passedOn } = await variablesOf(io, folder, options.config);
      const port = options.port ?? (environment.PORT || DEFAULT_PORT);
      const source = await sourceOf(io, folder, options.config);
      const { configFile } = source;
      const dataDirectory = await dataDirectoryOf({ folder: io.folder, environment, configFile });
      const { hurried, stopped } = stopSignals(options.exitWithStdin ?? false);
      const serve = {
        source,
        dataDirectory,
        host: environment.HOST || "127.0.0.1",
        port: parsePort(port, options.port === undefined ? "PORT" : "--port"),
        environment,
        passedOn,
        isNewBot: options.newBot ?? false,
        say: (...said: Parameters<typeof log.say>) => log.say(...said),
        write: (line: string) => report.say(isTerminal ? readableLine(line) : line),
        stopped,
        drain: { hurried, timeoutMs: drainMs(environment.DRAIN_SECONDS) },
      };
      try {
        const server = await serveBot(serve);
        await reportHealth(server, serve);
        const problem = server.health?.kind === "problem" ? server.health.message : undefined;
        report.result({ ready: problem === undefined, problem, url: server.url }, []);
        await server.ended;
      } catch (error) {
        if (!stopped.aborted) throw error;
      }
    });
}

/** Returns the variables of the process and of the files beside the configuration, or in the current folder. */
async function variablesOf(
  io: CommandIo,
  folder: string | undefined,
  config: string | undefined,
): Promise<{ readonly environment: NodeJS.ProcessEnv; readonly passedOn: readonly string[] }> {
  const place = config ?? path.join(folder ?? ".", "wrangler.jsonc");
  const isBuild = config === undefined && !existsSync(path.resolve(io.folder, place));
  const { names, values } = await environmentOf(io, isBuild ? "wrangler.jsonc" : place);
  return { environment: values, passedOn: names };
}

/**
 * Returns signals for the end of the process. The first SIGTERM aborts `stopped`. A second one, Ctrl-C, and the end of
 * the caller also abort `hurried`.
 */
function stopSignals(withStdin: boolean): { readonly stopped: AbortSignal; readonly hurried: AbortSignal } {
  const stop = new AbortController();
  const hurry = new AbortController();
  const hurryUp = (): void => {
    hurry.abort();
    stop.abort();
  };
  process.on("SIGTERM", () => (stop.signal.aborted ? hurryUp() : stop.abort()));
  process.on("SIGINT", hurryUp);
  stopWithParent({ stdin: withStdin, stop: hurryUp });
  return { stopped: stop.signal, hurried: hurry.signal };
}

/** Reads DRAIN_SECONDS, in milliseconds. */
function drainMs(text: string | undefined): number {
  const seconds = Number(text || DEFAULT_DRAIN_SECONDS);
  if (seconds >= 0 && seconds <= LONGEST_DRAIN_SECONDS) return seconds * 1000;
  throw new CommandError(
    "drain-seconds-invalid",
    `DRAIN_SECONDS is "${text}"; set it to a number of seconds from 0 to ${LONGEST_DRAIN_SECONDS}.`,
  );
}

async function sourceOf(
  io: CommandIo,
  folder: string | undefined,
  config: string | undefined,
): Promise<BotSource> {
  if (config !== undefined) return fromSourcesOnce(path.resolve(io.folder, config));
  const place = path.resolve(io.folder, folder ?? ".");
  const built = await fromBuild(place);
  if (built !== undefined) return built;
  const configFile = path.join(place, "wrangler.jsonc");
  if (folder !== undefined && !existsSync(configFile)) {
    throw new CommandError(
      "no-bot",
      `${place} has neither a build nor a wrangler.jsonc. Write a build into it first: switchboard build --out ${folder}`,
    );
  }
  return fromSourcesOnce(configFile);
}
