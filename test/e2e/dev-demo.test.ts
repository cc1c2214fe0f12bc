import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "../../cli/run-command.ts";
import { startServedBot } from "../../lab/support/served-bot.ts";
import { demoScript } from "../../playground/demo-model/demo-script.ts";
import { startBot, type BotProcess } from "../../playground/bot-process.ts";
import { startSimulator, type SimChat, type Simulator } from "../../playground/telegram/simulator.ts";

const CONFIGURATION = path.resolve("test/e2e/bots/bookings/wrangler.jsonc");

let bot: Pick<BotProcess, "stop" | "url">;
let chat: SimChat;
let folder: string;
let simulator: Simulator;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-demo-"));
  simulator = await startSimulator();
  chat = simulator.privateChat(simulator.addUser({ first_name: "Ann" }));
});
afterEach(async () => {
  await bot.stop();
  await simulator.close();
  await rm(folder, { recursive: true });
});

const variables = () => ({
  TELEGRAM_BOT_TOKEN: simulator.token,
  TELEGRAM_WEBHOOK_SECRET_TOKEN: "s3cret",
  TELEGRAM_BOT_USERNAME: simulator.bot.username ?? "",
  TELEGRAM_API_BASE_URL: simulator.url,
});

/** Starts the bot without a model, as `dev` or `dev --telegram` does. */
async function start(by: "dev" | "dev --telegram"): Promise<void> {
  bot = await startBot({
    environment: { PATH: process.env.PATH, ...variables() },
    dataDirectory: folder,
    port: 0,
    configFile: CONFIGURATION,
    say: () => {},
    onLine: () => {},
    ...(by === "dev" && { clockShiftMs: () => 0 }),
  });
  simulator.setWebhook(`${bot.url}/messengers/telegram/webhook`, "s3cret");
}

const isLike = (text: string, wanted: string | RegExp) =>
  typeof wanted === "string" ? text.includes(wanted) : wanted.test(text);
const shown = (text: string | RegExp) =>
  simulator.waitFor(
    () => simulator.messages(chat).some((message) => message.from.isBot && isLike(message.text, text)),
    { timeoutMs: 60_000 },
  );
const write = (text: string) => simulator.sendText(chat, chat.id, text);

describe("a bot without a model", () => {
  it("is tried under `dev`, from its tools to an action that somebody agrees to", async () => {
    await start("dev");
    write("Is there a table on 24 December?");
    await shown("I can't answer that. Without a model you can run this bot's tools and actions yourself:");
    await shown('/call free_tables {"day":"2030-12-24"}');
    write('/call free_tables {"day":"2026-12-24"}');
    await shown('"free": 3');
    write('/call free_tables {"day":"tomorrow"}');
    await shown(/The input is not valid: day: .*/);
    write('/call book_table {"people":40}');
    await shown(/The input is not valid: people: .*/);
    write('/call book_table {"people":4}');
    const asked = () => simulator.messages(chat).findLast(({ buttons }) => buttons.length > 0);
    await simulator.waitFor(() => asked() !== undefined, { timeoutMs: 60_000 });
    simulator.pressButton(chat, chat.id, asked()?.id ?? 0, "Approve");
    await shown(/Approved by Ann[\s\S]*Table: 7/);
    expect(simulator.messages(chat).map(({ text }) => text)).not.toContainEqual(
      expect.stringMatching(/\border\b/),
    );
  });

  it("runs nothing by hand on the real Telegram", async () => {
    await start("dev --telegram");
    write("/call");
    await shown("I didn't understand that");
    expect(simulator.messages(chat).at(-1)?.text).not.toContain("book_table");
  });

  it("says where it is served that it cannot answer, and its operator reads what to set", async () => {
    const served = await startServedBot({ config: CONFIGURATION, env: variables(), dataDirectory: folder });
    bot = { url: served.url, stop: () => served.close() };
    simulator.setWebhook(`${bot.url}/messengers/telegram/webhook`, "s3cret");
    await served.logged(/not ready: No model is set\. Set OPENAI_BASE_URL/);
    const health = await fetch(`${bot.url}/health`);
    expect(health.status).toBe(503);
    expect(await health.json()).toMatchObject({ problem: { code: "model-not-set" } });
    write("hello");
    await shown("Sorry, something went wrong");
  });
});

/** The first words of the demo's help, and of its notice. */
const OF_THE_DEMO = ["the demo knows only a few sentences", "You are talking to the built-in demo"];

it("leaves the demo out of a build, whose model is still to be set", async () => {
  bot = { url: "", stop: () => Promise.resolve() };
  let output = "";
  const io = { folder: process.cwd(), environment: {}, isInteractive: false };
  const code = await runCommand(["build", "--config", CONFIGURATION, "--out", path.join(folder, "build")], {
    ...io,
    write: (text) => (output += text),
    writeError: (text) => (output += text),
  });
  expect(code).toBe(0);
  expect(output).toContain("No model is set here. Set OPENAI_BASE_URL");
  const built = await readFile(path.join(folder, "build/worker.js"), "utf8");
  const demo = await demoScript({ canCall: false });
  for (const words of OF_THE_DEMO) {
    expect(demo).toContain(words);
    expect(built).not.toContain(words);
  }
});
