import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startScriptedModel } from "../lab/support/scripted-model.ts";
import { startSimulator } from "../playground/telegram/simulator.ts";
import { fromSources, readConfiguration } from "../ops/serve/bot-source.ts";
import { serveBot, type BotServer } from "../ops/serve/serve-bot.ts";
import { parseWorkerConfig } from "../ops/serve/worker-config.ts";
import { openWorkIn } from "./open-work-store.ts";
import { TestBot, type TestChat } from "./test-bot.ts";

export interface TestBotOptions {
  /** The bot's wrangler configuration. @default the nearest wrangler.jsonc of the current folder and those above it */
  readonly config?: string;
  /** Variables of the bot. They win over those that connect it to the simulator and to the scripted model. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts a bot with a simulated Telegram and a scripted model, and returns the private chat of a first person.
 *
 * The bot runs as it does in production: its code is bundled and served by workerd. The class is needed for its name
 * only, so values that a test sets in its own process do not reach the bot.
 *
 * @throws {Error} if the configuration does not bind the class, or the bot cannot start
 *
 * @example
 * ```ts
 * const chat = await testBot(MyBot);
 * await chat.say("hi");
 * expect(await chat.reply()).toContain("hi");
 * ```
 */
export async function testBot(
  botClass: { readonly name: string },
  options: TestBotOptions = {},
): Promise<TestChat> {
  const configFile = options.config === undefined ? nearestConfig() : path.resolve(options.config);
  await checkClass(configFile, botClass.name);
  const dataDirectory = await mkdtemp(path.join(tmpdir(), "switchboard-test-"));
  process.on("exit", () => rmSync(dataDirectory, { recursive: true, force: true }));
  const model = await startScriptedModel();
  const simulator = await startSimulator({ redelivery: { baseMs: 50, maxMs: 1_000 } });
  const log: string[] = [];
  const stop = new AbortController();
  const secret = randomBytes(24).toString("base64url");
  const closeAll = async (server?: BotServer): Promise<void> => {
    stop.abort();
    await server?.ended.catch(() => undefined);
    await simulator.close();
    await model.close();
    await rm(dataDirectory, { recursive: true, force: true });
  };
  try {
    const server = await serveBot({
      source: fromSources(configFile),
      dataDirectory,
      host: "127.0.0.1",
      port: 0,
      environment: {
        PATH: process.env.PATH,
        DEBUG: "1",
        TELEGRAM_BOT_TOKEN: simulator.token,
        TELEGRAM_WEBHOOK_SECRET_TOKEN: secret,
        TELEGRAM_BOT_USERNAME: simulator.bot.username,
        TELEGRAM_API_BASE_URL: simulator.url,
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: "scripted",
        MODEL: "scripted",
        ...options.env,
      },
      passedOn: Object.keys(options.env ?? {}),
      say: () => {},
      write: (line) => void log.push(line),
      stopped: stop.signal,
    });
    if (server.health?.kind === "problem") throw new Error(`The bot is not ready: ${server.health.message}`);
    simulator.setWebhook(`${server.url}/messengers/telegram/webhook`, secret);
    const bot = new TestBot({
      simulator,
      model,
      server,
      log,
      openWork: openWorkIn(dataDirectory),
      close: () => closeAll(server),
    });
    return bot.person("Alex");
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Checks the class before the bot starts, because a wrong configuration would run another bot. */
async function checkClass(configFile: string, className: string): Promise<void> {
  const { bindings } = parseWorkerConfig(await readConfiguration(configFile), configFile);
  const bound = bindings.map((binding) => binding.className);
  if (bound.includes(className)) return;
  throw new Error(
    `${configFile} binds ${bound.join(", ") || "no class"}, not ${className}. Name the bot's own configuration: testBot(${className}, { config })`,
  );
}

function nearestConfig(): string {
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    const file = path.join(folder, "wrangler.jsonc");
    if (existsSync(file)) return file;
    if (folder === path.dirname(folder)) {
      throw new Error(
        `There is no wrangler.jsonc in ${process.cwd()} or above it. Name the bot's configuration: { config }`,
      );
    }
  }
}
