const ADDRESS = /((?:https?:\/\/|www\.)[^\s<>]+)/;
/** A marker at the beginning or the end of a word, which platforms may read. Those inside of words are text. */
const MARKER = /(?<![\p{L}\p{N}_])[*_~`](?=\S)|(?<=\S)[*_~`](?![\p{L}\p{N}])/gu;
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  "*": "\u2217",
  _: "\u02cd",
  "~": "\u223c",
  "`": "\u02cb",
};

/**
 * Replaces the markers of formatting in a text by characters that look like them, for Slack, Google Chat and WhatsApp,
 * which know no escape. Addresses stay as they are.
 */
export function withoutMarkers(text: string): string {
  return text
    .split(ADDRESS)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(MARKER, (sign) => LOOKS_LIKE[sign] ?? sign)))
    .join("");
}
