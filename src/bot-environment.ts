import type { TelegramEnvironment } from "../providers/telegram/index.ts";
import type { ModelEnvironment } from "./models/index.ts";

/**
 * The environment of a Telegram bot: everything that `modelFromEnv` and `telegramFromEnv` read. Extend it with names of
 * your own.
 */
export interface BotEnvironment extends ModelEnvironment, TelegramEnvironment {}
