import type { Update } from "grammy/types";

type UpdateKind = Exclude<keyof Update, "update_id">;

/**
 * Every kind of update in the Bot API, and whether this provider handles it. If a newer Bot API adds a kind, the type
 * check fails here. At run time such an update counts as `unknown`.
 */
const updateKinds = {
  message: "message",
  edited_message: "edit",
  channel_post: "message",
  edited_channel_post: "edit",
  callback_query: "callback",
  my_chat_member: "membership",
  business_connection: "ignored",
  business_message: "ignored",
  edited_business_message: "ignored",
  deleted_business_messages: "ignored",
  guest_message: "ignored",
  stopped_message_generation: "stop",
  message_reaction: "ignored",
  message_reaction_count: "ignored",
  inline_query: "ignored",
  chosen_inline_result: "ignored",
  shipping_query: "ignored",
  pre_checkout_query: "ignored",
  purchased_paid_media: "ignored",
  poll: "ignored",
  poll_answer: "ignored",
  chat_member: "ignored",
  chat_join_request: "ignored",
  chat_boost: "ignored",
  removed_chat_boost: "ignored",
  managed_bot: "ignored",
  subscription: "ignored",
} as const satisfies Record<UpdateKind, "message" | "edit" | "callback" | "stop" | "membership" | "ignored">;

/** The way in which this provider treats an update. */
export type UpdateTreatment = (typeof updateKinds)[UpdateKind];

/** The update kinds that a webhook should ask for: `allowed_updates` of `setWebhook`. */
export const allowedUpdates: readonly string[] = Object.entries(updateKinds)
  .filter(([, treatment]) => treatment !== "ignored")
  .map(([kind]) => kind);

/** Returns the kind of an update and its treatment. The kind is a name from the Bot API, or `unknown`. */
export function updateKindOf(update: Readonly<Record<string, unknown>>): {
  readonly kind: UpdateKind | "unknown";
  readonly treatment: UpdateTreatment;
} {
  for (const key of Object.keys(update)) {
    if (isUpdateKind(key) && update[key] !== null && update[key] !== undefined) {
      return { kind: key, treatment: updateKinds[key] };
    }
  }
  return { kind: "unknown", treatment: "ignored" };
}

function isUpdateKind(key: string): key is UpdateKind {
  return Object.hasOwn(updateKinds, key);
}
