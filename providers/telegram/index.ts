import { telegramMessenger } from "./messenger.ts";

export { telegramMessenger } from "./messenger.ts";
export { telegramFromEnv } from "./telegram-from-env.ts";
export type { TelegramEnvironment } from "./telegram-from-env.ts";
export type { TelegramMessengerOptions, TelegramUpdateContext } from "./options.ts";
export { TelegramCallError } from "./call-error.ts";
export { allowedUpdates, allowedUpdatesFor, type WantedUpdates } from "./updates/update-kinds.ts";

export default telegramMessenger;
