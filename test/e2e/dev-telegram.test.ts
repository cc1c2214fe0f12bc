import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSimulator } from "../../playground/telegram/simulator.ts";
import type { Simulator } from "../../playground/telegram/simulator.ts";
import { commandFile } from "../../lab/support/served-bot.ts";

const root = path.resolve(import.meta.dirname, "../..");

let telegram: Simulator;
let dataDirectory: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  // It stands for the real Telegram: the command knows nothing but its token and address.
  telegram = await startSimulator();
  dataDirectory = await mkdtemp(path.join(tmpdir(), "switchboard-dev-"));
});
afterAll(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null && child.kill("SIGTERM"))
      await once(child, "exit");
  }
  await telegram.close();
  await rm(dataDirectory, { recursive: true, force: true });
});

/** Runs the command until its line of JSON. */
async function devTelegram(
  ...more: string[]
): Promise<{ child: ChildProcess; line: Record<string, unknown> }> {
  const config = path.join(root, "examples/minimal/wrangler.jsonc");
  const child = spawn(
    process.execPath,
    [commandFile(), "dev", "--telegram", "--json", "--config", config, ...more],
    {
      cwd: root,
      stdio: ["ignore", "pipe", "ignore"],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        HOME: process.env.HOME,
        DATA_DIR: dataDirectory,
        CACHE_DIR: path.join(root, "node_modules/.cache/switchboard"),
        PORT: "0",
        TELEGRAM_BOT_TOKEN: telegram.token,
        TELEGRAM_API_BASE_URL: telegram.url,
      },
    },
  );
  children.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, line: JSON.parse(line) as Record<string, unknown> };
}

describe("switchboard dev --telegram", () => {
  it("answers people of the real Telegram with nothing but the token, over a restart", async () => {
    telegram.setWebhook("http://127.0.0.1:9/live", "x");
    expect((await devTelegram()).line).toMatchObject({ error: { code: "webhook-set" } });

    const { child, line } = await devTelegram("--yes");
    expect(line).toMatchObject({ ready: true, telegram: "https://t.me/switchboard_bot" });
    const ada = telegram.addUser({ first_name: "Ada" });
    const chat = telegram.privateChat(ada);
    const answers = (): number => telegram.messages(chat).filter(({ from }) => from.isBot).length;
    telegram.sendText(chat, ada, "Hello!");
    await telegram.waitFor(() => answers() === 1);

    child.kill("SIGTERM");
    await once(child, "exit");
    expect(telegram.updates().map(({ state }) => state)).toEqual(["delivered"]);
    telegram.sendText(chat, ada, "Still there?", { date: Math.floor(Date.now() / 1000) + 60 });
    await devTelegram();
    await telegram.waitFor(() => answers() === 2);
    expect(telegram.messages(chat).filter(({ text }) => text === "Hello!")).toHaveLength(1);
  });
});
