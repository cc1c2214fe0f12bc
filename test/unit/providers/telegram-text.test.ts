import { describe, expect, it } from "vitest";
import { createTelegramRig } from "./telegram-rig.ts";
import {
  bot,
  channel,
  entity,
  examples,
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

describe("text", () => {
  it("is what the person typed, markup characters and all", async () => {
    const text = "*not bold* _x_ `y` [a](b) <b>";
    const event = await received({ text });
    expect(event).toMatchObject({
      kind: "direct-message",
      provider: "telegram",
      messengerId: "bot",
      author: { userId: "1001", userName: "ada", fullName: "Ada Lovelace", isBot: false, language: "en" },
      message: { id: "45", text, sentAt: 1_800_000_000_000, isMention: false, attachments: [] },
    });
  });

  it("keeps formatted text as typed", async () => {
    const text = "bold and code";
    const entities = [entity("bold", text, "bold"), entity("code", text, "code")];
    expect((await received({ text, entities })).message?.text).toBe(text);
  });

  it("shows the target of a link behind its label, once, and not when the label is the target", async () => {
    const text = "see 😀 docs and example.org/ and docs";
    const entities = [
      entity("text_link", text, "docs", { url: "https://example.org/docs" }),
      entity("text_link", text, "example.org/", { url: "https://example.org/" }),
      { type: "text_link", offset: text.lastIndexOf("docs"), length: 4, url: "https://example.org/2" },
    ];
    expect((await received({ text, entities })).message?.text).toBe(
      "see 😀 docs (https://example.org/docs) and example.org/ and docs (https://example.org/2)",
    );
  });

  it("reads a caption as text", async () => {
    const event = await received({ caption: "my cat", photo: [{ file_id: "p", width: 1, height: 1 }] });
    expect(event.message?.text).toBe("my cat");
  });

  it.each([
    [{ location: { latitude: 50.9, longitude: 11.6 } }, "[Location: 50.9, 11.6]"],
    [
      {
        location: { latitude: 1, longitude: 2 },
        venue: { location: { latitude: 1, longitude: 2 }, title: "Bar", address: "Main St 1" },
      },
      "[Venue: Bar, Main St 1 1, 2]",
    ],
    [{ contact: { phone_number: "+49 1", first_name: "Bo", last_name: "Li" } }, "[Contact: Bo Li, +49 1]"],
    [
      { poll: { ...examples.poll, options: [{ text: "Now" }, { text: "Later" }] } },
      "[Poll: When?; Now / Later]",
    ],
    [{ dice: { emoji: "🎲", value: 4 } }, "[Dice: 🎲 4]"],
    [{ checklist: { title: "Shop", tasks: [{ id: 1, text: "Milk" }] } }, "[Checklist: Shop; Milk]"],
    [{ sticker: { file_id: "s", emoji: "🙂" } }, "[Sticker: 🙂]"],
    [{ sticker: { file_id: "s" } }, "[Sticker]"],
    [
      { gift: { gift: { id: "g", sticker: { file_id: "s", emoji: "🎁" }, star_count: 5 }, text: "For you" } },
      "[Gift: 🎁] For you",
    ],
    [{ unique_gift: { gift: { base_name: "Star", name: "Star-1", number: 1 } } }, "[Gift: Star]"],
    [
      { users_shared: { request_id: 1, users: [{ user_id: 5, first_name: "Bo" }, { user_id: 6 }] } },
      "[Shared users: Bo, 6]",
    ],
    [{ chat_shared: { request_id: 1, chat_id: -5, title: "Team" } }, "[Shared chat: Team]"],
    [{ web_app_data: { data: "size=4", button_text: "Choose" } }, '[Sent by the app "Choose"] size=4'],
    [{ rich_message: { blocks: [{ type: "divider" }] } }, "[A message of a kind that this bot cannot read]"],
    [{ something_of_next_year: { text: "x" } }, "[A message of a kind that this bot cannot read]"],
    [{ story: { chat: channel, id: 3 } }, "[Story]"],
    [
      {
        rich_message: {
          blocks: [
            { type: "heading", size: 1, text: "Plan" },
            { type: "paragraph", text: ["Buy ", { type: "bold", text: "milk" }, "."] },
            { type: "list", items: [{ label: "1.", blocks: [{ type: "paragraph", text: "now" }] }] },
          ],
        },
      },
      "Plan\nBuy milk.\n1. now",
    ],
  ])("puts what has no text into a readable line: %#", async (fields, line) => {
    const event = await received(fields);
    expect(event.kind).toBe("direct-message");
    expect(event.message?.text).toBe(line);
  });
});

describe("what cannot be read", () => {
  const strange = { something_of_next_year: { text: "x" } };

  it.each([strange, { dice: {} }, { location: { latitude: "x" } }, { text: "" }, {}])(
    "is still a message for the bot in a private chat: %#",
    async (fields) => {
      const event = await received(fields);
      expect(event).toMatchObject({
        kind: "direct-message",
        message: { text: "[A message of a kind that this bot cannot read]" },
      });
    },
  );

  it("is one in a group where it replies to the bot, and nothing otherwise", async () => {
    const reply = message({ message_id: 31, from: bot, text: "Here." }, supergroup);
    expect(await received({ ...strange, reply_to_message: reply }, supergroup)).toMatchObject({
      kind: "mention",
      message: { text: "[A message of a kind that this bot cannot read]" },
    });
    expect(await received(strange, supergroup)).toMatchObject({ kind: "service" });
  });

  it("does not make the bot answer a gift that somebody else gets", async () => {
    const gift = { gift: { gift: { id: "g" } } };
    expect(await received(gift, supergroup)).toMatchObject({ kind: "service", detail: "gift" });
  });
});
