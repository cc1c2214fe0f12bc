import { accountAnswer, commandsAnswer, doneAnswer, webhookInfoAnswer } from "./bot-api-answers.ts";
import type { BotApi } from "./bot-api.ts";
import { webhookState } from "./webhook-state.ts";
import type { WebhookState } from "./webhook-state.ts";

export interface TelegramInfo {
  readonly bot: string;
  readonly webhook: string | undefined;
  readonly pending: number;
  readonly updates: readonly string[];
  readonly commands: readonly string[];
  readonly state: WebhookState;
}

/**
 * Asks Telegram for the state of a bot's webhook and menu.
 *
 * @throws {BotApiCallError} if Telegram refuses a call
 */
export async function telegramInfo({
  api,
  now,
}: {
  readonly api: BotApi;
  readonly now: () => number;
}): Promise<TelegramInfo> {
  const me = await api.call("getMe", accountAnswer);
  const info = await api.call("getWebhookInfo", webhookInfoAnswer);
  const commands = await api.call("getMyCommands", commandsAnswer, { scope: { type: "all_private_chats" } });
  return {
    bot: `@${me.username}`,
    webhook: info.url || undefined,
    pending: info.pending_update_count,
    updates: info.allowed_updates ?? [],
    commands: commands.map(({ command }) => command),
    state: webhookState(info, now()),
  };
}

/** Removes a bot's webhook. Returns its address; undefined if there was none. */
export async function deleteTelegramWebhook({
  api,
  dropPending,
}: {
  readonly api: BotApi;
  readonly dropPending: boolean;
}): Promise<string | undefined> {
  const info = await api.call("getWebhookInfo", webhookInfoAnswer);
  await api.call("deleteWebhook", doneAnswer, { drop_pending_updates: dropPending });
  return info.url || undefined;
}
