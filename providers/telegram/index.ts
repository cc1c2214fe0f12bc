import { telegramMessenger } from "./messenger.ts";

export { telegramMessenger } from "./messenger.ts";
export { telegramFromEnv } from "./telegram-from-env.ts";
export type { TelegramEnvironment } from "./telegram-from-env.ts";
export type { TelegramMessengerOptions } from "./options.ts";
export { TelegramCallError } from "./call-error.ts";
export { allowedUpdates } from "./update-kinds.ts";

export default telegramMessenger;
