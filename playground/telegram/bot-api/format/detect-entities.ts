import type { MessageEntity } from "grammy/types";

const commonTopLevelDomains =
  "com|org|net|edu|gov|io|dev|app|ai|me|info|biz|co|uk|de|fr|it|es|nl|ch|at|ru|jp|cn|in|br|us|eu|xyz|site|online|tech|cloud|shop|example|test";

/**
 * Entities that Telegram finds in plain text. Where two overlap, the earlier kind in this list wins. The top-level
 * domains of links without a scheme are a short list here; Telegram knows all of them.
 */
const detectors: readonly { readonly type: MessageEntity["type"]; readonly pattern: RegExp }[] = [
  {
    type: "url",
    pattern: new RegExp(
      `(?:(?:https?|ftp|tonsite|ton|tg)://[^\\s<>"]+|(?<![\\w@.])(?:[a-z0-9-]+\\.)+(?:${commonTopLevelDomains})(?![\\w@-])(?:[/?#][^\\s<>"]*)?)`,
      "giu",
    ),
  },
  {
    type: "email",
    pattern: /(?<![\p{L}\p{N}_.+-])[\w.+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}/giu,
  },
  {
    type: "bot_command",
    pattern: /(?<![\p{L}\p{N}_/<>])\/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\p{L}\p{N}_/<>])/gu,
  },
  { type: "mention", pattern: /(?<![\p{L}\p{N}_])@[A-Za-z0-9_]{3,32}(?![\p{L}\p{N}_])/gu },
  { type: "hashtag", pattern: /(?<![\p{L}\p{N}_&#/])#(?=[^\s]*[\p{L}_])[\p{L}\p{M}\p{N}_]{1,256}/gu },
  { type: "cashtag", pattern: /(?<![\p{L}\p{N}_$])\$[A-Z]{3,8}(?![\p{L}\p{N}_$])/gu },
  { type: "phone_number", pattern: /(?<![\p{L}\p{N}_+])\+\d[\d ()-]{6,18}\d(?![\p{L}\p{N}_])/gu },
];

/** Finds links, addresses, commands, mentions and tags in `text`, sorted and without overlaps. */
export function detectEntities(text: string): MessageEntity[] {
  const found: MessageEntity[] = [];
  for (const { type, pattern } of detectors) {
    for (const match of text.matchAll(pattern)) {
      const value = type === "url" ? withoutTrailingPunctuation(match[0]) : match[0];
      const entity = { type, offset: match.index, length: value.length } as MessageEntity;
      if (entity.length > 0 && !found.some((other) => overlaps(other, entity))) found.push(entity);
    }
  }
  return found.sort((left, right) => left.offset - right.offset);
}

function withoutTrailingPunctuation(url: string): string {
  const trimmed = url.replace(/[.,:;!?'"»”’]+$/u, "");
  if (trimmed.endsWith(")") && !trimmed.includes("(")) return trimmed.slice(0, -1);
  return trimmed;
}

export function overlaps(left: MessageEntity, right: MessageEntity): boolean {
  return left.offset < right.offset + right.length && right.offset < left.offset + left.length;
}
