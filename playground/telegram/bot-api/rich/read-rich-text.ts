import type { RichText } from "grammy/types";
import { badRequest } from "../bot-api-error.ts";
import { checkLink } from "../format/check-link.ts";
import { cleanText } from "../format/formatted-text.ts";
import { wordsOf } from "./rich-words.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Longest single string, in bytes. Telegram cuts off the rest without an error. */
const maxStringBytes = 35_000;

const nested = new Set([
  "bold",
  "italic",
  "underline",
  "strikethrough",
  "spoiler",
  "subscript",
  "superscript",
  "marked",
  "code",
]);
/** Entities that Telegram detects. If they are given, they are plain text. */
const detected = new Set(["mention", "hashtag", "cashtag", "bot_command", "bank_card_number"]);

/**
 * Reads a text of a rich message.
 * @throws {BotApiError} when Telegram would refuse it
 */
export function readRichText(value: unknown): RichText {
  if (typeof value === "string") return cutOff(cleanText(value, []).text);
  if (Array.isArray(value)) return value.map(readRichText);
  const fields = recordOf(value, "RichText");
  const { type } = fields;
  if (typeof type !== "string") throw badRequest(`can't parse InputRichBlock: Can't find field "type"`);
  if (detected.has(type)) return readRichText(fields.text ?? "");
  const text = readRichText(fields.text ?? "");
  if (nested.has(type)) return { type, text } as RichText;
  switch (type) {
    case "url": {
      const checked = checkLink(typeof fields.url === "string" ? fields.url : "");
      if ("problem" in checked) throw badRequest("RICH_MESSAGE_URL_INVALID");
      return { type, text, url: checked.url };
    }
    case "email_address": {
      const address = String(fields.email_address);
      if (!/^[^@\s]+@[^@\s]+\.[a-z]{2,}$/i.test(address)) throw badRequest("RICH_MESSAGE_EMAIL_INVALID");
      return { type, text, email_address: address };
    }
    case "mathematical_expression": {
      const { expression } = fields;
      if (typeof expression !== "string" || expression === "") {
        throw badRequest("RICH_MESSAGE_CONTENT_REQUIRED");
      }
      return { type, expression: cutOff(cleanText(expression, []).text) };
    }
    default:
      throw badRequest(`can't parse RichText: type "${type}" is unsupported`);
  }
}

export function isEmptyText(text: RichText): boolean {
  return wordsOf(text).trim() === "";
}

export function recordOf(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badRequest(`can't parse ${what}: expected an Object`);
  }
  return value as Fields;
}

export function arrayOf(value: unknown, what: string, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw badRequest(`can't parse ${what}: Field "${name}" must be of type Array`);
  return value;
}

function cutOff(text: string): string {
  if (Buffer.byteLength(text) <= maxStringBytes) return text;
  return Buffer.from(text)
    .subarray(0, maxStringBytes)
    .toString()
    .replace(/\uFFFD+$/, "");
}
