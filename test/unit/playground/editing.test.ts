import { InlineKeyboard, InputFile } from "grammy";
import type { Api } from "grammy";
import type { User } from "grammy/types";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSimulator } from "../../../playground/telegram/simulator.ts";
import type { SimChat, Simulator } from "../../../playground/telegram/simulator.ts";
import { createManualClock } from "./manual-clock.ts";
import { apiOf } from "./echo-bot.ts";

const clock = createManualClock();
let simulator: Simulator;
let api: Api;
let alice: User;
let chat: SimChat;

beforeEach(async () => {
  simulator = await startSimulator({ clock });
  api = apiOf(simulator);
  alice = simulator.addUser({ first_name: "Alice" });
  chat = simulator.privateChat(alice);
});
afterEach(() => simulator.close());

describe("edits", () => {
  it("change the visible text and keep what it was", async () => {
    const { message_id } = await api.sendMessage(chat.id, "One");
    await api.editMessageText(chat.id, message_id, "One two");
    expect(simulator.messages(chat)).toMatchObject([
      { text: "One two", history: [{ text: "One" }, { text: "One two" }] },
    ]);
  });

  it("refuse what changes nothing, compared after parsing", async () => {
    const { message_id } = await api.sendMessage(chat.id, "Hello <b>you</b>", { parse_mode: "HTML" });
    const same = api.editMessageText(chat.id, message_id, " Hello *you* ", { parse_mode: "MarkdownV2" });
    await expect(same).rejects.toThrow(
      "400: Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
    );
    await api.editMessageText(chat.id, message_id, "Hello you");
  });

  it("tell apart what is ours, what is another's and what is not there", async () => {
    const ours = await api.sendMessage(chat.id, "Ours");
    const theirs = simulator.sendText(chat, alice, "Theirs");
    await expect(api.editMessageReplyMarkup(chat.id, ours.message_id)).rejects.toThrow(
      "message is not modified",
    );
    await expect(api.editMessageReplyMarkup(chat.id, theirs.message_id)).rejects.toThrow(
      "400: Bad Request: message can't be edited",
    );
    await expect(api.editMessageReplyMarkup(chat.id, theirs.message_id + 1)).rejects.toThrow(
      "400: Bad Request: message to edit not found",
    );
  });

  it("refuse a text that is too long in the words for edits", async () => {
    const { message_id } = await api.sendMessage(chat.id, "One");
    await expect(api.editMessageText(chat.id, message_id, "x".repeat(4097))).rejects.toThrow(
      "400: Bad Request: MESSAGE_TOO_LONG",
    );
  });

  it("remove the buttons unless they are given again", async () => {
    const reply_markup = new InlineKeyboard().text("Yes", "y");
    const { message_id } = await api.sendMessage(chat.id, "Sure?", { reply_markup });
    await api.editMessageText(chat.id, message_id, "Done");
    expect(simulator.messages(chat)[0]?.buttons).toEqual([]);
  });

  it("tell captions from texts", async () => {
    const text = await api.sendMessage(chat.id, "Text");
    const file = await api.sendDocument(chat.id, new InputFile(Buffer.from("x"), "a.txt"), {
      caption: "Old",
    });
    await expect(api.editMessageCaption(chat.id, text.message_id, { caption: "x" })).rejects.toThrow(
      "there is no caption in the message to edit",
    );
    await expect(api.editMessageText(chat.id, file.message_id, "x")).rejects.toThrow(
      "there is no text in the message to edit",
    );
    await api.editMessageCaption(chat.id, file.message_id, { caption: "New" });
    expect(simulator.messages(chat)[1]).toMatchObject({ text: "New", attachments: [{ fileName: "a.txt" }] });
  });

  it("do not reach messages with a keyboard of the other kind", async () => {
    const reply_markup = { keyboard: [[{ text: "Menu" }]] };
    const { message_id } = await api.sendMessage(chat.id, "Choose", { reply_markup });
    await expect(api.editMessageText(chat.id, message_id, "x")).rejects.toThrow("message can't be edited");
  });
});

describe("edits of a picture", () => {
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const webFiles = new Map([
    ["https://shop.example/a.png", png],
    ["https://shop.example/b.png", Buffer.concat([png, Buffer.from("b")])],
  ]);
  const photo = (address: string, caption = "") => ({ type: "photo" as const, media: address, caption });
  const fileIn = () => simulator.messages(chat).at(-1)?.attachments[0]?.fileId;

  beforeEach(async () => {
    await simulator.close();
    simulator = await startSimulator({ webFiles });
    api = apiOf(simulator);
    alice = simulator.addUser();
    chat = simulator.privateChat(alice);
  });

  it("replace it with its caption and buttons, and refuse what changes nothing", async () => {
    const { message_id } = await api.sendPhoto(chat.id, "https://shop.example/a.png", { caption: "A" });
    const before = fileIn();
    await api.editMessageMedia(chat.id, message_id, photo("https://shop.example/b.png", "B"));
    expect(simulator.messages(chat)).toMatchObject([{ text: "B" }]);
    expect(fileIn()).not.toBe(before);
    await expect(
      api.editMessageMedia(chat.id, message_id, photo("https://shop.example/b.png", "B")),
    ).rejects.toThrow("400: Bad Request: message is not modified");
    await api.editMessageMedia(chat.id, message_id, photo("https://shop.example/b.png", "C"));
    expect(simulator.messages(chat)).toMatchObject([{ text: "C" }]);
  });

  it("refuse a message without a picture, and an address that has none", async () => {
    const { message_id } = await api.sendMessage(chat.id, "Text");
    await expect(
      api.editMessageMedia(chat.id, message_id, photo("https://shop.example/a.png")),
    ).rejects.toThrow("400: Bad Request: there is no media in the message to edit");
    await expect(api.sendPhoto(chat.id, "https://shop.example/c.png")).rejects.toThrow(
      "400: Bad Request: failed to get HTTP URL content",
    );
  });
});

