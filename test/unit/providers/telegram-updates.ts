import type { Chat, MessageEntity, Update, User } from "grammy/types";

type UpdateKind = Exclude<keyof Update, "update_id">;

export const botId = 700_001;
export const token = `${botId}:AAE-secret_part_of_the_token-0123456789`;

export const ada = {
  id: 1001,
  is_bot: false,
  first_name: "Ada",
  last_name: "Lovelace",
  username: "ada",
  language_code: "en",
} as const satisfies User;

export const bot = {
  id: botId,
  is_bot: true,
  first_name: "Support",
  username: "support_bot",
} as const satisfies User;

export const privateChat = {
  id: ada.id,
  type: "private",
  first_name: "Ada",
  username: "ada",
} as const satisfies Chat;
export const supergroup = {
  id: -1_001_234_567_890,
  type: "supergroup",
  title: "Team",
} as const satisfies Chat;
export const forum = { ...supergroup, id: -1_009_876_543_210, is_forum: true } as const satisfies Chat;
export const channel = { id: -1_005_555_555_555, type: "channel", title: "News" } as const satisfies Chat;

const date = 1_800_000_000;
let lastUpdateId = 90_000;

/** A message from Ada, in her private chat unless told otherwise. */
export function message<Fields extends object>(
  fields: Fields,
): ReturnType<typeof messageIn<Fields, typeof privateChat>>;
export function message<Fields extends object, In extends Chat>(
  fields: Fields,
  chat: In,
): ReturnType<typeof messageIn<Fields, In>>;
export function message(fields: object, chat: Chat = privateChat): object {
  return messageIn(fields, chat);
}

function messageIn<Fields extends object, In extends Chat>(fields: Fields, chat: In) {
  return { message_id: 45, date, chat, from: ada, ...fields };
}

export function update(fields: Partial<Record<UpdateKind, unknown>>): Update {
  lastUpdateId += 1;
  return { update_id: lastUpdateId, ...fields } as Update;
}

/** An entity on the first occurrence of `part` in `text`. */
export function entity(type: string, text: string, part: string, extra: object = {}): MessageEntity {
  return { type, offset: text.indexOf(part), length: part.length, ...extra } as MessageEntity;
}

/** One realistic example of each kind of update that the Bot API lists. The type makes it complete. */
export const examples: { readonly [Kind in UpdateKind]: NonNullable<Update[Kind]> } = {
  message: message({ text: "Where is my order?" }),
  edited_message: message({ text: "Where is my order 1001?", edit_date: date + 60 }),
  channel_post: {
    message_id: 12,
    date,
    chat: channel,
    sender_chat: channel,
    text: "We ship again.",
  },
  edited_channel_post: {
    message_id: 12,
    date,
    edit_date: date + 5,
    chat: channel,
    sender_chat: channel,
    text: "We ship again, everywhere.",
  },
  callback_query: {
    id: "4382bfdwdsb323b2d9",
    from: ada,
    chat_instance: "-334455",
    data: "approve:42",
    message: { message_id: 50, date, chat: privateChat, from: bot, text: "Refund?" },
  },
  my_chat_member: {
    chat: privateChat,
    from: ada,
    date,
    old_chat_member: { user: bot, status: "member" },
    new_chat_member: { user: bot, status: "kicked", until_date: 0 },
  },
  business_connection: {
    id: "bc-1",
    user: ada,
    user_chat_id: ada.id,
    date,
    is_enabled: true,
    rights: { can_reply: true },
  },
  business_message: message({ text: "Hello shop", business_connection_id: "bc-1" }),
  edited_business_message: message({
    text: "Hello",
    edit_date: date,
    business_connection_id: "bc-1",
  }),
  deleted_business_messages: {
    business_connection_id: "bc-1",
    chat: privateChat,
    message_ids: [1, 2],
  },
  guest_message: message({ text: "@support_bot hi", guest_query_id: "g-1" }, supergroup),
  stopped_message_generation: { chat: privateChat, draft_id: 3 },
  message_reaction: {
    chat: supergroup,
    message_id: 45,
    user: ada,
    date,
    old_reaction: [],
    new_reaction: [{ type: "emoji", emoji: "👍" }],
  },
  message_reaction_count: { chat: channel, message_id: 12, date, reactions: [] },
  inline_query: { id: "i-1", from: ada, query: "order", offset: "" },
  chosen_inline_result: { result_id: "r-1", from: ada, query: "order" },
  shipping_query: {
    id: "s-1",
    from: ada,
    invoice_payload: "p",
    shipping_address: {
      country_code: "DE",
      state: "",
      city: "Jena",
      street_line1: "A",
      street_line2: "",
      post_code: "1",
    },
  },
  pre_checkout_query: {
    id: "p-1",
    from: ada,
    currency: "EUR",
    total_amount: 100,
    invoice_payload: "p",
  },
  purchased_paid_media: { from: ada, paid_media_payload: "p" },
  poll: {
    id: "poll-1",
    question: "When?",
    options: [{ persistent_id: "1", text: "Now", voter_count: 1 }],
    total_voter_count: 1,
    is_closed: true,
    is_anonymous: true,
    type: "regular",
    allows_multiple_answers: false,
    allows_revoting: true,
    members_only: false,
  },
  poll_answer: { poll_id: "poll-1", user: ada, option_ids: [0], option_persistent_ids: ["1"] },
  chat_member: {
    chat: supergroup,
    from: ada,
    date,
    old_chat_member: { user: ada, status: "left" },
    new_chat_member: { user: ada, status: "member" },
  },
  chat_join_request: { chat: supergroup, from: ada, user_chat_id: ada.id, date },
  chat_boost: {
    chat: supergroup,
    boost: {
      boost_id: "b-1",
      add_date: date,
      expiration_date: date + 1,
      source: { source: "premium", user: ada },
    },
  },
  removed_chat_boost: {
    chat: supergroup,
    boost_id: "b-1",
    remove_date: date,
    source: { source: "premium", user: ada },
  },
  managed_bot: { user: ada, bot },
  subscription: { user: ada, invoice_payload: "p", state: "active" },
};

/** The keyed examples as whole updates. */
export function exampleUpdate(kind: UpdateKind): Update {
  return update({ [kind]: examples[kind] });
}

export const updateKinds = Object.keys(examples) as UpdateKind[];
