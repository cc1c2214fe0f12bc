import type { MessageEntity } from "grammy/types";
import { badRequest } from "../bot-api-error.ts";
import { linkEntity } from "./link-entity.ts";
import type { FormattedText } from "./formatted-text.ts";

interface OpenTag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly offset: number;
}

const supportedTags: ReadonlyMap<string, MessageEntity["type"] | "special"> = new Map([
  ["b", "bold"],
  ["strong", "bold"],
  ["i", "italic"],
  ["em", "italic"],
  ["u", "underline"],
  ["ins", "underline"],
  ["s", "strikethrough"],
  ["strike", "strikethrough"],
  ["del", "strikethrough"],
  ["tg-spoiler", "spoiler"],
  ["span", "spoiler"],
  ["a", "special"],
  ["code", "special"],
  ["pre", "special"],
  ["blockquote", "special"],
  ["tg-emoji", "special"],
  ["tg-time", "special"],
]);

/**
 * Parses Telegram's HTML mode.
 * @throws {BotApiError} with Telegram's wording for unknown, unclosed or crossed tags
 */
export function parseHtml(source: string): FormattedText {
  const open: OpenTag[] = [];
  const entities: MessageEntity[] = [];
  let text = "";
  let at = 0;
  const refuse = (reason: string): never => {
    throw badRequest(`can't parse entities: ${reason}`);
  };
  while (at < source.length) {
    const character = source.charAt(at);
    if (character === "&") {
      const decoded = decodeReference(source.slice(at));
      text += decoded?.text ?? "&";
      at += decoded?.length ?? 1;
      continue;
    }
    if (character !== "<") {
      text += character;
      at += 1;
      continue;
    }
    const bytes = Buffer.byteLength(source.slice(0, at));
    if (source.charAt(at + 1) === "/") {
      const tag = open.at(-1);
      if (tag === undefined) return refuse(`Unexpected end tag at byte offset ${bytes}`);
      const match = /^<\/([^\s>]*)\s*>/.exec(source.slice(at));
      if (match === null) return refuse(`Unclosed end tag at byte offset ${bytes}`);
      const name = (match[1] ?? "").toLowerCase();
      if (name !== "" && name !== tag.name) {
        return refuse(
          `Unmatched end tag at byte offset ${bytes}, expected "</${tag.name}>", found "</${name}>"`,
        );
      }
      open.pop();
      at += match[0].length;
      closeTag(tag, text, entities);
      continue;
    }
    const name = /^<([^\s>]*)/.exec(source.slice(at))?.[1] ?? "";
    at += 1 + name.length;
    if (at >= source.length) return refuse(`Unclosed start tag at byte offset ${bytes}`);
    const tagName = name.toLowerCase();
    if (!supportedTags.has(tagName))
      return refuse(`Unsupported start tag "${tagName}" at byte offset ${bytes}`);
    const attributes = new Map<string, string>();
    for (;;) {
      at += /^\s*/.exec(source.slice(at))?.[0].length ?? 0;
      if (source.charAt(at) === ">") break;
      if (at >= source.length) return refuse(`Unclosed start tag "${tagName}" at byte offset ${bytes}`);
      const attribute = /^([^\s=>/"']*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9.-]*)))?/.exec(
        source.slice(at),
      );
      const attributeName = attribute?.[1] ?? "";
      if (attribute === null || attributeName === "") {
        return refuse(`Empty attribute name in the tag "${tagName}" at byte offset ${bytes}`);
      }
      attributes.set(attributeName, decodeAll(attribute[2] ?? attribute[3] ?? attribute[4] ?? ""));
      at += attribute[0].length;
    }
    at += 1;
    if (tagName === "span" && attributes.get("class") !== "tg-spoiler") {
      return refuse(`Tag "span" must have class "tg-spoiler" at byte offset ${bytes}`);
    }
    open.push({ name: tagName, attributes, offset: text.length });
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) refuse(`Can't find end tag corresponding to start tag "${unclosed.name}"`);
  return { text, entities: entities.map(withoutClassOfCode) };
}

function closeTag(tag: OpenTag, text: string, entities: MessageEntity[]): void {
  const { offset } = tag;
  const length = text.length - offset;
  if (length === 0) return;
  const last = entities.at(-1);
  const sameAsLast = last !== undefined && last.offset === offset && last.length === length;
  switch (tag.name) {
    case "a": {
      const entity = linkEntity(tag.attributes.get("href") || text.slice(offset), offset, length);
      if (entity !== undefined) entities.push(entity);
      return;
    }
    case "code": {
      const language = /^language-(.+)$/.exec(tag.attributes.get("class") ?? "")?.[1];
      if (sameAsLast && last.type === "pre" && language !== undefined) last.language = language;
      else entities.push({ type: "code", offset, length, ...(language && { language }) });
      return;
    }
    case "pre":
      if (sameAsLast && last.type === "code" && "language" in last) {
        entities[entities.length - 1] = { type: "pre", offset, length, language: String(last.language) };
      } else {
        entities.push({ type: "pre", offset, length });
      }
      return;
    case "blockquote":
      entities.push({
        type: tag.attributes.has("expandable") ? "expandable_blockquote" : "blockquote",
        offset,
        length,
      });
      return;
    case "tg-emoji": {
      const id = tag.attributes.get("emoji-id") ?? "";
      if (!/^\d+$/.test(id))
        throw badRequest("can't parse entities: Invalid custom emoji identifier specified");
      entities.push({ type: "custom_emoji", offset, length, custom_emoji_id: id });
      return;
    }
    case "tg-time": {
      const unixTime = Number(tag.attributes.get("unix") ?? 0);
      if (unixTime > 0)
        entities.push({ type: "date_time", offset, length, unix_time: unixTime } as MessageEntity);
      return;
    }
    default: {
      const type = supportedTags.get(tag.name);
      if (type !== undefined && type !== "special") entities.push({ type, offset, length } as MessageEntity);
    }
  }
}

/** Removes the language of a `<code>` outside `<pre>`, where it is plain code. */
function withoutClassOfCode(entity: MessageEntity): MessageEntity {
  if (entity.type !== "code") return entity;
  return { type: "code", offset: entity.offset, length: entity.length };
}

const namedReferences: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

function decodeReference(source: string): { readonly text: string; readonly length: number } | undefined {
  const named = /^&(lt|gt|amp|quot);?/.exec(source);
  if (named !== null) return { text: namedReferences[named[1] ?? ""] ?? "", length: named[0].length };
  const numeric = /^&#(?:x([0-9a-f]+)|([0-9]+));?/i.exec(source);
  if (numeric === null) return undefined;
  const code = numeric[1] === undefined ? Number(numeric[2]) : Number.parseInt(numeric[1], 16);
  if (code === 0 || code > 0x10ffff) return undefined;
  return { text: String.fromCodePoint(code), length: numeric[0].length };
}

function decodeAll(value: string): string {
  return value.replace(
    /&(?:lt|gt|amp|quot|#x[0-9a-f]+|#[0-9]+);?/gi,
    (match) => decodeReference(match)?.text ?? match,
  );
}
