import { InputFile } from "grammy";
import type { Api } from "grammy";
import type { User } from "grammy/types";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSimulator } from "../../../playground/telegram/simulator.ts";
import type { SimChat, Simulator } from "../../../playground/telegram/simulator.ts";
import { apiOf } from "./echo-bot.ts";

const onePixelPng = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
let simulator: Simulator;
let api: Api;
let alice: User;
let chat: SimChat;

beforeEach(async () => {
  simulator = await startSimulator();
  api = apiOf(simulator);
  alice = simulator.addUser({ first_name: "Alice" });
  chat = simulator.privateChat(alice);
});
afterEach(() => simulator.close());

describe("sendMessage", () => {
  it("shows the text in the chat", async () => {
    const message = await api.sendMessage(chat.id, "Hello there");
    expect(simulator.messages(chat)).toMatchObject([
      { id: message.message_id, text: "Hello there", from: { isBot: true } },
    ]);
  });

  it("refuses an unknown chat, an empty text and one of more than 4096 units", async () => {
    await expect(api.sendMessage(4711, "Hello")).rejects.toThrow("400: Bad Request: chat not found");
    await expect(api.sendMessage(chat.id, "")).rejects.toThrow("400: Bad Request: message text is empty");
    await expect(api.sendMessage(chat.id, "  \n ")).rejects.toThrow(
      "400: Bad Request: text must be non-empty",
    );
    await expect(api.sendMessage(chat.id, "x".repeat(4097))).rejects.toThrow(
      "400: Bad Request: message is too long",
    );
    await expect(api.sendMessage(chat.id, "😀".repeat(2048))).resolves.toMatchObject({
      text: "😀".repeat(2048),
    });
  });

  it("refuses a link that comes as an entity and leads nowhere, and drops one that comes as markup", async () => {
    const entities = [{ type: "text_link" as const, offset: 0, length: 4, url: "docs/guide.md" }];
    await expect(api.sendMessage(chat.id, "here", { entities })).rejects.toThrow(
      "400: Bad Request: entity URL 'docs/guide.md' is invalid: Wrong HTTP URL",
    );
    const sent = await api.sendMessage(chat.id, "[here](docs/guide.md)", { parse_mode: "MarkdownV2" });
    expect(sent.text).toBe("here");
    expect(sent.entities).toBeUndefined();
  });

  it("counts the text after its markup is parsed", async () => {
    const text = `<b>${"x".repeat(4096)}</b>`;
    const message = await api.sendMessage(chat.id, text, { parse_mode: "HTML" });
    expect(message.text).toHaveLength(4096);
  });

  it("uploads and serves a file", async () => {
    const message = await api.sendPhoto(chat.id, new InputFile(onePixelPng, "pixel.png"), {
      caption: "A *dot*",
      parse_mode: "MarkdownV2",
    });
    expect(message.caption_entities).toEqual([{ type: "bold", offset: 2, length: 3 }]);
    const file = await api.getFile(message.photo.at(-1)?.file_id ?? "");
    const response = await fetch(`${simulator.url}/file/bot${simulator.token}/${file.file_path}`);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(onePixelPng);
  });
});
