import { readdirSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { say } from "../../lab/support/model-script.ts";
import { lastUserText, startScriptedModel } from "../../lab/support/scripted-model.ts";
import { startServedBot, type ServedBot } from "../../lab/support/served-bot.ts";
import { startSimulator } from "../../playground/telegram/simulator.ts";
import { KEPT } from "../support/kept-answers.ts";
import { unpackData } from "../support/kept-data.ts";

const fixtures = path.resolve(import.meta.dirname, "../fixtures");
const config = path.resolve(import.meta.dirname, "../../examples/minimal/wrangler.jsonc");
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function unpacked(fixture: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "switchboard-upgrade-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  await unpackData(path.join(fixtures, fixture), folder);
  return folder;
}

async function serve(dataDirectory: string, env: Record<string, string>): Promise<ServedBot> {
  const bot = await startServedBot({
    config,
    dataDirectory,
    env: { TELEGRAM_WEBHOOK_SECRET_TOKEN: "kept", OPENAI_API_KEY: "scripted", MODEL: "scripted", ...env },
  });
  closers.push(() => bot.close());
  return bot;
}

describe.each(readdirSync(fixtures).filter((name) => /^data-.*\.gz$/.test(name)))(
  "the data in %s",
  (fixture) => {
    it("is taken up: an answer in mid-stream, a post that was lost, a message that waited", async () => {
      const folder = await unpacked(fixture);
      const model = await startScriptedModel();
      closers.push(() => model.close());
      model.script((request) => [say(KEPT.answers[lastUserText(request)] ?? "?")]);
      const simulator = await startSimulator({
        stateFile: path.join(folder, "simulator.json"),
        redelivery: { baseMs: 50, maxMs: 500 },
      });
      closers.push(() => simulator.close());
      const bot = await serve(folder, {
        TELEGRAM_BOT_TOKEN: simulator.token,
        TELEGRAM_BOT_USERNAME: simulator.bot.username ?? "",
        TELEGRAM_API_BASE_URL: simulator.url,
        OPENAI_BASE_URL: model.url,
      });
      simulator.setWebhook(`${bot.url}/messengers/telegram/webhook`, "kept");
      const shown = () =>
        Object.fromEntries(
          simulator.chats().map((chat) => {
            const messages = simulator.messages(chat);
            const person = messages.find(({ from }) => !from.isBot)?.from.name ?? "";
            return [person, messages.filter(({ from }) => from.isBot).map(({ text }) => text)] as const;
          }),
        );
      const whole = {
        Ada: [KEPT.answers[KEPT.streaming]],
        Bea: [KEPT.answers[KEPT.lost]],
        Cleo: [KEPT.answers[KEPT.first], KEPT.answers[KEPT.queued]],
      };
      await simulator
        .waitFor(() => JSON.stringify(shown()) === JSON.stringify(whole), { timeoutMs: 60_000 })
        .catch(() => undefined);
      expect(shown()).toEqual(whole);
    });
  },
);

it("refuses data of a newer version in one sentence, and keeps it as it is", async () => {
  const folder = await unpacked("data-0.1.0.gz");
  const objects = path.join(folder, "objects");
  const files = (await readdir(objects, { recursive: true })).filter((name) =>
    /[0-9a-f]{64}\.sqlite$/.test(name),
  );
  expect(files.length).toBeGreaterThan(3);
  for (const name of files) {
    const database = new DatabaseSync(path.join(objects, name));
    database.exec("CREATE TABLE inbox_v2 (seq INTEGER PRIMARY KEY)");
    database.close();
  }
  const bot = await serve(folder, { TELEGRAM_BOT_TOKEN: "7000000001:simulated-token" });
  const health = await fetch(`${bot.url}/health`);
  expect(health.status).toBe(503);
  expect(await health.json()).toMatchObject({
    problem: {
      code: "data-newer",
      message: expect.stringContaining("written by a newer version of Switchboard") as unknown,
    },
  });
  expect(bot.logs()).toContain("written by a newer version of Switchboard");
  const webhook = await fetch(`${bot.url}/messengers/telegram/webhook`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": "kept" },
    body: JSON.stringify({
      update_id: 1,
      message: {
        message_id: 9000,
        date: Math.floor(Date.now() / 1000),
        chat: { id: 100000001, type: "private", first_name: "Ada" },
        from: { id: 100000001, is_bot: false, first_name: "Ada" },
        text: "Hello",
      },
    }),
  });
  expect(webhook.status).toBe(503);
});
