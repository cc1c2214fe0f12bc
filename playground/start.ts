/**
 * `npm start`: runs the bot with everything around it, on one machine and without a network.
 *
 *   npm start -- [--fresh] [--port 8080] [--headless] [--config wrangler.jsonc]
 *
 *   --fresh     removes the data of earlier runs
 *   --port      port of the playground's page; if it is taken, the next free one
 *   --config    runs another bot than the support bot
 *   --headless  prints one line of JSON when everything is up, and all other output on stderr; if the bot is not
 *               ready, the line has the reason
 */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import { readOptions } from "../scripts/command-line/read-options.ts";
import { askHealth } from "../scripts/serve/health.ts";
import type { Health } from "../scripts/serve/health.ts";
import { lockDataDirectory } from "../scripts/serve/data-lock.ts";
import { isPortFree, nextFreePort, parsePort } from "../scripts/serve/port.ts";
import { shortPath } from "../scripts/serve/short-path.ts";
import { stopWithParent } from "../scripts/serve/stop-with-parent.ts";
import { startBot } from "./bot-process.ts";
import { createBotWatch } from "./bot-watch.ts";
import { planPlayground } from "./plan.ts";
import { readableLine } from "./readable-log.ts";
import { shopPictures } from "./shop/pictures.ts";
import { startShop } from "./shop/shop-server.ts";
import { addFirstPerson } from "./telegram/chats/first-person.ts";
import { startSimulator } from "./telegram/simulator.ts";

const HOST = "127.0.0.1";
const PAGE_PORT = "8080";
const BOT_PORT = "8787";
const LOOK_AT_BOT_EVERY_MS = 2_000;

const root = path.resolve(import.meta.dirname, "..");

async function main(): Promise<void> {
  const values = readOptions("npm start", {
    fresh: { type: "boolean", default: false, about: "remove the data of earlier runs" },
    port: {
      type: "string",
      default: PAGE_PORT,
      about: "port of the page; if it is taken, the next free one",
    },
    headless: { type: "boolean", default: false, about: "print one line of JSON when everything is ready" },
    config: { type: "string", about: "the wrangler configuration of another bot" },
  });
  const say = (line: string): void =>
    void (values.headless ? process.stderr : process.stdout).write(`${line}\n`);
  const closers: (() => Promise<void>)[] = [];
  const stop = onceStopped(say, closers);

  const dataDirectory = path.resolve(process.env.DATA_DIR || path.join(root, ".data"));
  const lock = await lockDataDirectory(dataDirectory, "playground");
  closers.push(() => new Promise((resolve) => lock.close(() => resolve())));
  await prepareData(dataDirectory, values.fresh, say);
  const plan = planPlayground(process.env);
  const botPort = await pickPort(process.env.PORT || BOT_PORT, "PORT", say);
  const environment: NodeJS.ProcessEnv = {
    // The person who starts the playground develops the bot and needs the messages of its exceptions.
    DEBUG: "1",
    ...process.env,
    DATA_DIR: dataDirectory,
    PORT: String(botPort),
  };

  const addresses: Record<string, string> = {};
  if (plan.shop) {
    const shop = await startShop({ pictures: plan.simulator });
    closers.unshift(() => shop.close());
    addresses.shop = shop.url;
    environment.ORDERS_API_URL = shop.url;
    say("The shop is open.");
  }
  const secret = randomBytes(24).toString("base64url");
  const simulator = plan.simulator
    ? await startSimulator({
        port: await pickPort(values.port, "--port", say),
        stateFile: path.join(dataDirectory, "simulator.json"),
        webFiles: shopPictures(),
      })
    : undefined;
  if (simulator !== undefined) {
    closers.unshift(() => simulator.close());
    environment.TELEGRAM_BOT_TOKEN = simulator.token;
    environment.TELEGRAM_WEBHOOK_SECRET_TOKEN = secret;
    environment.TELEGRAM_BOT_USERNAME = simulator.bot.username;
    environment.TELEGRAM_API_BASE_URL = simulator.url;
    addresses.playground = simulator.url;
    addFirstPerson(simulator);
    say("The Telegram simulator is up.");
  }

  say("Starting the bot ...");
  const bot = await startBot({
    environment,
    configFile: values.config,
    onLine: (line) => say(values.headless ? line : readableLine(line)),
  });
  closers.unshift(() => bot.stop());
  void bot.ended.then((code) => stop(`The bot ended by itself (code ${code}).`));
  addresses.bot = bot.url;
  addresses.webhook = `${bot.url}/messengers/telegram/webhook`;
  simulator?.setWebhook(addresses.webhook, secret);
  const ask = (): Promise<Health> => askHealth(bot.url);
  if (simulator !== undefined) {
    const watch = createBotWatch({ ask, simulator });
    await watch.look();
    setInterval(() => void watch.look(), LOOK_AT_BOT_EVERY_MS).unref();
  }
  const health = await ask();
  const problem = health.kind === "problem" ? health.message : undefined;

  if (values.headless) {
    const line = { ready: problem === undefined, ...(problem !== undefined && { problem }), ...addresses };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    return;
  }
  const rows = [
    ["Playground", addresses.playground ?? `none: Telegram is ${plan.telegram}`],
    ["Bot", bot.url],
    ...(simulator === undefined
      ? [["Webhook", `${addresses.webhook}, for Telegram through your own tunnel`]]
      : []),
    ["Shop", addresses.shop ?? `${process.env.ORDERS_API_URL} (yours)`],
    ["Model", plan.model],
    ["Data", `${shortPath(dataDirectory)} (kept; --fresh starts over)`],
  ];
  say(
    problem === undefined
      ? "\nSwitchboard is running.\n"
      : "\nSwitchboard is up, but the bot is not ready.\n",
  );
  for (const [name, value] of rows) say(`  ${String(name).padEnd(12)}${value}`);
  if (problem !== undefined) say(`\nThe bot cannot answer yet: ${problem}`);
  else if (addresses.playground !== undefined) {
    say(`\nOpen ${addresses.playground} in a browser and write to the bot. Ctrl-C stops everything.\n`);
  }
}

/**
 * Returns a function that stops everything that was started, in order, and then the process. Only its first call
 * counts.
 */
function onceStopped(
  say: (line: string) => void,
  closers: readonly (() => Promise<void>)[],
): (problem?: string) => void {
  let stopping = false;
  const stop = (problem?: string): void => {
    if (stopping) return;
    stopping = true;
    if (problem !== undefined) say(problem);
    say("Stopping ...");
    const closeAll = async (): Promise<void> => {
      for (const close of closers) await close();
    };
    closeAll().then(
      () => process.exit(problem === undefined ? 0 : 1),
      (error: unknown) => {
        process.stderr.write(`Not everything could be stopped properly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", () => stop());
  process.on("SIGTERM", () => stop());
  stopWithParent({ stdin: false, stop });
  return stop;
}

/**
 * Checks that no other bot uses the data, and removes it if `fresh` is set.
 * @throws {ServeError} when a bot that was started separately runs on the directory
 */
async function prepareData(directory: string, fresh: boolean, say: (line: string) => void): Promise<void> {
  const lock = await lockDataDirectory(directory);
  if (fresh) {
    for (const name of ["objects", "worker", "simulator.json"]) {
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

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
