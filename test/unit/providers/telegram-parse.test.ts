import { describe, expect, it } from "vitest";
import { createTelegramRig } from "./telegram-rig.ts";
import {
  ada,
  bot,
  botId,
  channel,
  entity,
  exampleUpdate,
  forum,
  message,
  privateChat,
  supergroup,
  update,
} from "./telegram-updates.ts";

const rig = createTelegramRig();

/** The event of a new message. */
function received(fields: Record<string, unknown>, chat: Parameters<typeof message>[1] = privateChat) {
  return rig.event(update({ message: message(fields, chat) }));
}

describe("who is addressed, in a group", () => {
  const inGroup = (fields: Record<string, unknown>) => received(fields, supergroup);

  it.each([
    ["its name", "hi @Support_Bot there", (text: string) => [entity("mention", text, "@Support_Bot")]],
    [
      "its id",
      "hi Support there",
      (text: string) => [entity("text_mention", text, "Support", { user: bot })],
    ],
    [
      "a command with its name",
      "so /help@support_bot",
      (text: string) => [entity("bot_command", text, "/help@support_bot")],
    ],
  ])("is the bot, by %s", async (_name, text, entities) => {
    const event = await inGroup({ text, entities: entities(text) });
    expect(event).toMatchObject({ kind: "mention", message: { text, isMention: true } });
  });

  it.each([
    ["@Support_Bot yes", "@Support_Bot", "yes"],
    ["@support_bot, no, too much", "@support_bot", "no, too much"],
    ["2 @support_bot", "@support_bot", "2"],
    ["yes, @support_bot", "@support_bot", "yes"],
    ["@support_bot", "@support_bot", undefined],
    ["ask @support_bot about it", "@support_bot", undefined],
    ["@other_bot yes", "@other_bot", undefined],
  ])("says to the bot, in %s, what is beside its name", async (text, name, said) => {
    const replied = message({ message_id: 40, from: bot, text: "Is this OK?" });
    const event = await inGroup({
      text,
      entities: [entity("mention", text, name)],
      reply_to_message: replied,
    });
    expect(event.message).toMatchObject({ text, isMention: true });
    expect(event.message?.textToBot).toBe(said);
  });

  it("is the bot, in a caption", async () => {
    const caption = "@support_bot look";
    const event = await inGroup({
      caption,
      caption_entities: [entity("mention", caption, "@support_bot")],
      photo: [{ file_id: "p" }],
    });
    expect(event.kind).toBe("mention");
  });

  it("is the bot, by a reply to one of its messages", async () => {
    const event = await inGroup({
      text: "and then?",
      reply_to_message: message({ message_id: 40, from: bot, text: "First." }),
    });
    expect(event).toMatchObject({
      kind: "mention",
      message: { quoted: { id: "40", text: "First.", isFromBot: true, author: { userId: String(botId) } } },
    });
  });

  it.each([
    ["another bot's name", "@other_bot hi", [{ type: "mention", offset: 0, length: 10 }]],
    [
      "a longer name that begins like the bot's",
      "@support_bot2 hi",
      [{ type: "mention", offset: 0, length: 13 }],
    ],
    ["nobody", "support_bot is nice", []],
    ["the name without an entity, as in code", "run @support_bot", [{ type: "code", offset: 4, length: 12 }]],
  ])("is not the bot, by %s", async (_name, text, entities) => {
    expect(await inGroup({ text, entities })).toMatchObject({
      kind: "message",
      message: { isMention: false },
    });
  });

  it("is the bot in a topic, by name", async () => {
    const text = "@support_bot hi";
    const event = await received(
      {
        text,
        entities: [entity("mention", text, "@support_bot")],
        message_thread_id: 7,
        is_topic_message: true,
      },
      forum,
    );
    expect(event).toMatchObject({ kind: "mention", thread: { id: `telegram:${forum.id}:7` } });
  });

  it("is nobody in a topic that the bot itself opened: its opening is no message that one answers", async () => {
    const event = await received(
      {
        text: "just talking",
        message_thread_id: 7,
        is_topic_message: true,
        reply_to_message: message(
          { message_id: 7, from: bot, forum_topic_created: { name: "Orders" } },
          forum,
        ),
      },
      forum,
    );
    expect(event.kind).toBe("message");
    expect(event.message?.quoted).toBeUndefined();
  });

  it("is the bot in a chain of replies that began with one of its messages", async () => {
    const event = await inGroup({
      text: "and this?",
      message_thread_id: 31,
      reply_to_message: message({ message_id: 31, from: bot, text: "Here." }, supergroup),
    });
    expect(event).toMatchObject({ kind: "mention", thread: { id: `telegram:${supergroup.id}` } });
  });
});

