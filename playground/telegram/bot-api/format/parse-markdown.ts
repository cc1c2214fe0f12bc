import type { MessageEntity } from "grammy/types";
import { badRequest } from "../bot-api-error.ts";
import { linkEntity } from "./link-entity.ts";
import type { FormattedText } from "./formatted-text.ts";

/**
 * Parses the legacy "Markdown" mode, which has no nesting.
 * @throws {BotApiError} with Telegram's wording for an unclosed marker
 */
export function parseMarkdown(source: string): FormattedText {
  const entities: MessageEntity[] = [];
  let text = "";
  let at = 0;
  while (at < source.length) {
    const character = source.charAt(at);
    if (character === "\\" && "_*`[".includes(source.charAt(at + 1)) && at + 1 < source.length) {
      text += source.charAt(at + 1);
      at += 2;
      continue;
    }
    if (!"_*`[".includes(character)) {
      text += character;
      at += 1;
      continue;
    }
    const begin = at;
    const pre = source.startsWith("```", at);
    const mark = pre ? "```" : character === "[" ? "]" : character;
    at += pre ? 3 : 1;
    const opening = pre ? /^([^\s`]*(?=\s))?(?:\r\n|\n\r|\n|\r)?/.exec(source.slice(at)) : null;
    at += opening?.[0].length ?? 0;
    const end = source.indexOf(mark, at);
    if (end === -1) {
      const bytes = Buffer.byteLength(source.slice(0, begin));
      throw badRequest(`can't parse entities: Can't find end of the entity starting at byte offset ${bytes}`);
    }
    const content = source.slice(at, end);
    const offset = text.length;
    const length = content.length;
    text += content;
    at = end + mark.length;
    const target = character === "[" ? (/^\(([^)]*)\)?/.exec(source.slice(at)) ?? undefined) : undefined;
    at += target?.[0].length ?? 0;
    if (length === 0) continue;
    if (character === "[") {
      const entity = linkEntity(target?.[1] ?? content, offset, length);
      if (entity !== undefined) entities.push(entity);
    } else if (pre) {
      const language = opening?.[1];
      entities.push({ type: "pre", offset, length, ...(language && { language }) });
    } else {
      entities.push({
        type: character === "*" ? "bold" : character === "_" ? "italic" : "code",
        offset,
        length,
      });
    }
  }
  return { text, entities };
}
