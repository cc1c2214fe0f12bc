import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSimulator, type Simulator } from "../../../playground/telegram/simulator.ts";
import { startServedBot, type ServedBot } from "../../../lab/support/served-bot.ts";

const START_TIMEOUT_MS = 60_000;
const SECRET = "minimal-secret";

let simulator: Simulator;
let bot: ServedBot;

beforeAll(async () => {
  simulator = await startSimulator();
  bot = await startServedBot({
    withDemo: true,
    config: "examples/minimal/wrangler.jsonc",
    env: {
      TELEGRAM_BOT_TOKEN: simulator.token,
      TELEGRAM_WEBHOOK_SECRET_TOKEN: SECRET,
      TELEGRAM_API_BASE_URL: simulator.url,
    },
  });
  simulator.setWebhook(`${bot.url}/messengers/telegram/webhook`, SECRET);
}, START_TIMEOUT_MS);

afterAll(async () => {
  await bot.close();
  await simulator.close();
});

describe("the README's bot", () => {
  it("answers a private message, with the demo that `dev` gives it", async () => {
    const ann = simulator.addUser({ first_name: "Ann" });
    const chat = simulator.privateChat(ann);
    simulator.sendText(chat, ann, "hello");
    const answers = () => simulator.messages(chat).filter((message) => message.from?.isBot);
    await simulator.waitFor(() => answers().some(({ text }) => text?.endsWith("and start again.") ?? false));
    expect(answers()).toHaveLength(1);
    expect(answers()[0]?.text).toMatch(/^Hello! How can I help\?/);
  });
});
