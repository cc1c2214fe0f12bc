import fc from "fast-check";
import type { Api } from "grammy";
import type { InputRichMessageWithoutUpload, RichBlock, User } from "grammy/types";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { splitText } from "../../../delivery/text/split/index.ts";
import { richBlocks } from "../../../delivery/text/render/index.ts";
import { CallParameters } from "../../../playground/telegram/bot-api/call-parameters.ts";
import { readRichMessage } from "../../../playground/telegram/bot-api/rich/read-rich-message.ts";
import { startSimulator } from "../../../playground/telegram/simulator.ts";
import type { SimChat, Simulator } from "../../../playground/telegram/simulator.ts";
import { toInputRichMessage } from "../../../providers/telegram/rich-message.ts";
import { markdown } from "../delivery/split/arbitrary-markdown.ts";
import { corpus } from "../delivery/split/corpus.ts";
import { apiOf } from "./echo-bot.ts";

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

type Blocks = NonNullable<InputRichMessageWithoutUpload["blocks"]>;

const report: Blocks = [
  { type: "heading", size: 1, text: "Report" },
  { type: "paragraph", text: ["Some ", { type: "bold", text: "bold" }, " words"] },
  {
    type: "list",
    items: [
      { value: 3, type: "1", blocks: [{ type: "paragraph", text: "three" }] },
      {
        value: 4,
        type: "1",
        has_checkbox: true,
        is_checked: true,
        blocks: [{ type: "paragraph", text: "four" }],
      },
    ],
  },
  {
    type: "table",
    cells: [
      [
        { text: "a", is_header: true, align: "left", valign: "top" },
        { text: "b", is_header: true, align: "left", valign: "top" },
      ],
      [
        { text: "1", align: "left", valign: "top" },
        { text: "2", align: "left", valign: "top" },
      ],
    ],
  },
  { type: "blockquote", blocks: [{ type: "paragraph", text: "quoted" }] },
  { type: "mathematical_expression", expression: "x^2" },
];
const words = "Report\n\nSome bold words\n\n3. three\n4. ☑ four\n\na │ b\n1 │ 2\n\n> quoted\n\nx^2";
const paragraph = (text: string): Blocks => [{ type: "paragraph", text }];

