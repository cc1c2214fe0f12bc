import { localText, sayTo, type BotTexts, type TextName } from "../core/bot-texts.ts";
import type { CommandContext, ThinkCommands } from "../messengers/declare/commands.ts";
import { addressOf } from "../messengers/replies/address-of.ts";
import type { BroadcastCalls } from "./broadcast-calls.ts";

/** Returns `/subscribe` and `/unsubscribe`, for the chat in which they are written. */
export function subscribeCommands(
  texts: BotTexts,
  root: () => Pick<BroadcastCalls, "setSubscribed">,
): ThinkCommands {
  const set = async ({ event }: CommandContext, isOn: boolean, changed: TextName, same: TextName) => {
    const hasChanged = await root().setSubscribed(addressOf(event), isOn);
    return sayTo({ texts }, event.author)(hasChanged ? changed : same);
  };
  return {
    subscribe: {
      description: localText(texts, "subscribeCommand"),
      handler: (command) => set(command, true, "subscribed", "subscribedAlready"),
    },
    unsubscribe: {
      description: localText(texts, "unsubscribeCommand"),
      handler: (command) => set(command, false, "unsubscribed", "unsubscribedAlready"),
    },
  };
}
