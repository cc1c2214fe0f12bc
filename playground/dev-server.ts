import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import { dataDirectoryOf } from "../ops/data/data-directory.ts";
import { askHealth } from "../ops/serve/health.ts";
import { variableFilesOf } from "../ops/serve/env-files.ts";
import type { BotEnvironment } from "../ops/serve/env-files.ts";
import type { Health } from "../ops/serve/health.ts";
import { lockDataDirectory } from "../ops/serve/data-lock.ts";
import { isPortFree, nextFreePort, parsePort } from "../ops/serve/port.ts";
import { shortPath } from "../ops/serve/short-path.ts";
import { stopWithParent } from "../ops/serve/stop-with-parent.ts";
import { startBeside } from "./beside.ts";
import { startBot } from "./bot-process.ts";
import { createDevVariables } from "./dev-variables.ts";
import { createBotWatch } from "./bot-watch.ts";
import type { BotWatch } from "./bot-watch.ts";
import { planPlayground } from "./plan.ts";
import type { RealTelegram } from "./real-telegram.ts";
import { addFirstPerson } from "./telegram/chats/first-person.ts";
import { openBotDoor } from "./served-bot/bot-door.ts";
import { CLOCK_FILE, openMovedClock } from "./served-bot/moved-clock.ts";
import { realClock } from "./telegram/clock.ts";
import { startSimulator } from "./telegram/simulator.ts";

/** Address of the bot, for the search of a free port. */
const BOT_HOST = "127.0.0.1";
const BOT_PORT = "8787";
const LOOK_AT_BOT_EVERY_MS = 2_000;

export interface DevOptions {
  /** The folder of the bot. Relative paths and the data directory are in it. */
  readonly folder: string;
  /** The variables at the start. */
  readonly environment: NodeJS.ProcessEnv;
  /** Reads the variables of the process and of the bot's files. */
  readonly readVariables: () => Promise<BotEnvironment>;
  /** Configuration of the worker. */
  readonly configFile: string;
  /** Address that the page listens on. */
  readonly host: string;
  /** Names under which the page may be opened, beside those of this machine. */
  readonly allowHosts: readonly string[];
  /** Port of the page. If it is taken, the next free one. */
  readonly port: string;
  /** Whether the data of earlier runs is removed. */
  readonly fresh: boolean;
  /** Whether the bot is another one than those whose data is there. */
  readonly isNewBot: boolean;
  /** Module that starts something beside the bot. */
  readonly beside: string | undefined;
  /**
   * Runs a real Telegram bot instead of the simulator, with long polling. Undefined: the environment decides.
   *
   * @param webhook address that Telegram delivers to now; it is removed if this resolves to true
   */
  readonly telegram?: ((webhook: string, bot: string) => Promise<boolean>) | undefined;
  /** Tells a person about progress. */
  readonly say: (line: string) => void;
  /** Called with each line of the bot's log. */
  readonly onLine: (line: string) => void;
}

/** Addresses and state of a playground that is up. */
export interface DevState {
  /** Why the bot cannot answer yet. */
  readonly problem: string | undefined;
  readonly addresses: Readonly<Record<string, string>>;
  /** The table for a person: names and values. */
  readonly rows: readonly (readonly [name: string, value: string])[];
}

/**
 * Runs a bot with everything around it, on one machine and without a network: the simulator with its page, the bot, and
 * a program beside it. Settles when a signal has stopped all of it.
 *
 * @throws {ServeError} when something cannot be started, or the bot ends by itself
 */
export async function runDevServer(options: DevOptions, onReady: (state: DevState) => void): Promise<void> {
  const { say } = options;
  const closers: (() => Promise<void>)[] = [];
  const stopped = Promise.withResolvers<void>();
  stopWithSignals(() => stopped.resolve());
  try {
    await start(options, closers, (problem) => stopped.reject(problem)).then(onReady);
    await stopped.promise;
  } finally {
    if (closers.length > 0) say("Stopping ...");
    for (const close of closers) await close();
  }
}

