/**
 * Contents of a message, in the order in which they are looked for: some messages have two of them, and the second says
 * less.
 */
const CONTENTS = [
  "photo",
  "animation",
  "sticker",
  "video_note",
  "video",
  "voice",
  "audio",
  "document",
  "story",
  "paid_media",
  "checklist",
  "poll",
  "dice",
  "game",
  "invoice",
  "contact",
  "venue",
  "location",
  "rich_message",
];

const EVENTS = {
  new_chat_members: "people joined",
  left_chat_member: "person left",
  new_chat_title: "group renamed",
  new_chat_photo: "group photo changed",
  delete_chat_photo: "group photo removed",
  group_chat_created: "group created",
  supergroup_chat_created: "group created",
  channel_chat_created: "channel created",
  migrate_to_chat_id: "group became a supergroup",
  migrate_from_chat_id: "supergroup made of a group",
  pinned_message: "message pinned",
  forum_topic_created: "topic created",
  forum_topic_edited: "topic renamed",
  forum_topic_closed: "topic closed",
  forum_topic_reopened: "topic reopened",
};

/** Names an update, such as "message: photo". A plain text needs no name, because the title shows it. */
export function updateTitle(kind, payload) {
  const what = contentOf(payload ?? {});
  return what === undefined ? kind : `${kind}: ${what}`;
}

function contentOf(payload) {
  const status = payload.new_chat_member?.status;
  if (status !== undefined) return status;
  const content = CONTENTS.find((name) => payload[name] !== undefined);
  if (content !== undefined) return content.replaceAll("_", " ");
  return Object.entries(EVENTS).find(([name]) => payload[name] !== undefined)?.[1];
}