describe("rich messages", () => {
  it("stand in the chat with their words, and come back as blocks", async () => {
    const sent = await api.sendRichMessage(chat.id, { blocks: report });
    expect(sent.rich_message.blocks.map(({ type }) => type)).toEqual(report.map(({ type }) => type));
    expect("text" in sent).toBe(false);
    expect(simulator.messages(chat)).toMatchObject([{ id: sent.message_id, text: words }]);
    expect(simulator.messages(chat)[0]?.rich?.[2]).toMatchObject({
      items: [{ label: "3." }, { label: "4." }],
    });
  });

  it("are edited, also from and to a text, and not without a change", async () => {
    const { message_id: id } = await api.sendMessage(chat.id, "first");
    await api.editMessageText(chat.id, id, { blocks: paragraph("second") });
    expect(simulator.messages(chat)[0]).toMatchObject({ text: "second", rich: paragraph("second") });
    await expect(api.editMessageText(chat.id, id, { blocks: paragraph("second") })).rejects.toThrow(
      "message is not modified",
    );
    await expect(api.editMessageReplyMarkup(chat.id, id)).rejects.toThrow("message is not modified");
    await api.editMessageText(chat.id, id, "second");
    expect(simulator.messages(chat)[0]).toMatchObject({ text: "second" });
    expect(simulator.messages(chat)[0]?.rich).toBeUndefined();
    expect(simulator.messages(chat)[0]?.history.map(({ text }) => text)).toEqual([
      "first",
      "second",
      "second",
    ]);
  });

  it("are drafts in private chats, where they may say that the bot thinks", async () => {
    const group = simulator.addGroup({ title: "Group", members: [alice] });
    const blocks = [{ type: "thinking" as const, text: "Looking it up" }];
    await api.sendRichMessageDraft(chat.id, 7, { blocks }, { can_stop: true });
    expect(simulator.draft(chat)).toMatchObject({ id: 7, text: "Looking it up", canStop: true });
    await expect(api.sendRichMessage(chat.id, { blocks })).rejects.toThrow("RICH_MESSAGE_BLOCK_NOT_ALLOWED");
    await expect(api.sendRichMessageDraft(group.id, 7, { blocks: paragraph("x") })).rejects.toThrow(
      "TEXTDRAFT_PEER_INVALID",
    );
  });

  const deep = (levels: number): Blocks =>
    levels === 0 ? paragraph("x") : [{ type: "blockquote", blocks: deep(levels - 1) }];
  const cell = { text: "x", align: "left" as const, valign: "top" as const };

  it.each<[string, Blocks, string]>([
    ["nothing at all", [], "RICH_MESSAGE_EMPTY"],
    ["an empty heading", [{ type: "heading", size: 2, text: "" }], "RICH_MESSAGE_CONTENT_REQUIRED"],
    ["empty code", [{ type: "pre", text: " " }], "RICH_MESSAGE_CONTENT_REQUIRED"],
    ["an empty quote", [{ type: "blockquote", blocks: [] }], "RICH_MESSAGE_CONTENT_REQUIRED"],
    ["an empty item", [{ type: "list", items: [{ blocks: [] }] }], "RICH_MESSAGE_CONTENT_REQUIRED"],
    ["a list without items", [{ type: "list", items: [] }], "list must be non-empty"],
    [
      "half an ordered list",
      [
        {
          type: "list",
          items: [{ blocks: paragraph("x") }, { blocks: paragraph("y"), value: 1, type: "1" }],
        },
      ],
      "list must be either ordered or unordered",
    ],
    ["a text that is too long", paragraph("x".repeat(32_769)), "RICH_MESSAGE_TEXT_TOO_LONG"],
    [
      "too many blocks",
      Array.from({ length: 501 }, () => paragraph("x")).flat(),
      "RICH_MESSAGE_BLOCKS_TOO_MANY",
    ],
    ["blocks that nest too deep", deep(16), "RICH_MESSAGE_DEPTH_INVALID"],
    [
      "a table that is too wide",
      [{ type: "table", cells: [Array.from({ length: 21 }, () => cell)] }],
      "RICH_MESSAGE_TABLE_COLS_TOO_MANY",
    ],
    [
      "too many formatted runs",
      [
        {
          type: "paragraph",
          text: Array.from({ length: 5_850 }, () => ({ type: "bold" as const, text: "b" })),
        },
      ],
      "RICH_MESSAGE_TOO_LARGE",
    ],
    [
      "an address without a host",
      [{ type: "paragraph", text: { type: "url", text: "x", url: "http://localhost/" } }],
      "RICH_MESSAGE_URL_INVALID",
    ],
  ])("are refused with %s", async (_name, blocks, description) => {
    await expect(api.sendRichMessage(chat.id, { blocks })).rejects.toThrow(
      `400: Bad Request: ${description}`,
    );
    expect(simulator.messages(chat)).toEqual([]);
  });

  it("are taken up to their limits", async () => {
    await api.sendRichMessage(chat.id, { blocks: paragraph("😀".repeat(8_000)) });
    await api.sendRichMessage(chat.id, { blocks: deep(15) });
    expect(simulator.messages(chat)[0]?.text.length).toBe(16_000);
  });

  it("lose the end of a single string that is too long, without a word", async () => {
    await api.sendRichMessage(chat.id, { blocks: paragraph("漢".repeat(20_000)) });
    expect(simulator.messages(chat)[0]?.text.length).toBe(Math.floor(35_000 / 3));
  });

  it("are refused on demand, as by a server that does not know them, and nothing else is", async () => {
    simulator.fault({ kind: "rich-refused", unknown: true, times: 3 });
    const { message_id: id } = await api.sendMessage(chat.id, "text");
    await expect(api.sendRichMessage(chat.id, { blocks: report })).rejects.toThrow(
      "404: Not Found: method not found",
    );
    await expect(api.sendRichMessageDraft(chat.id, 1, { blocks: paragraph("x") })).rejects.toThrow("404");
    await expect(api.editMessageText(chat.id, id, { blocks: report })).rejects.toThrow(
      "400: Bad Request: message text is empty",
    );
    simulator.fault({ kind: "rich-refused", unknown: false });
    await expect(api.editMessageText(chat.id, id, { blocks: report })).rejects.toThrow("RICH_MESSAGE_");
    await api.editMessageText(chat.id, id, { blocks: report });
    expect(simulator.messages(chat)[0]?.text).toBe(words);
  });
});

describe("what the bot makes of markdown", () => {
  /** The blocks as the simulator keeps them. @throws {BotApiError} when it refuses them */
  function taken(text: string, final: boolean): readonly RichBlock[] {
    const limits = { maxLength: 32_768, maxEntities: 500 };
    return splitText(text, { renderer: richBlocks, limits, final }).flatMap(({ content }) => {
      const message = toInputRichMessage(content.blocks ?? []);
      return readRichMessage(new CallParameters({ values: { rich_message: message }, files: new Map() }));
    });
  }

  it("is taken, whatever the markdown", () => {
    fc.assert(
      fc.property(markdown, fc.boolean(), (text, final) => {
        taken(text, final);
      }),
      { numRuns: 400 },
    );
    for (const text of corpus) taken(text, true);
  });

  it("is taken whole, also where a letter has three bytes", () => {
    const text = "漢字".repeat(15_000);
    expect(JSON.stringify(taken(`\`\`\`\n${text}\n\`\`\``, true)).match(/漢/g)?.length).toBe(15_000);
  });
});
