import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import { dataDirectoryOf } from "../scripts/data/data-directory.ts";
import { askHealth } from "../scripts/serve/health.ts";
import type { Health } from "../scripts/serve/health.ts";
import { lockDataDirectory } from "../scripts/serve/data-lock.ts";
import { isPortFree, nextFreePort, parsePort } from "../scripts/serve/port.ts";
import { shortPath } from "../scripts/serve/short-path.ts";
import { stopWithParent } from "../scripts/serve/stop-with-parent.ts";
import { startBeside } from "./beside.ts";
import { startBot } from "./bot-process.ts";
import { createBotWatch } from "./bot-watch.ts";
import type { BotWatch } from "./bot-watch.ts";
import { planPlayground } from "./plan.ts";
import { openRealTelegram } from "./real-telegram.ts";
import { addFirstPerson } from "./telegram/chats/first-person.ts";
import { openBotDoor } from "./served-bot/bot-door.ts";
import { CLOCK_FILE, openMovedClock } from "./served-bot/moved-clock.ts";
import { realClock } from "./telegram/clock.ts";
import { startSimulator } from "./telegram/simulator.ts";

const HOST = "127.0.0.1";
const BOT_PORT = "8787";
const LOOK_AT_BOT_EVERY_MS = 2_000;

export interface DevOptions {
  /** The folder of the bot. Relative paths and the data directory are in it. */
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Variables that the bot gets although its configuration does not declare them. */
  readonly passedOn: readonly string[];
  /** Configuration of the worker. */
  readonly configFile: string;
  /** Port of the page. If it is taken, the next free one. */
  readonly port: string;
  /** Whether the data of earlier runs is removed. */
  readonly fresh: boolean;
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
  const real =
    options.telegram === undefined
      ? undefined
      : await openRealTelegram({ environment: options.environment, mayRemove: options.telegram, say });
  const plan = planPlayground({ ...options.environment, ...real?.variables });
  const botPort = await pickPort(options.environment.PORT || BOT_PORT, "PORT", say);
  const beside =
    options.beside === undefined
      ? undefined
      : await startBeside(path.resolve(options.folder, options.beside), {
          environment: options.environment,
          isSimulated: plan.simulator,
        });
  if (beside !== undefined) closers.unshift(() => beside.close());
  const environment: NodeJS.ProcessEnv = {
    // The person who starts the playground develops the bot and needs the messages of its exceptions.
    DEBUG: "1",
    ...beside?.variables,
    // The page of the simulator is on this machine, and so is the person who opens it.
    ...(plan.simulator && { PUBLIC_URL: `http://127.0.0.1:${botPort}` }),
    ...options.environment,
    ...real?.variables,
    DATA_DIR: dataDirectory,
    PORT: String(botPort),
  };
  const secret = randomBytes(24).toString("base64url");
  const clock = await openMovedClock(dataDirectory);
  const simulator = plan.simulator
    ? await startSimulator({
        port: await pickPort(options.port, "--port", say),
        stateFile: path.join(dataDirectory, "simulator.json"),
        clock: { ...realClock, now: () => clock.now() },
        ...(beside?.webFiles !== undefined && { webFiles: beside.webFiles }),
        ...(beside?.suggestions !== undefined && { suggestions: beside.suggestions }),
      })
    : undefined;
  if (simulator !== undefined) {
    closers.unshift(() => simulator.close());
    environment.TELEGRAM_BOT_TOKEN = simulator.token;
    environment.TELEGRAM_WEBHOOK_SECRET_TOKEN = secret;
    environment.TELEGRAM_BOT_USERNAME = simulator.bot.username;
    environment.TELEGRAM_API_BASE_URL = simulator.url;
    addFirstPerson(simulator);
  }

  say("Starting the bot ...");
  let watch: BotWatch | undefined;
  const bot = await startBot({
    environment,
    dataDirectory,
    port: botPort,
    configFile: options.configFile,
    passedOn: options.passedOn,
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

async function pickPort(wanted: string, source: string, say: (line: string) => void): Promise<number> {
  const first = parsePort(wanted, source);
  if (first === 0) return 0;
  const port = await nextFreePort(first, (candidate) => isPortFree(candidate, HOST));
  if (port !== first) say(`Port ${first} is in use; taking ${port}.`);
  return port;
}
