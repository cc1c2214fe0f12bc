import { GrammyError } from "grammy";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSimulator } from "../../../playground/telegram/simulator.ts";
import type { SimChat, Simulator } from "../../../playground/telegram/simulator.ts";
import { apiOf } from "./echo-bot.ts";

let simulator: Simulator;
let chat: SimChat;

beforeEach(async () => {
  simulator = await startSimulator();
  chat = simulator.privateChat(simulator.addUser({ first_name: "Alice" }));
});
afterEach(() => simulator.close());

const methods = [
  "sendMessage",
  "editMessageText",
  "editMessageCaption",
  "editMessageReplyMarkup",
  "deleteMessage",
  "deleteMessages",
  "sendChatAction",
  "answerCallbackQuery",
  "sendPhoto",
  "sendDocument",
  "sendMediaGroup",
  "getFile",
  "setMyCommands",
  "setMessageReaction",
  "getChat",
  "getChatMember",
  "pinChatMessage",
  "sendMessageDraft",
  "setWebhook",
];

const names = [
  "text",
  "parse_mode",
  "entities",
  "reply_markup",
  "reply_parameters",
  "message_id",
  "message_ids",
  "message_thread_id",
  "caption",
  "media",
  "photo",
  "document",
  "commands",
  "scope",
  "reaction",
  "user_id",
  "draft_id",
  "allowed_updates",
  "callback_query_id",
  "action",
];

const value = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "HTML",
    "MarkdownV2",
    "Markdown",
    "<b>x</b>",
    "*x*",
    "[a](",
    "```",
    "||",
    ">q",
    "\\",
    "&#55357;",
    "typing",
  ),
  fc.array(
    fc.record({
      type: fc.constantFrom("bold", "pre", "text_link", "photo"),
      offset: fc.nat(9),
      length: fc.nat(9),
    }),
  ),
  fc.record({
    inline_keyboard: fc.array(
      fc.array(fc.dictionary(fc.constantFrom("text", "url", "callback_data"), fc.string())),
    ),
  }),
);

describe("whatever a bot sends", () => {
  it("is answered in the Bot API's form, and never by a fault of the simulator", async () => {
    const parameters = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 6 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...methods), parameters, async (method, body) => {
        const response = await fetch(`${simulator.url}/bot${simulator.token}/${method}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ chat_id: chat.id, ...body }),
        });
        const answer = (await response.json()) as { ok: boolean; error_code?: number; description?: string };
        expect(response.status).toBeLessThan(500);
        expect(answer.ok ? response.status : answer.error_code).toBe(response.status);
        if (!answer.ok) expect(answer.description).toMatch(/^(?:Bad Request|Forbidden|Not Found)/);
      }),
      { numRuns: 400 },
    );
  });

  it("does not end the simulator by an address that cannot be decoded", async () => {
    const response = await fetch(`${simulator.url}/file/bot${simulator.token}/%E0%A4%A`);
    expect(response.status).toBe(400);
    await apiOf(simulator).getMe();
  });
});

describe("a group that becomes a supergroup", () => {
  it("refuses messages under its old number and names the new one", async () => {
    const alice = simulator.addUser();
    const group = simulator.addGroup({ title: "G", type: "group", members: [alice] });
    const upgraded = simulator.upgradeGroup(group);
    const refusal = await apiOf(simulator)
      .sendMessage(group.id, "x")
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(GrammyError);
    expect(refusal).toMatchObject({
      description: "Bad Request: group chat was upgraded to a supergroup chat",
      parameters: { migrate_to_chat_id: upgraded.id },
    });
    await apiOf(simulator).sendMessage(upgraded.id, "x");
    const notices = simulator.updates().map(({ update }) => update.message);
    expect(notices.some((message) => message?.migrate_to_chat_id === upgraded.id)).toBe(true);
    expect(notices.some((message) => message?.migrate_from_chat_id === group.id)).toBe(true);
  });

  it("has the bot join the new chat, and leave the old one without a word", async () => {
    const alice = simulator.addUser();
    const group = simulator.addGroup({ title: "G", type: "group", members: [alice] });
    const before = simulator.updates().length;
    const response = await fetch(`${simulator.url}/_sim/upgradeGroup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ chatId: group.id }),
    });
    const { chat } = (await response.json()) as { chat: { id: number; type: string } };
    expect(chat.type).toBe("supergroup");
    const told = simulator.updates().slice(before);
    expect(told.map(({ kind, chatId }) => [kind, chatId])).toEqual([
      ["my_chat_member", chat.id],
      ["message", group.id],
      ["message", chat.id],
    ]);
  });
});