async function start(
  options: DevOptions,
  closers: (() => Promise<void>)[],
  onEnded: (problem: unknown) => void,
): Promise<DevState> {
  const { say } = options;
  parsePort(options.port, "--port");
  const dataDirectory = await dataDirectoryOf(options);
  const lock = await lockDataDirectory(dataDirectory, "playground");
  closers.push(() => new Promise((resolve) => lock.close(() => resolve())));
  await prepareData(dataDirectory, options.fresh, say);
  const real = options.telegram === undefined ? undefined : await openReal(options, options.telegram);
  const plan = planPlayground({ ...options.environment, ...real?.variables });
  const botPort = await pickPort(options.environment.PORT || BOT_PORT, BOT_HOST, "PORT", say);
  const beside =
    options.beside === undefined
      ? undefined
      : await startBeside(path.resolve(options.folder, options.beside), {
          environment: options.environment,
          isSimulated: plan.simulator,
        });
  if (beside !== undefined) closers.unshift(() => beside.close());
  const defaults = {
    // The person who starts the playground develops the bot and needs the messages of its exceptions.
    DEBUG: "1",
    ...beside?.variables,
    // The page of the simulator is on this machine, and so is the person who opens it.
    ...(plan.simulator && { PUBLIC_URL: `http://127.0.0.1:${botPort}` }),
  };
  const secret = randomBytes(24).toString("base64url");
  const clock = await openMovedClock(dataDirectory);
  const simulator = plan.simulator
    ? await startSimulator({
        host: options.host,
        allowHosts: options.allowHosts,
        port: await pickPort(options.port, options.host, "--port", say),
        stateFile: path.join(dataDirectory, "simulator.json"),
        clock: { ...realClock, now: () => clock.now() },
        ...(beside?.webFiles !== undefined && { webFiles: beside.webFiles }),
        ...(beside?.suggestions !== undefined && { suggestions: beside.suggestions }),
      })
    : undefined;
  if (simulator !== undefined) {
    closers.unshift(() => simulator.close());
    addFirstPerson(simulator);
  }
  const { ADMIN_TOKEN, HOST: host, TELEGRAM_API_BASE_URL, TELEGRAM_BOT_TOKEN } = options.environment;
  const variables = createDevVariables({
    read: options.readVariables,
    defaults,
    fixed: {
      ADMIN_TOKEN,
      HOST: host,
      TELEGRAM_API_BASE_URL,
      TELEGRAM_BOT_TOKEN,
      TELEGRAM_WEBHOOK_SECRET_TOKEN: options.environment.TELEGRAM_WEBHOOK_SECRET_TOKEN,
      ...real?.variables,
      ...(simulator !== undefined && {
        TELEGRAM_BOT_TOKEN: simulator.token,
        TELEGRAM_WEBHOOK_SECRET_TOKEN: secret,
        TELEGRAM_BOT_USERNAME: simulator.bot.username,
        TELEGRAM_API_BASE_URL: simulator.url,
      }),
      DATA_DIR: dataDirectory,
      PORT: String(botPort),
    },
    say,
  });

  say("Starting the bot ...");
  let watch: BotWatch | undefined;
  const bot = await startBot({
    ...(await variables()),
    variables,
    variableFiles: variableFilesOf(path.dirname(options.configFile)),
    dataDirectory,
    port: botPort,
    configFile: options.configFile,
    isNewBot: options.isNewBot,
    say,
    onLine: options.onLine,
    onReload: () => watch?.forget(),
    ...(simulator !== undefined && { clockShiftMs: () => clock.shiftMs }),
  });
  closers.unshift(() => bot.stop());
  simulator?.setBotDoor(openBotDoor({ bot, clock, dataDirectory }));
  void bot.ended.then(onEnded);
  const webhook = `${bot.url}/messengers/telegram/webhook`;
  simulator?.setWebhook(webhook, secret);
  const polling = await real?.connect(bot.url, onEnded);
  if (polling !== undefined) closers.unshift(() => polling.close());
  const ask = (): Promise<Health> => askHealth(bot.url);
  if (simulator !== undefined) {
    const pageWatch = createBotWatch({ ask, simulator });
    watch = pageWatch;
    await pageWatch.look();
    setInterval(() => void pageWatch.look(), LOOK_AT_BOT_EVERY_MS).unref();
  }
  const health = await ask();
  return {
    problem: health.kind === "problem" ? health.message : undefined,
    addresses: {
      ...(simulator !== undefined && { playground: simulator.url }),
      ...(real !== undefined && { telegram: `https://t.me/${real.userName}` }),
      bot: bot.url,
      webhook,
      ...beside?.addresses,
    },
    rows: [
      real === undefined
        ? ["Playground", simulator?.url ?? `none: Telegram is ${plan.telegram}`]
        : ["Telegram", `https://t.me/${real.userName} (long polling)`],
      ["Bot", bot.url],
      ...(simulator === undefined && real === undefined
        ? [["Webhook", `${webhook}, for Telegram through your own tunnel`] as const]
        : []),
      ...Object.entries(beside?.addresses ?? {}),
      ["Model", plan.model],
      ["Data", `${shortPath(dataDirectory)} (kept; --fresh starts over)`],
    ],
  };
}

/** Loads the client of the real Telegram, which a simulated one does not need. */
async function openReal(
  { environment, say }: DevOptions,
  mayRemove: (webhook: string, bot: string) => Promise<boolean>,
): Promise<RealTelegram> {
  const { openRealTelegram } = await import("./real-telegram.ts");
  return openRealTelegram({ environment, mayRemove, say });
}

/** Calls back once, at the first signal to stop. */
function stopWithSignals(onStop: () => void): void {
  process.on("SIGINT", onStop);
  process.on("SIGTERM", onStop);
  stopWithParent({ stdin: false, stop: onStop });
}

/**
 * Checks that no other bot uses the data, and removes it if `fresh` is set.
 * @throws {ServeError} when a bot that was started separately runs on the directory
 */
async function prepareData(directory: string, fresh: boolean, say: (line: string) => void): Promise<void> {
  const lock = await lockDataDirectory(directory);
  if (fresh) {
    for (const name of ["objects", "worker", "simulator.json", CLOCK_FILE]) {
      await rm(path.join(directory, name), { recursive: true, force: true });
    }
    say("Earlier data removed.");
  }
  // The bot takes the lock again.
  await new Promise((resolve) => lock.close(resolve));
}

async function pickPort(
  wanted: string,
  host: string,
  source: string,
  say: (line: string) => void,
): Promise<number> {
  const first = parsePort(wanted, source);
  if (first === 0) return 0;
  const port = await nextFreePort(first, (candidate) => isPortFree(candidate, host));
  if (port !== first) say(`Port ${first} is in use; taking ${port}.`);
  return port;
}
