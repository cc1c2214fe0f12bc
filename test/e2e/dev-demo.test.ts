import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startBot, type BotProcess } from "../../playground/bot-process.ts";
import { startSimulator, type SimChat, type Simulator } from "../../playground/telegram/simulator.ts";

const CONFIGURATION = path.resolve("test/e2e/bots/bookings/wrangler.jsonc");

let bot: BotProcess;
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

/** Starts the bot without a model: as `dev` does, with the playground's modules around it, or as `serve` does. */
async function start(by: "dev" | "serve"): Promise<void> {
  bot = await startBot({
    environment: {
      PATH: process.env.PATH,
      TELEGRAM_BOT_TOKEN: simulator.token,
      TELEGRAM_WEBHOOK_SECRET_TOKEN: "s3cret",
      TELEGRAM_BOT_USERNAME: simulator.bot.username,
      TELEGRAM_API_BASE_URL: simulator.url,
    },
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

  it("runs nothing by hand where it is served", async () => {
    await start("serve");
    write("/call");
    await shown("I didn't understand that");
    expect(simulator.messages(chat).at(-1)?.text).not.toContain("book_table");
  });
});
