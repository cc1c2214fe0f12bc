import { describe, expect, it } from "vitest";
import { describeChat as describeSdkChat } from "../../../providers/chat-sdk/describe-chat.ts";
import { describeChat } from "../../../providers/telegram/describe-chat.ts";
import { routeUpdate } from "../../../providers/telegram/routing.ts";
import type { ChatFacts } from "../../../src/core/chat/chat.ts";

const ADA = { id: 7, type: "private", first_name: "Ada", last_name: "Lovelace" };
const FROM = { id: 7, is_bot: false, first_name: "Ada", language_code: "de" };
const FORUM = { id: -1009, type: "supergroup", title: "Readers", is_forum: true };
const service = (fields: object) => ({ message: { message_id: 1, date: 1, from: FROM, ...fields } });
const message = (fields: object) => service({ text: "hi", ...fields });
const inTopic = (fields: object) =>
  service({ chat: FORUM, message_thread_id: 4, is_topic_message: true, ...fields });
const member = (chat: object, status: string) => ({
  my_chat_member: {
    chat,
    from: FROM,
    date: 1,
    old_chat_member: { status: "member" },
    new_chat_member: { status },
  },
});

function factsOf(update: object): ChatFacts {
  const routed = routeUpdate({ update_id: 1, ...update });
  if (routed.kind !== "routed") throw new Error(`the update is ${routed.kind}`);
  return describeChat(routed.event);
}

const PRIVATE = { kind: "private", title: "Ada Lovelace", language: "de", userId: "7" };
const GROUP = { kind: "supergroup", title: "Readers" };

describe("what a Telegram update shows of its chat", () => {
  it.each<[string, object, ChatFacts]>([
    ["a private message", message({ chat: ADA }), { ...PRIVATE, isReachable: true } as ChatFacts],
    [
      "a press in a private chat",
      { callback_query: { id: "1", from: FROM, message: { message_id: 1, date: 0, chat: ADA } } },
      { ...PRIVATE, isReachable: true } as ChatFacts,
    ],
    ["a message of a group", message({ chat: FORUM }), { ...GROUP, isReachable: true } as ChatFacts],
    [
      "a post of a channel",
      {
        channel_post: { message_id: 1, date: 1, chat: { id: -1, type: "channel", title: "News" }, text: "x" },
      },
      { kind: "channel", title: "News", isReachable: true },
    ],
    [
      "the stop button",
      { stopped_message_generation: { chat: ADA, draft_id: 1 } },
      { kind: "private", title: "Ada Lovelace", userId: "7", isReachable: true },
    ],
    ["a block", member(ADA, "kicked"), { ...PRIVATE, isReachable: false } as ChatFacts],
    ["an unblock", member(ADA, "member"), { ...PRIVATE, isReachable: true } as ChatFacts],
    ["a removal", member(FORUM, "left"), { ...GROUP, isReachable: false } as ChatFacts],
    [
      "the service message of a removal",
      service({ chat: FORUM, left_chat_member: { id: 1 } }),
      GROUP as ChatFacts,
    ],
    [
      "a new topic",
      inTopic({ forum_topic_created: { name: "Orders", icon_color: 1 } }),
      { ...GROUP, topic: { id: "4", name: "Orders" } } as ChatFacts,
    ],
    [
      "a topic with a new name",
      inTopic({ forum_topic_edited: { name: "Shipping" } }),
      { ...GROUP, topic: { id: "4", name: "Shipping" } } as ChatFacts,
    ],
    [
      "a message of a topic",
      inTopic({
        text: "hi",
        reply_to_message: { message_id: 4, date: 1, chat: FORUM, forum_topic_created: { name: "Orders" } },
      }),
      { ...GROUP, topic: { id: "4", firstName: "Orders" }, isReachable: true } as ChatFacts,
    ],
    [
      "a topic whose name is no text",
      inTopic({ forum_topic_edited: { name: 7 } }),
      { ...GROUP, topic: { id: "4" } } as ChatFacts,
    ],
  ])("is right for %s", (_name, update, facts) => {
    expect(factsOf(update)).toEqual(facts);
  });

  it.each([null, 7, {}, { message: null }, { callback_query: { message: 7 } }])("is total: %j", (raw) => {
    const thread = { id: "telegram:7", chatId: "7", isDirectMessage: true };
    expect(describeChat({ key: "1", thread, raw })).toMatchObject({ kind: "private", userId: "7" });
  });
});

describe("what an event of a Chat SDK adapter shows of its chat", () => {
  const author = { userId: "U1", userName: "ada", fullName: "Ada" };
  const direct = { id: "slack:D1", chatId: "slack:D1", isDirectMessage: true };

  it("is the person of a private chat", () => {
    const facts = { kind: "private", title: "Ada", userId: "U1", isReachable: true };
    expect(
      describeSdkChat({ key: "1", thread: direct, raw: { type: "message", message: { author } } }),
    ).toEqual(facts);
    expect(describeSdkChat({ key: "1", thread: direct, raw: { type: "action", user: author } })).toEqual(
      facts,
    );
    expect(describeSdkChat({ key: "1", thread: direct, raw: { type: "deleted" } })).toEqual({
      kind: "private",
      isReachable: true,
    });
  });

  it("is no person in a group", () => {
    const thread = { ...direct, isDirectMessage: false };
    const raw = { type: "message", message: { author } };
    expect(describeSdkChat({ key: "1", thread, raw })).toEqual({ kind: "group", isReachable: true });
  });
});
