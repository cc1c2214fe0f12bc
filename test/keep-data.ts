/**
 * `node test/keep-data.ts <version>`: makes the data of a bot that dies in the middle of its work, and keeps it in
 * `test/fixtures/`. Run it for each release. `test/e2e/upgrade-data.test.ts` starts the bot on all of them.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createGate } from "../lab/support/gate.ts";
import { holdAt, say } from "../lab/support/model-script.ts";
import { startScriptedModel, lastUserText } from "../lab/support/scripted-model.ts";
import { startServedBot } from "../lab/support/served-bot.ts";
import { startSimulator } from "../playground/telegram/simulator.ts";
import { keepData } from "./support/kept-data.ts";
import { KEPT } from "./support/kept-answers.ts";

const version = process.argv[2];
if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) throw new Error("Name the version: 0.1.0");

const folder = await mkdtemp(path.join(tmpdir(), "switchboard-keep-"));
const model = await startScriptedModel();
const simulator = await startSimulator({ stateFile: path.join(folder, "simulator.json") });
const bot = await startServedBot({
  config: path.join(import.meta.dirname, "../examples/minimal/wrangler.jsonc"),
  dataDirectory: folder,
  env: {
    TELEGRAM_BOT_TOKEN: simulator.token,
    TELEGRAM_WEBHOOK_SECRET_TOKEN: "kept",
    TELEGRAM_BOT_USERNAME: simulator.bot.username ?? "",
    TELEGRAM_API_BASE_URL: simulator.url,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "scripted",
    MODEL: "scripted",
  },
});
simulator.setWebhook(`${bot.url}/messengers/telegram/webhook`, "kept");
model.script((request) => {
  const text = lastUserText(request);
  const answer = KEPT.answers[text] ?? "";
  // The answers that are in the middle when the bot dies.
  return text === KEPT.lost
    ? [say(answer)]
    : [say(answer.slice(0, 40)), holdAt(createGate()), say(answer.slice(40))];
});
const [streaming, lost, busy] = ["Ada", "Bea", "Cleo"].map((first_name) => {
  const user = simulator.addUser({ first_name });
  return { user, chat: simulator.privateChat(user) };
});
if (streaming === undefined || lost === undefined || busy === undefined) throw new Error("Nobody is there.");
const hasText = (chat: typeof streaming.chat): boolean =>
  simulator.messages(chat).some(({ from }) => from.isBot);

simulator.sendText(streaming.chat, streaming.user, KEPT.streaming);
simulator.sendText(busy.chat, busy.user, KEPT.first);
await simulator.waitFor(() => hasText(streaming.chat) && hasText(busy.chat));
simulator.sendText(busy.chat, busy.user, KEPT.queued, { date: Math.floor(Date.now() / 1000) + 60 });
simulator.fault({ kind: "hang", processed: true, method: "sendMessage", chatId: lost.chat.id });
simulator.sendText(lost.chat, lost.user, KEPT.lost);
await simulator.waitFor(
  () => hasText(lost.chat) && !simulator.updates().some(({ state }) => state === "pending"),
);
await bot.kill("SIGKILL");
await simulator.close();
await keepData(
  folder,
  ["objects", "simulator.json"],
  path.join(import.meta.dirname, `fixtures/data-${version}.gz`),
);
await model.close();
await rm(folder, { recursive: true });
