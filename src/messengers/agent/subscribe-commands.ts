import type { ThinkCommands } from "../declare/commands.ts";
import { addressOf } from "../replies/address-of.ts";
import type { BroadcastCalls } from "../root/broadcast-calls.ts";

const SUBSCRIBED = "You're subscribed. Send /unsubscribe whenever you've had enough.";
const SUBSCRIBED_ALREADY = "You're already subscribed. Send /unsubscribe whenever you've had enough.";
const UNSUBSCRIBED = "You're unsubscribed. Send /subscribe if you change your mind.";
const UNSUBSCRIBED_ALREADY = "You aren't subscribed. Send /subscribe if you'd like to be.";

/** Returns `/subscribe` and `/unsubscribe`, for the chat in which they are written. */
export function subscribeCommands(root: () => Pick<BroadcastCalls, "setSubscribed">): ThinkCommands {
  return {
    subscribe: {
      description: "Get news in this chat",
      handler: async ({ event }) =>
        (await root().setSubscribed(addressOf(event), true)) ? SUBSCRIBED : SUBSCRIBED_ALREADY,
    },
    unsubscribe: {
      description: "Get no more news in this chat",
      handler: async ({ event }) =>
        (await root().setSubscribed(addressOf(event), false)) ? UNSUBSCRIBED : UNSUBSCRIBED_ALREADY,
    },
  };
}
