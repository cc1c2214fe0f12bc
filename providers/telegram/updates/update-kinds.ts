import type { Update } from "grammy/types";

type UpdateKind = Exclude<keyof Update, "update_id">;

/**
 * Every kind of update in the Bot API, and whether this provider handles it. Reactions are ignored unless the bot
 * switches them on. If a newer Bot API adds a kind, the type check fails here. At run time such an update counts as
 * `unknown`.
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
  message_reaction: "reaction",
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
} as const satisfies Record<
  UpdateKind,
  "message" | "edit" | "callback" | "stop" | "membership" | "reaction" | "ignored"
>;

/** The way in which this provider treats an update. */
export type UpdateTreatment = (typeof updateKinds)[UpdateKind];

/** Updates that a bot wants beyond messages and presses. */
export interface WantedUpdates {
  /** @default false */
  readonly reactions?: boolean | undefined;
  /** Handler of every kind that Switchboard does not handle. @default none */
  readonly onUpdate?: unknown;
}

/**
 * Returns the kinds of updates that a webhook should ask for: `allowed_updates` of `setWebhook`.
 *
 * @param wanted the options of `telegramMessenger`: `reactions` adds `message_reaction`, and `onUpdate` adds every kind
 * of the Bot API
 */
export function allowedUpdatesFor({ onUpdate, reactions = false }: WantedUpdates): readonly UpdateKind[] {
  return (Object.keys(updateKinds) as UpdateKind[]).filter(
    (kind) => onUpdate !== undefined || treatmentOf(kind, reactions) !== "ignored",
  );
}

/** `allowed_updates` of a bot without `reactions` and `onUpdate`. */
export const allowedUpdates: readonly string[] = allowedUpdatesFor({});

function treatmentOf(kind: UpdateKind, reactions: boolean): UpdateTreatment {
  const treatment = updateKinds[kind];
  return treatment === "reaction" && !reactions ? "ignored" : treatment;
}

/** Returns the kind of an update and its treatment. The kind is a name from the Bot API, or `unknown`. */
export function updateKindOf(
  update: Readonly<Record<string, unknown>>,
  reactions: boolean,
): {
  readonly kind: UpdateKind | "unknown";
  readonly treatment: UpdateTreatment;
} {
  for (const key of Object.keys(update)) {
    if (isUpdateKind(key) && update[key] !== null && update[key] !== undefined) {
      return { kind: key, treatment: treatmentOf(key, reactions) };
    }
  }
  return { kind: "unknown", treatment: "ignored" };
}

function isUpdateKind(key: string): key is UpdateKind {
  return Object.hasOwn(updateKinds, key);
}
