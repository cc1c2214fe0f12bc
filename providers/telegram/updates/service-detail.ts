import type { Message } from "grammy/types";

/** Fields that only service messages have: something happened, and nobody wrote anything. */
const serviceDetails = {
  new_chat_members: "joined",
  left_chat_member: "left",
  new_chat_title: "title changed",
  new_chat_photo: "photo changed",
  delete_chat_photo: "photo deleted",
  group_chat_created: "group created",
  supergroup_chat_created: "supergroup created",
  channel_chat_created: "channel created",
  message_auto_delete_timer_changed: "auto-delete timer changed",
  migrate_to_chat_id: "upgraded to a supergroup",
  migrate_from_chat_id: "upgraded from a group",
  pinned_message: "pinned",
  successful_payment: "payment",
  refunded_payment: "refund",
  users_shared: "users shared",
  chat_shared: "chat shared",
  connected_website: "website connected",
  write_access_allowed: "write access allowed",
  passport_data: "passport data",
  proximity_alert_triggered: "proximity alert",
  boost_added: "boost added",
  chat_background_set: "background set",
  forum_topic_created: "topic created",
  forum_topic_edited: "topic edited",
  forum_topic_closed: "topic closed",
  forum_topic_reopened: "topic reopened",
  general_forum_topic_hidden: "general topic hidden",
  general_forum_topic_unhidden: "general topic shown",
  giveaway_created: "giveaway created",
  giveaway_completed: "giveaway completed",
  gift: "gift",
  gift_upgrade_sent: "gift upgraded",
  unique_gift: "unique gift",
  paid_message_price_changed: "message price changed",
  direct_message_price_changed: "direct message price changed",
  suggested_post_approved: "suggested post approved",
  suggested_post_approval_failed: "suggested post approval failed",
  suggested_post_declined: "suggested post declined",
  suggested_post_paid: "suggested post paid",
  suggested_post_refunded: "suggested post refunded",
  chat_owner_left: "owner left",
  chat_owner_changed: "owner changed",
  community_chat_added: "community joined",
  community_chat_removed: "community left",
  community_chat_joined: "joined from a community",
  managed_bot_created: "managed bot created",
  poll_option_added: "poll option added",
  poll_option_deleted: "poll option deleted",
  checklist_tasks_done: "checklist tasks done",
  checklist_tasks_added: "checklist tasks added",
  video_chat_scheduled: "video chat scheduled",
  video_chat_started: "video chat started",
  video_chat_ended: "video chat ended",
  video_chat_participants_invited: "video chat invitation",
  web_app_data: "web app data",
} as const satisfies Partial<Record<keyof Message, string>>;

/** Service messages that address the bot in a private chat, where the person waits for an answer. */
const toTheBot: ReadonlySet<string> = new Set([
  "gift",
  "unique_gift",
  "users_shared",
  "chat_shared",
  "web_app_data",
] satisfies (keyof typeof serviceDetails)[]);

/**
 * Returns the event of a service message, in words of this file only. Undefined if somebody wrote or sent something.
 */
export function serviceDetailOf(
  message: Readonly<Record<string, unknown>>,
  { isPrivate }: { readonly isPrivate: boolean },
): string | undefined {
  for (const [field, detail] of Object.entries(serviceDetails)) {
    const value = message[field];
    if (value === undefined || value === null || value === false) continue;
    if (!isPrivate || !toTheBot.has(field)) return detail;
  }
  return undefined;
}
