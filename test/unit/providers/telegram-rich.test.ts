import { describe, expect, it } from "vitest";
import { splitText } from "../../../delivery/text/split/index.ts";
import { richBlocks } from "../../../delivery/text/render/index.ts";
import type { MessageBlock } from "../../../src/core/message/message-block.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { refusal } from "./fake-bot-api.ts";
import { createTelegramRig } from "./telegram-rig.ts";

const direct: Address = {
  messengerId: "bot",
  threadId: "telegram:1001:9",
  chatId: "1001",
  topicId: "9",
  isDirectMessage: true,
};
const options = { signal: new AbortController().signal };

function contentOf(markdown: string): {
  text: string;
  entities: [];
  blocks: readonly MessageBlock[];
} {
  const limits = { maxLength: 100_000, maxEntities: 500 };
  const [part] = splitText(markdown, { renderer: richBlocks, limits, final: true });
  return { text: part?.content.text ?? "", entities: [], blocks: part?.content.blocks ?? [] };
}

const markdown = `## Prices

- [x] **tea** *now* \`t\` ~~old~~ [more](https://example.org/a)
- [ ] two

3. three

> quoted $x^2$

| n | price |
|--:|:-----:|
| 1 | **2** |

\`\`\`ts
let a;
\`\`\`

---

$$
y
$$`;

const blocks = [
  { type: "heading", size: 2, text: "Prices" },
  {
    type: "list",
    items: [
      {
        has_checkbox: true,
        is_checked: true,
        blocks: [
          {
            type: "paragraph",
            text: [
              { type: "bold", text: "tea" },
              " ",
              { type: "italic", text: "now" },
              " ",
              { type: "code", text: "t" },
              " ",
              { type: "strikethrough", text: "old" },
              " ",
              { type: "url", url: "https://example.org/a", text: "more" },
            ],
          },
        ],
      },
      { has_checkbox: true, blocks: [{ type: "paragraph", text: "two" }] },
    ],
  },
  { type: "list", items: [{ value: 3, type: "1", blocks: [{ type: "paragraph", text: "three" }] }] },
  {
    type: "blockquote",
    blocks: [
      { type: "paragraph", text: ["quoted ", { type: "mathematical_expression", expression: "x^2" }] },
    ],
  },
  {
    type: "table",
    is_bordered: true,
    cells: [
      [
        { is_header: true, align: "right", valign: "top", text: "n" },
        { is_header: true, align: "center", valign: "top", text: "price" },
      ],
      [
        { align: "right", valign: "top", text: "1" },
        { align: "center", valign: "top", text: { type: "bold", text: "2" } },
      ],
    ],
  },
  { type: "pre", language: "ts", text: "let a;" },
  { type: "divider" },
  { type: "mathematical_expression", expression: "y" },
];