describe("deletions", () => {
  it("remove a message from sight, and its number stays taken", async () => {
    const first = await api.sendMessage(chat.id, "One");
    await api.deleteMessage(chat.id, first.message_id);
    const second = await api.sendMessage(chat.id, "Two");
    expect(simulator.messages(chat).map((message) => message.id)).toEqual([second.message_id]);
    expect(second.message_id).toBe(first.message_id + 1);
    await expect(api.deleteMessage(chat.id, first.message_id)).rejects.toThrow("message to delete not found");
  });

  it("refuse others' messages in a group, and what is older than two days", async () => {
    const group = simulator.addGroup({ title: "Group", members: [alice] });
    const theirs = simulator.sendText(group, alice, "Theirs");
    await expect(api.deleteMessage(group.id, theirs.message_id)).rejects.toThrow("message can't be deleted");
    const ours = await api.sendMessage(chat.id, "Ours");
    clock.advance(49 * 3_600_000);
    await expect(api.deleteMessage(chat.id, ours.message_id)).rejects.toThrow("message can't be deleted");
  });
});

describe("buttons", () => {
  it("refuse data of more than 64 bytes", async () => {
    const reply_markup = new InlineKeyboard().text("Yes", "é".repeat(33));
    await expect(api.sendMessage(chat.id, "Sure?", { reply_markup })).rejects.toThrow("BUTTON_DATA_INVALID");
  });

  it("copy a text of at most 256 characters", async () => {
    const copying = (text: string) => ({
      reply_markup: { inline_keyboard: [[{ text: "Code", copy_text: { text } }]] },
    });
    await api.sendMessage(chat.id, "Sale", copying("SAVE10"));
    expect(simulator.messages(chat)[0]?.buttons).toEqual([[{ text: "Code", copyText: "SAVE10" }]]);
    await expect(api.sendMessage(chat.id, "Sale", copying("x".repeat(257)))).rejects.toThrow(
      "BUTTON_COPY_TEXT_INVALID",
    );
  });

  it("lead to a query that is answered once", async () => {
    const reply_markup = new InlineKeyboard().text("Yes", "yes-1");
    const { message_id } = await api.sendMessage(chat.id, "Sure?", { reply_markup });
    const query = simulator.pressButton(chat, alice, message_id, "Yes");
    expect(query).toMatchObject({
      data: "yes-1",
      from: { id: alice.id },
      message: { message_id, text: "Sure?" },
    });
    await api.answerCallbackQuery(query.id, { text: "Noted", show_alert: true });
    expect(simulator.callbackAnswers()).toMatchObject([
      { queryId: query.id, text: "Noted", showAlert: true },
    ]);
    await expect(api.answerCallbackQuery(query.id)).rejects.toThrow(
      "400: Bad Request: query is too old and response timeout expired or query ID is invalid",
    );
  });

  it("lead to a query that grows too old", async () => {
    const reply_markup = new InlineKeyboard().text("Yes", "yes-1");
    const { message_id } = await api.sendMessage(chat.id, "Sure?", { reply_markup });
    const query = simulator.pressButton(chat, alice, message_id, "yes-1");
    clock.advance(61_000);
    await expect(api.answerCallbackQuery(query.id)).rejects.toThrow("query is too old");
  });
});

describe("typing and drafts", () => {
  it("show typing for five seconds, or until the bot's message", async () => {
    await api.sendChatAction(chat.id, "typing");
    expect(simulator.typing(chat)).toBe(true);
    clock.advance(5001);
    expect(simulator.typing(chat)).toBe(false);
    await api.sendChatAction(chat.id, "typing");
    await api.sendMessage(chat.id, "Here");
    expect(simulator.typing(chat)).toBe(false);
  });

  it("show a draft for thirty seconds, or until the bot's message", async () => {
    await api.sendMessageDraft(chat.id, 7, "Partial");
    expect(simulator.draft(chat)).toMatchObject({ id: 7, text: "Partial" });
    clock.advance(30_001);
    expect(simulator.draft(chat)).toBeUndefined();
    await api.sendMessageDraft(chat.id, 7, "Partial again", { can_stop: true });
    simulator.stopDraft(chat);
    expect(simulator.draft(chat)).toBeUndefined();
    expect(simulator.updates().at(-1)?.update).toMatchObject({ stopped_message_generation: { draft_id: 7 } });
    await api.sendMessageDraft(chat.id, 8, "More");
    await api.sendMessage(chat.id, "All of it");
    expect(simulator.draft(chat)).toBeUndefined();
  });

  it("refuse drafts in groups", async () => {
    const group = simulator.addGroup({ title: "Group", members: [alice] });
    await expect(api.sendMessageDraft(group.id, 7, "x")).rejects.toThrow(
      "400: Bad Request: TEXTDRAFT_PEER_INVALID",
    );
  });
});
