import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import { startServedBot, type ServedBot } from "../../lab/support/served-bot.ts";
import { startSimulator, type Simulator } from "../../playground/telegram/simulator.ts";
import { usePersonPage, type PersonPage } from "./person-page.ts";

/** Registers the hooks of a test file, as `usePersonPage` does: a bot that asks for every kind of answer. */
export function useAskingBot(): PersonPage {
  let started: { readonly bot: ServedBot; readonly simulator: Simulator } | undefined;
  const now = () => {
    if (started === undefined) throw new Error("The bot is there only while a test runs.");
    return started;
  };
  const person = usePersonPage(() => now().simulator);
  beforeAll(async () => {
    const simulator = await startSimulator({});
    const bot = await startServedBot({
      withDemo: true,
      config: path.resolve(import.meta.dirname, "../e2e/bots/asking/wrangler.jsonc"),
      env: {
        TELEGRAM_BOT_TOKEN: simulator.token,
        TELEGRAM_WEBHOOK_SECRET_TOKEN: "s3cret",
        TELEGRAM_BOT_USERNAME: simulator.bot.username ?? "",
        TELEGRAM_API_BASE_URL: simulator.url,
      },
    });
    simulator.setWebhook(`${bot.url}/messengers/telegram/webhook`, "s3cret");
    started = { bot, simulator };
  });
  afterAll(async () => {
    const { bot, simulator } = now();
    await bot.close();
    await simulator.close();
  });
  return person;
}