describe("commands", () => {
  const command = (text: string, length: number) => ({
    text,
    entities: [{ type: "bot_command", offset: 0, length }],
  });

  it("reads name and arguments", async () => {
    expect((await received(command("/Start  ref 42 ", 6))).message?.command).toEqual({
      name: "start",
      args: "ref 42",
    });
  });

  it("shows link targets in the arguments", async () => {
    const text = "/read this";
    const entities = [
      { type: "bot_command", offset: 0, length: 5 },
      { type: "text_link", offset: 6, length: 4, url: "https://example.org" },
    ];
    expect((await received({ text, entities })).message?.command?.args).toBe("this (https://example.org)");
  });

  it("counts a bare command in a group as addressed to the bot", async () => {
    expect(await received(command("/help", 5), supergroup)).toMatchObject({
      kind: "mention",
      message: { command: { name: "help", args: "" } },
    });
  });

  it("leaves another bot's command alone", async () => {
    const event = await received(command("/help@other_bot", 15), supergroup);
    expect(event.kind).toBe("message");
    expect(event.message?.command).toBeUndefined();
  });

  it("leaves a command alone that does not begin the message", async () => {
    const event = await received({
      text: "try /help",
      entities: [{ type: "bot_command", offset: 4, length: 5 }],
    });
    expect(event.message?.command).toBeUndefined();
  });

  it("gives no orders by an edit", async () => {
    const event = await rig.event(
      update({ edited_message: message({ ...command("/new", 4), edit_date: 1_800_000_009 }) }),
    );
    expect(event.kind).toBe("message-edited");
    expect(event.message).toMatchObject({ id: "45", text: "/new", editedAt: 1_800_000_009_000 });
    expect(event.message?.command).toBeUndefined();
  });
});

describe("the bot's own name", () => {
  const text = "@support_bot hi";
  const mention = () =>
    update({ message: message({ text, entities: [entity("mention", text, "@support_bot")] }, supergroup) });

  it("is not asked for when the options have it", async () => {
    const known = createTelegramRig();
    await known.event(mention());
    expect(known.identityReads()).toBe(0);
  });

  it("is taken from the stored identity when they do not", async () => {
    const unknown = createTelegramRig({ userName: undefined });
    expect((await unknown.event(mention())).kind).toBe("mention");
    expect(unknown.identityReads()).toBe(1);
  });

  it("is not asked for by a message that can be read without it", async () => {
    const unknown = createTelegramRig({ userName: undefined });
    await unknown.event(exampleUpdate("message"));
    await unknown.event(update({ message: message({ text: "no name" }, supergroup) }));
    await unknown.event(
      update({ message: message({ text: "/x", entities: [{ type: "bot_command", offset: 0, length: 2 }] }) }),
    );
    expect(unknown.identityReads()).toBe(0);
    expect(unknown.api.calls).toEqual([]);
  });
});

describe("quoted messages", () => {
  it("bring their text, author and files", async () => {
    const quotedFrom = { ...ada, id: 2002, username: "bob", first_name: "Bob", last_name: undefined };
    const event = await received({
      text: "this one",
      reply_to_message: message({
        message_id: 44,
        from: quotedFrom,
        caption: "a bill",
        document: {
          file_id: "d",
          file_unique_id: "u",
          file_name: "bill.pdf",
          mime_type: "application/pdf",
          file_size: 9,
        },
      }),
    });
    expect(event.message?.quoted).toEqual({
      id: "44",
      text: "a bill",
      author: { userId: "2002", userName: "bob", fullName: "Bob", isBot: false, language: "en" },
      isFromBot: false,
      attachments: [
        {
          kind: "document",
          reference: { fileId: "d", uniqueId: "u" },
          mediaType: "application/pdf",
          name: "bill.pdf",
          sizeBytes: 9,
        },
      ],
    });
  });

  it("bring only the part that the person marked", async () => {
    const event = await received({
      text: "why?",
      reply_to_message: message({ message_id: 44, text: "one two three" }),
      quote: { text: "two", position: 4, is_manual: true },
    });
    expect(event.message?.quoted?.text).toBe("two");
  });

  it("come from other chats too", async () => {
    const event = await received({
      text: "is this true?",
      external_reply: {
        origin: { type: "channel", date: 1, chat: channel, message_id: 12 },
        chat: channel,
        message_id: 12,
        photo: [{ file_id: "x", width: 1, height: 1 }],
      },
      quote: { text: "We ship again", position: 0 },
    });
    expect(event.message?.quoted).toMatchObject({
      id: "12",
      text: "We ship again",
      author: { userId: String(channel.id), fullName: "News", isChat: true },
      isFromBot: false,
      attachments: [{ kind: "image", reference: { fileId: "x" } }],
    });
  });
});