describe("rich messages of Telegram", () => {
  it("are posted as blocks, quote what they answer, and have no link preview to switch off", async () => {
    const { surface, api } = createTelegramRig();
    const posted = await surface.post(direct, { ...contentOf(markdown), replyTo: "45" }, options);
    expect(posted).toEqual({ messageId: "1001" });
    expect(api.calls).toEqual([
      {
        method: "sendRichMessage",
        payload: {
          chat_id: 1001,
          message_thread_id: 9,
          rich_message: { blocks },
          reply_parameters: { message_id: 45, allow_sending_without_reply: true },
        },
      },
    ]);
  });

  it("take the place of what a message showed", async () => {
    const { surface, api } = createTelegramRig();
    await surface.edit(direct, "50", contentOf("# Now"), options);
    expect(api.calls).toEqual([
      {
        method: "editMessageText",
        payload: {
          chat_id: 1001,
          message_id: 50,
          rich_message: { blocks: [{ type: "heading", size: 1, text: "Now" }] },
        },
      },
    ]);
  });

  it("are shown as drafts with a button that stops them", async () => {
    const { surface, api } = createTelegramRig();
    await surface.drafts?.show(direct, { ...contentOf("- now"), id: 7 }, options);
    expect(api.calls).toEqual([
      {
        method: "sendRichMessageDraft",
        payload: {
          chat_id: 1001,
          draft_id: 7,
          message_thread_id: 9,
          rich_message: {
            blocks: [{ type: "list", items: [{ blocks: [{ type: "paragraph", text: "now" }] }] }],
          },
          can_stop: true,
          keep_on_stop: true,
        },
      },
    ]);
  });

  it("say that they read from the right when their first letter does", async () => {
    const { surface, api } = createTelegramRig();
    await surface.post(direct, contentOf("1. **שלום** world"), options);
    await surface.post(direct, contentOf("hello שלום"), options);
    expect(api.calls.map(({ payload }) => (payload.rich_message as { is_rtl?: boolean }).is_rtl)).toEqual([
      true,
      undefined,
    ]);
  });

  it("hold no single string that the server would cut off, and no half of a pair", async () => {
    const { surface, api } = createTelegramRig();
    const text = `a${"😀".repeat(12_000)}`;
    await surface.post(direct, contentOf(`\`\`\`\n${text}\n\`\`\``), options);
    const message = api.calls[0]?.payload.rich_message as { blocks: { text: string[] }[] } | undefined;
    const block = message?.blocks[0];
    expect(block?.text.join("")).toBe(text);
    for (const part of block?.text ?? []) {
      expect(Buffer.byteLength(part)).toBeLessThan(35_000);
      expect(part.isWellFormed()).toBe(true);
    }
  });

  it.each([
    ["sendRichMessage", 404, "Not Found: method not found", "rich-unsupported"],
    ["sendRichMessage", 400, "Bad Request: rich message must be non-empty", "rich-unsupported"],
    ["sendRichMessage", 400, "Bad Request: RICH_MESSAGE_UNSUPPORTED", "rich-unsupported"],
    ["sendRichMessage", 400, "Bad Request: RICH_MESSAGE_CONTENT_REQUIRED", "rich-refused"],
    ["sendRichMessage", 400, "Bad Request: RICH_MESSAGE_TEXT_TOO_LONG", "rich-refused"],
    ["sendRichMessage", 400, "Bad Request: RICH_MESSAGE_EMPTY", "rich-refused"],
    [
      "sendRichMessage",
      400,
      'Bad Request: can\'t parse InputRichBlock: type "x" is unsupported',
      "rich-refused",
    ],
    ["editMessageText", 400, "Bad Request: message text is empty", "rich-unsupported"],
    ["editMessageText", 400, "Bad Request: RICH_MESSAGE_BLOCKS_TOO_MANY", "rich-refused"],
    ["sendRichMessageDraft", 404, "Not Found: method not found", "rich-unsupported"],
    ["sendRichMessageDraft", 400, "Bad Request: TEXTDRAFT_PEER_INVALID", "bad-request"],
  ])("tell by the refusal of %s (%i %s) what it means", async (method, status, description, code) => {
    const { surface, api } = createTelegramRig();
    api.answerNext(method, refusal(status, description));
    const content = contentOf("# x");
    const call = {
      sendRichMessage: () => surface.post(direct, content, options),
      editMessageText: () => surface.edit(direct, "50", content, options),
      sendRichMessageDraft: () => surface.drafts?.show(direct, { ...content, id: 1 }, options),
    }[method];
    const error: unknown = await Promise.resolve(call?.()).catch((reason: unknown) => reason);
    expect(surface.classifyError(error)).toEqual({ kind: "rejected", code });
  });

  it.each([
    ["a page", () => new Response("<h1>500</h1>", { status: 500 })],
    ["JSON of its own", () => Response.json({ statusCode: 500, error: "x" }, { status: 500 })],
    ["a page that says that it does not know the method", () => new Response("no", { status: 501 })],
  ])("may be unknown to a server in between that answers with %s", async (_name, answer) => {
    const { surface, api } = createTelegramRig();
    const content = contentOf("# x");
    const doubtful = { kind: "unknown", code: surface.rich?.doubtfulCode };
    for (const [method, call] of [
      ["sendRichMessage", () => surface.post(direct, content, options)],
      ["sendRichMessageDraft", () => surface.drafts?.show(direct, { ...content, id: 1 }, options)],
      ["editMessageText", () => surface.edit(direct, "50", content, options)],
    ] as const) {
      api.answerNext(method, answer());
      const error: unknown = await Promise.resolve(call()).catch((reason: unknown) => reason);
      expect(surface.classifyError(error)).toEqual(doubtful);
    }
    api.answerNext("sendMessage", answer());
    const error: unknown = await surface
      .post(direct, { text: "x", entities: [] }, options)
      .catch((reason: unknown) => reason);
    expect(surface.classifyError(error)).toEqual({ kind: "unknown", code: "gateway-error" });
  });

  it("are not doubted for the page of a gateway whose server is away", async () => {
    const { surface, api } = createTelegramRig();
    api.answerNext("sendRichMessage", new Response("<h1>502</h1>", { status: 502 }));
    const error: unknown = await surface
      .post(direct, contentOf("# x"), options)
      .catch((reason: unknown) => reason);
    expect(surface.classifyError(error)).toEqual({ kind: "unknown", code: "gateway-error" });
  });

  it.each([
    [404, "Not Found", "misconfigured"],
    [400, "Bad Request: message text is empty", "rejected"],
  ])("leaves the meaning of %i for ordinary messages as it is", async (status, description, kind) => {
    const { surface, api } = createTelegramRig();
    api.answerNext("sendMessage", refusal(status, description));
    const error: unknown = await surface
      .post(direct, { text: "x", entities: [] }, options)
      .catch((reason: unknown) => reason);
    expect(surface.classifyError(error).kind).toBe(kind);
    expect(surface.classifyError(error).code).not.toMatch(/^rich/);
  });

  it.each([
    [429, "Too Many Requests: retry after 3", "retry-after"],
    [403, "Forbidden: bot was blocked by the user", "gone"],
    [401, "Unauthorized", "misconfigured"],
    [500, "Internal Server Error", "transient"],
  ])("do not hide another reason: %i %s", async (status, description, kind) => {
    const { surface, api } = createTelegramRig();
    api.answerNext("sendRichMessage", refusal(status, description));
    const error: unknown = await surface
      .post(direct, contentOf("# x"), options)
      .catch((reason: unknown) => reason);
    expect(surface.classifyError(error).kind).toBe(kind);
  });
});
