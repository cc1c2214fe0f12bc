/** The simulator, a scripted model and the served bot, wired to each other for an end-to-end test. */
import { startSimulator, type Simulator } from "../../playground/telegram/simulator.ts";
import { startScriptedModel, type ScriptedModel } from "./scripted-model.ts";
import { startServedBot, type ServedBot } from "./served-bot.ts";

export interface Rig {
  readonly simulator: Simulator;
  readonly model: ScriptedModel;
  readonly bot: ServedBot;
  /** Address to which the simulator posts updates. */
  readonly webhookUrl: string;
  readonly secret: string;
  close(): Promise<void>;
}

const SECRET = "rig-webhook-secret";

export async function startRig(
  options: {
    simulator?: Parameters<typeof startSimulator>[0];
    /** Additional variables, which override the bot's own. */
    env?: Record<string, string>;
    config?: string;
    /** Whether the demo model answers instead of the scripted one. */
    withDemo?: boolean;
  } = {},
): Promise<Rig> {
  const model = await startScriptedModel();
  const simulator = await startSimulator(options.simulator ?? {});
  const bot = await startServedBot({
    ...(options.config === undefined ? {} : { config: options.config }),
    withDemo: options.withDemo ?? false,
    env: {
      TELEGRAM_BOT_TOKEN: simulator.token,
      TELEGRAM_WEBHOOK_SECRET_TOKEN: SECRET,
      TELEGRAM_BOT_USERNAME: simulator.bot.username ?? "",
      TELEGRAM_API_BASE_URL: simulator.url,
      ...(options.withDemo !== true && {
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: "scripted",
        MODEL: "scripted",
      }),
      ...options.env,
    },
  });
  const webhookUrl = `${bot.url}/messengers/telegram/webhook`;
  simulator.setWebhook(webhookUrl, SECRET);
  return {
    simulator,
    model,
    bot,
    webhookUrl,
    secret: SECRET,
    async close() {
      await bot.close();
      await simulator.close();
      await model.close();
    },
  };
}