describe("files", () => {
  it.each([
    ["audio", { audio: { file_id: "f", mime_type: "audio/mpeg" } }, "audio", "audio/mpeg"],
    ["voice", { voice: { file_id: "f" } }, "voice", "audio/ogg"],
    ["video", { video: { file_id: "f", mime_type: "video/quicktime" } }, "video", "video/quicktime"],
    ["video note", { video_note: { file_id: "f", length: 3, duration: 1 } }, "video", "video/mp4"],
    ["animation", { animation: { file_id: "f" }, document: { file_id: "copy" } }, "animation", "video/mp4"],
    ["sticker", { sticker: { file_id: "f", emoji: "🙂" } }, "sticker", "image/webp"],
    ["moving sticker", { sticker: { file_id: "f", emoji: "🙂", is_video: true } }, "sticker", "video/webm"],
    ["document", { document: { file_id: "f" } }, "document", undefined],
  ])("refers to a %s", async (_name, fields, kind, mediaType) => {
    const { attachments } = (await received(fields)).message ?? { attachments: [] };
    expect(attachments).toHaveLength(1);
    expect(attachments[0]).toMatchObject({ kind, reference: { fileId: "f" } });
    expect(attachments[0]?.mediaType).toBe(mediaType);
  });

  it("takes the largest size of a photo that is at most 10 MB", async () => {
    const photo = [
      { file_id: "small", file_unique_id: "1", width: 90, height: 90, file_size: 1_000 },
      { file_id: "large", file_unique_id: "2", width: 900, height: 900, file_size: 9_000_000 },
      { file_id: "huge", file_unique_id: "3", width: 9000, height: 9000, file_size: 11_000_000 },
    ];
    expect((await received({ photo })).message?.attachments).toEqual([
      {
        kind: "image",
        reference: { fileId: "large", uniqueId: "2" },
        mediaType: "image/jpeg",
        sizeBytes: 9_000_000,
      },
    ]);
  });

  it("marks the messages of one album", async () => {
    const first = await received({
      message_id: 60,
      media_group_id: "g1",
      photo: [{ file_id: "a" }],
      caption: "both",
    });
    const second = await received({ message_id: 61, media_group_id: "g1", photo: [{ file_id: "b" }] });
    expect([first, second].map((event) => event.message?.albumId)).toEqual(["g1", "g1"]);
    expect(first.key).not.toBe(second.key);
  });
});

