import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandFile, startServedBot } from "../../lab/support/served-bot.ts";
import { startSimulator } from "../../playground/telegram/simulator.ts";
import type { Simulator } from "../../playground/telegram/simulator.ts";
import { codeExamples } from "../support/doc-pages.ts";
import { writeSampleBot } from "../support/sample-bot.ts";

/** The bot of `docs/guides/languages.md`, connected to Telegram in both ways that the command has. */
const root = path.resolve(import.meta.dirname, "../..");

let telegram: Simulator;
let folder: string;
let config: string;
let environment: Record<string, string>;

beforeAll(async () => {
  telegram = await startSimulator();
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-translated-"));
  const examples = codeExamples("docs/guides/languages.md");
  const commands = examples.find((code) => /description: \{ en: "[^"]*", de: "/.test(code)) ?? "";
  expect(commands).toContain("override getCommands()");
  config = await writeSampleBot(folder, commands);
  environment = {
    ADMIN_TOKEN: "of-the-operator",
    TELEGRAM_BOT_TOKEN: telegram.token,
    TELEGRAM_API_BASE_URL: telegram.url,
    TELEGRAM_WEBHOOK_SECRET_TOKEN: "s3cret",
  };
});
afterAll(async () => {
  await telegram.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs the command. Its first line is JSON. */
async function command(...parameters: string[]) {
  const child = spawn(process.execPath, [commandFile(), ...parameters, "--json", "--config", config], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: process.env.HOME,
      DATA_DIR: path.join(folder, "data"),
      PORT: "0",
      ...environment,
    },
  });
  const ended = once(child, "close");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const end = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  return { line: JSON.parse(line) as unknown, end };
}

/** A German writes to the bot, and reads its greeting. */
async function greet(): Promise<void> {
  const lena = telegram.addUser({ first_name: "Lena", language_code: "de" });
  const chat = telegram.privateChat(lena);
  telegram.sendText(chat, lena, "/start");
  const greeting = (): boolean =>
    telegram.messages(chat).some(({ text }) => text === "Hallo! Frag mich etwas.");
  await telegram.waitFor(greeting);
}

describe("a bot with translated commands", () => {
  it("is described at its start, and connected by `telegram setup`", async () => {
    const bot = await startServedBot({ config, env: environment, withDemo: true });
    const said = bot
      .logs()
      .split("\n")
      .find((line) => line.includes("serve.running"));
    const webhook = `${bot.url}/messengers/telegram/webhook`;
    expect(JSON.parse(said ?? "")).toMatchObject({
      bot: "SampleBot",
      model: "the built-in demo model",
      webhooks: webhook,
    });
    const { end, line } = await command("telegram", "setup", "--url", bot.url);
    await end();
    expect(line).toMatchObject({ webhook, commands: 5 });
    await greet();
    await bot.close();
  });

  it("is connected by `dev --telegram`", async () => {
    const { end, line } = await command("dev", "--telegram", "--yes");
    expect(line).toMatchObject({ ready: true, telegram: "https://t.me/switchboard_bot" });
    await greet();
    await end();
  });
});
