import type { MessageEntity } from "grammy/types";
import { badRequest } from "./bot-api-error.ts";
import { fixFormattedText } from "./format/formatted-text.ts";
import type { FormattedText } from "./format/formatted-text.ts";
import { requiredLinkEntity } from "./format/link-entity.ts";
import { parseHtml } from "./format/parse-html.ts";
import { parseMarkdown } from "./format/parse-markdown.ts";
import { parseMarkdownV2 } from "./format/parse-markdown-v2.ts";
import type { RawParameters, UploadedFile } from "./request-body.ts";

/** Reads the parameters of a Bot API call. Like the Bot API, it accepts numbers and JSON as strings. */
export class CallParameters {
  readonly raw: RawParameters;

  constructor(raw: RawParameters) {
    this.raw = raw;
  }

  has(name: string): boolean {
    const value = this.raw.values[name];
    return value !== undefined && value !== null && value !== "";
  }

  string(name: string): string {
    const value = this.raw.values[name];
    return readText(value);
  }

  /** Reads an integer. Like Telegram, it returns 0 if the parameter is missing or not a number. */
  integer(name: string): number {
    const value = Number.parseInt(this.string(name), 10);
    return Number.isSafeInteger(value) ? value : 0;
  }

  boolean(name: string): boolean {
    return ["true", "yes", "1"].includes(this.string(name).trim().toLowerCase());
  }

  json(name: string, what = name): unknown {
    const value = this.raw.values[name];
    if (value === undefined || value === "" || value === null) return undefined;
    if (typeof value !== "string") return value;
    try {
      return JSON.parse(value);
    } catch {
      throw badRequest(`can't parse ${what} JSON object`); // the caller's text is not JSON
    }
  }

  /** Returns the upload that a parameter names: its own part of the form, or `attach://<name>`. */
  upload(name: string, value: unknown = this.raw.values[name]): UploadedFile | undefined {
    const own = this.raw.files.get(name);
    if (own !== undefined) return own;
    if (typeof value !== "string" || !value.startsWith("attach://")) return undefined;
    return this.raw.files.get(value.slice("attach://".length));
  }

  /**
   * Reads a text with `parse_mode` or entities from `fields`, by default from the call itself.
   *
   * @throws {BotApiError} for bad markup or entities
   */
  formatted(
    textName: string,
    entitiesName: string,
    fields: Readonly<Record<string, unknown>> = this.raw.values,
  ): FormattedText {
    const inner = new CallParameters({ values: fields, files: this.raw.files });
    const text = inner.string(textName);
    if (Buffer.byteLength(text) > 1 << 15) throw badRequest("text is too long");
    const mode = inner.string("parse_mode").toLowerCase();
    if (text !== "" && mode !== "" && mode !== "none") {
      const parsed = parseByMode(mode, text);
      return fixFormattedText(parsed.text, parsed.entities);
    }
    return fixFormattedText(text, readEntities(inner.json(entitiesName)));
  }
}

/** Returns a parameter as text. Numbers, booleans and objects of JSON are written out. */
export function readText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function parseByMode(mode: string, text: string): FormattedText {
  switch (mode) {
    case "markdownv2":
      return parseMarkdownV2(text);
    case "markdown":
      return parseMarkdown(text);
    case "html":
      return parseHtml(text);
    default:
      throw badRequest("unsupported parse_mode");
  }
}

const givenTypes: ReadonlySet<string> = new Set([
  "bold",
  "italic",
  "underline",
  "strikethrough",
  "spoiler",
  "code",
  "pre",
  "text_link",
  "text_mention",
  "custom_emoji",
  "blockquote",
  "expandable_blockquote",
  "date_time",
]);
/** Entities that Telegram detects. If they are given, Telegram ignores them. */
const detectedTypes: ReadonlySet<string> = new Set([
  "mention",
  "hashtag",
  "cashtag",
  "bot_command",
  "url",
  "email",
  "phone_number",
  "bank_card_number",
]);

function readEntities(value: unknown): MessageEntity[] {
  if (!Array.isArray(value)) return [];
  const refuse = (reason: string): never => {
    throw badRequest(`can't parse MessageEntity: ${reason}`);
  };
  return value.flatMap((entity: unknown): MessageEntity[] => {
    if (typeof entity !== "object" || entity === null || Array.isArray(entity))
      return refuse("expected an Object");
    const fields = entity as Record<string, unknown>;
    for (const name of ["offset", "length"]) {
      if (!(name in fields)) refuse(`Can't find field "${name}"`);
      if (!Number.isInteger(fields[name])) refuse(`Field "${name}" must be of type Number`);
    }
    const type = fields.type;
    if (typeof type !== "string" || type === "") return refuse("Type is not specified");
    if (detectedTypes.has(type)) return [];
    if (!givenTypes.has(type)) return refuse("Unsupported type specified");
    if (type === "text_mention" && typeof fields.user !== "object") refuse(`Can't find field "user"`);
    if (type === "custom_emoji" && fields.custom_emoji_id === undefined) {
      refuse(`Can't find field "custom_emoji_id"`);
    }
    if (type === "text_link") {
      if (typeof fields.url !== "string") return refuse(`Can't find field "url"`);
      return [requiredLinkEntity(fields.url, Number(fields.offset), Number(fields.length))];
    }
    return [cleanEntity(fields)];
  });
}

function cleanEntity(fields: Readonly<Record<string, unknown>>): MessageEntity {
  const known = [
    "type",
    "offset",
    "length",
    "language",
    "url",
    "user",
    "custom_emoji_id",
    "unix_time",
    "date_time_format",
  ];
  return Object.fromEntries(
    known
      .filter((name) => fields[name] !== undefined && fields[name] !== "")
      .map((name) => [name, fields[name]]),
  ) as unknown as MessageEntity;
}
