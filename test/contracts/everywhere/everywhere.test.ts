import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { say } from "../../../lab/support/model-script.ts";
import { startScriptedModel } from "../../../lab/support/scripted-model.ts";
import { startServedBot } from "../../../lab/support/served-bot.ts";
import { EmulatorServer } from "../emulator-server.ts";
import { GoogleChatEmulator } from "../gchat/emulator.ts";
import { platforms } from "../platforms.ts";
import { variablesOf } from "../variables-of.ts";

const ADA = { id: "7001", name: "Ada" };
const ANSWER = "I am here, too.";
const LIMIT = 60_000;

/** An add-on needs more of its owner than another app. */
const addOn: (typeof platforms)[string] = () => new GoogleChatEmulator({ isAddOn: true });

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

/** Asks as people do there. Resolves with the texts that the bot has posted then. */
async function ask({ emulator }: EmulatorServer, webhookUrl: string): Promise<readonly string[]> {
  const place = emulator.direct(ADA) ?? emulator.shared("everywhere") ?? "";
  const isMention = emulator.direct(ADA) === undefined;
  const acted = await emulator.act(
    emulator.talksByCommand === true
      ? { kind: "command", by: ADA, in: place, name: "ask", args: "Are you there?" }
      : { kind: "write", by: ADA, in: place, text: "Are you there?", isMention },
  );
  for (const webhook of acted?.webhooks ?? []) {
    const response = await fetch(webhook.request(webhookUrl));
    expect([emulator.name, response.status]).toEqual([emulator.name, 200]);
    await webhook.answered?.(response);
  }
  const texts = (): string[] =>
    emulator.seen(place).flatMap((message) => (message.by === "bot" ? message.text : []));
  await expect.poll(texts, { timeout: LIMIT, message: emulator.name }).toEqual([ANSWER]);
  return texts();
}

it("answers on all platforms at once, with the variables that an owner sets", async () => {
  const model = await startScriptedModel();
  closers.push(() => model.close());
  model.script(() => [say(ANSWER)]);
  const servers = await Promise.all(
    Object.values({ ...platforms, "Google Chat": addOn }).map(async (create) =>
      new EmulatorServer(await create()).start(),
    ),
  );
  closers.push(...servers.map((server) => () => server.close()));
  const origins = servers.map(({ emulator, url }) => emulator.env(url).PLATFORM_ORIGINS ?? "{}");
  const bot = await startServedBot({
    config: path.join(import.meta.dirname, "../bot/everywhere/wrangler.jsonc"),
    env: {
      ...Object.assign({}, ...servers.map(({ emulator, url }) => variablesOf(emulator, url))),
      PLATFORM_ORIGINS: JSON.stringify(Object.assign({}, ...origins.map((one) => JSON.parse(one) as object))),
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "scripted",
      MODEL: "scripted",
    },
  });
  closers.push(() => bot.close());
  const answers = await Promise.all(
    servers.map((server) => ask(server, `${bot.url}/messengers/${server.emulator.name}/webhook`)),
  );
  expect(answers).toEqual(servers.map(() => [ANSWER]));
  expect(model.requests()).toHaveLength(servers.length);
  expect(servers.flatMap(({ problems }) => problems)).toEqual([]);
});
