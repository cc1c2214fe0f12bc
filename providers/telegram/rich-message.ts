import type { InputRichMessageWithoutUpload, Opts, RichBlockTableCell, RichText } from "grammy/types";
import type { RawApi } from "grammy/web";
import type { InlineText, MessageBlock, TableCellBlock } from "../../src/core/message/message-block.ts";
import type { CallFailure, RichMessages } from "../../src/core/chat/surface.ts";
import { TelegramCallError } from "./call-error.ts";
import type { CallResult, TelegramClient } from "./client.ts";

/** The Bot API's published limits (https://core.telegram.org/bots/api#rich-message-limits). */
export const telegramRich: RichMessages = {
  limits: { maxLength: 32_768, maxEntities: 500 },
  unsupportedCode: "rich-unsupported",
  refusedCode: "rich-refused",
  doubtfulCode: "rich-doubtful",
};

/** The server silently cuts a string after 35,000 bytes. A UTF-16 unit has at most three bytes. */
const MAX_STRING_LENGTH = 8_000;

type Block = NonNullable<InputRichMessageWithoutUpload["blocks"]>[number];

export function toInputRichMessage(blocks: readonly MessageBlock[]): InputRichMessageWithoutUpload {
  return { blocks: blocks.map(toBlock), ...(isRightToLeft(blocks) ? { is_rtl: true } : {}) };
}

/** Makes a call once, and tells a refusal of rich messages from other errors. */
export async function callRich<Method extends keyof RawApi>(
  client: TelegramClient,
  method: Method,
  payload: Opts<Method>,
  signal: AbortSignal,
): Promise<CallResult<Method>> {
  try {
    return await client.call(method, payload, signal);
  } catch (error) {
    if (!(error instanceof TelegramCallError)) throw error;
    throw new TelegramCallError(method, richFailure(error), error.status);
  }
}

/**
 * Classifies a failed rich call. An older server does not know the method, or ignores the field of an edit. A proxy in
 * front of it, or another program that serves the Bot API, may answer such a method with its own error page.
 */
function richFailure({ failure, status }: TelegramCallError): CallFailure {
  if (failure.code === "gateway-error" && (status === 500 || status === 501))
    return { kind: "unknown", code: telegramRich.doubtfulCode };
  const isOlder =
    (failure.kind === "misconfigured" && failure.code === "method-missing") ||
    (failure.kind === "rejected" && failure.code === "text-empty");
  return isOlder ? { kind: "rejected", code: telegramRich.unsupportedCode } : failure;
}

function toBlock(block: MessageBlock): Block {
  switch (block.type) {
    case "paragraph":
      return { type: "paragraph", text: toText(block.text) };
    case "heading":
      return { type: "heading", size: block.level, text: toText(block.text) };
    case "code":
      return block.language === undefined
        ? { type: "pre", text: toStrings(block.text) }
        : { type: "pre", text: toStrings(block.text), language: block.language };
    case "formula":
      return { type: "mathematical_expression", expression: block.expression };
    case "divider":
      return { type: "divider" };
    case "quote":
      return { type: "blockquote", blocks: block.blocks.map(toBlock) };
    case "list":
      return {
        type: "list",
        items: block.items.map(({ number, isChecked, blocks }) => ({
          blocks: blocks.map(toBlock),
          ...(number === undefined ? {} : { value: number, type: "1" as const }),
          ...(isChecked === undefined ? {} : { has_checkbox: true as const }),
          ...(isChecked === true ? { is_checked: true as const } : {}),
        })),
      };
    case "table":
      return { type: "table", is_bordered: true, cells: block.rows.map((row) => row.map(toCell)) };
    default:
      return block satisfies never;
  }
}

function toCell({ isHeader, align, text }: TableCellBlock): RichBlockTableCell {
  return {
    text: toText(text),
    align,
    valign: "top",
    ...(isHeader ? { is_header: true as const } : {}),
  };
}

function toText(text: readonly InlineText[]): RichText {
  const [only, ...others] = text.map(toRun);
  if (only === undefined) return "";
  return others.length === 0 ? only : [only, ...others];
}

function toRun(run: InlineText): RichText {
  if (typeof run === "string") return toStrings(run);
  switch (run.type) {
    case "bold":
    case "italic":
    case "strikethrough":
    case "code":
      return { type: run.type, text: toText(run.text) };
    case "link":
      return { type: "url", url: run.url, text: toText(run.text) };
    case "formula":
      return { type: "mathematical_expression", expression: run.expression };
    default:
      return run satisfies never;
  }
}

function toStrings(text: string): RichText {
  if (text.length <= MAX_STRING_LENGTH) return text;
  const strings: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_STRING_LENGTH, text.length);
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
    strings.push(text.slice(start, end));
    start = end;
  }
  return strings;
}

const FIRST_LETTER = /\p{L}/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** Tells whether the first letter of the message belongs to a right-to-left script. */
function isRightToLeft(blocks: readonly MessageBlock[]): boolean {
  const letter = firstLetter(blocks);
  return letter !== undefined && RIGHT_TO_LEFT.test(letter);
}

function firstLetter(value: unknown): string | undefined {
  if (typeof value === "string") return FIRST_LETTER.exec(value)?.[0];
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    if (name === "type" || name === "language" || name === "url" || name === "align") continue;
    const letter = firstLetter(inner);
    if (letter !== undefined) return letter;
  }
  return undefined;
}