describe("authors", () => {
  const anonymous = { id: 1_087_968_824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" };

  it("is the group for its anonymous administrator", async () => {
    const event = await received({ from: anonymous, sender_chat: supergroup, text: "rules" }, supergroup);
    expect(event.author).toEqual({ userId: String(supergroup.id), fullName: "Team", isChat: true });
  });

  it("is the channel for a post of it, which is a message of a group", async () => {
    const event = await rig.event(exampleUpdate("channel_post"));
    expect(event).toMatchObject({
      kind: "message",
      author: { userId: String(channel.id), fullName: "News", isChat: true },
      thread: { id: `telegram:${channel.id}`, isDirectMessage: false, title: "News" },
    });
  });

  it("ignores what the bot wrote itself", async () => {
    expect(await received({ from: bot, text: "echo" }, supergroup)).toMatchObject({
      kind: "ignored",
      detail: "own message",
    });
  });
});

describe("presses and memberships", () => {
  it("reads a press of a button", async () => {
    expect(await rig.event(exampleUpdate("callback_query"))).toMatchObject({
      kind: "action",
      author: { userId: "1001" },
      action: { id: "4382bfdwdsb323b2d9", data: "approve:42", messageId: "50" },
      thread: { id: "telegram:1001" },
    });
  });

  it("reads a press of the stop button under a draft, in its topic too", async () => {
    expect(await rig.event(exampleUpdate("stopped_message_generation"))).toMatchObject({
      kind: "stop",
      author: { userId: "1001" },
      stop: { draftId: 3 },
      thread: { id: "telegram:1001", isDirectMessage: true },
    });
    const chat = { id: 1001, type: "private", first_name: "Ada" };
    const inTopic = update({
      stopped_message_generation: { chat, draft_id: 3, message_thread_id: 9 },
    });
    expect((await rig.event(inTopic)).thread).toMatchObject({ id: "telegram:1001:9", topicId: "9" });
  });

  it("reads a press under a message that is no longer accessible", async () => {
    const event = await rig.event(
      update({
        callback_query: {
          id: "c2",
          from: ada,
          data: "x",
          message: { chat: privateChat, message_id: 5, date: 0 },
        },
      }),
    );
    expect(event.action).toEqual({ id: "c2", data: "x", messageId: "5" });
  });

  it.each([
    [privateChat, "member", "kicked", "blocked"],
    [privateChat, "kicked", "member", "unblocked"],
    [supergroup, "left", "member", "added"],
    [supergroup, "left", "administrator", "added"],
    [supergroup, "member", "administrator", "rights changed"],
    [supergroup, "member", "kicked", "removed"],
    [supergroup, "administrator", "left", "removed"],
  ])("reads the bot's membership: %#", async (chat, before, now, detail) => {
    const event = await rig.event(
      update({
        my_chat_member: {
          chat,
          from: ada,
          date: 1,
          old_chat_member: { user: bot, status: before },
          new_chat_member: { user: bot, status: now },
        },
      }),
    );
    expect(event).toMatchObject({ kind: "membership", detail, author: { userId: "1001" } });
  });
});

describe("service messages", () => {
  it.each([
    [{ new_chat_members: [ada] }, "joined"],
    [{ left_chat_member: ada }, "left"],
    [{ new_chat_title: "Secret plans" }, "title changed"],
    [{ pinned_message: message({ text: "hidden words" }) }, "pinned"],
    [{ forum_topic_created: { name: "Orders", icon_color: 1 } }, "topic created"],
    [{ migrate_to_chat_id: -100_5 }, "upgraded to a supergroup"],
    [{ video_chat_started: {} }, "video chat started"],
    [{ something_of_next_year: { text: "x" } }, "content of an unknown kind"],
  ])("says what happened and nothing that was written: %#", async (fields, detail) => {
    const event = await received(fields, supergroup);
    expect(event).toMatchObject({ kind: "service", detail });
    expect(event.message).toBeUndefined();
  });
});

describe("a reaction", () => {
  const reactions = createTelegramRig({ reactions: true });
  const emoji = (name: string) => ({ type: "emoji", emoji: name });

  it("says what the person's reactions are, and what has changed", async () => {
    const event = await reactions.event(
      update({
        message_reaction: {
          chat: supergroup,
          message_id: 12,
          user: ada,
          date: 1_800_000_000,
          old_reaction: [emoji("👍"), emoji("🔥")],
          new_reaction: [emoji("🔥"), { type: "custom_emoji", custom_emoji_id: "5" }, { type: "paid" }],
        },
      }),
    );
    expect(event).toMatchObject({
      kind: "reaction",
      author: { userId: String(ada.id) },
      reaction: {
        messageId: "12",
        current: ["🔥", "custom:5", "paid"],
        added: ["custom:5", "paid"],
        removed: ["👍"],
      },
    });
  });

  it("is that of a chat, for an anonymous administrator", async () => {
    const event = await reactions.event(
      update({
        message_reaction: {
          chat: supergroup,
          message_id: 12,
          actor_chat: supergroup,
          date: 1_800_000_000,
          old_reaction: [emoji("👍")],
          new_reaction: [],
        },
      }),
    );
    expect(event).toMatchObject({
      author: { userId: String(supergroup.id) },
      reaction: { current: [], removed: ["👍"] },
    });
  });

  it("is ignored when it cannot be read", async () => {
    const event = await reactions.event(update({ message_reaction: { chat: supergroup } }));
    expect(event).toMatchObject({ kind: "ignored", detail: "unreadable reaction" });
  });
});
