import { withoutMentions } from "./without-mentions.ts";

const ADDRESS = /((?:https?:\/\/|www\.)[^\s<>`\\]+)/;
/**
 * Characters that have a meaning where they stand. An underscore between letters has none, nor has a `<` before a space.
 * The end of the text counts as any character, because other text may follow.
 */
const SYNTAX =
  /\\(?=[!-/:-@[-`{-~\n]|$)|[*`[]|~(?=\S|$)|<(?=[a-z/!?]|$)|&(?=#?\w{1,31}(?:;|$))|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/giu;
/** Beginnings of headings, lists, quotes, lines and tables. */
const LINE_START = /^([^\S\n]*)((?:#{1,6}|[-+])(?=\s|$)|[=|>]|-(?=[-:|])|:(?=-))/gm;
const NUMBER = /^([^\S\n]*\d{1,9})(?=[.)](?:\s|$))/gm;

/**
 * Escapes text for CommonMark with GFM's tables, except numbers at the beginning of a line. Addresses stay as they are.
 *
 * @param breakMentions breaks the mentions in text that is no address
 */
export function escapeMarkdown(
  text: string,
  isLineStart: boolean,
  breakMentions: (text: string) => string = withoutMentions,
): string {
  const escaped = text
    .split(ADDRESS)
    .map((part, index) =>
      index % 2 === 1 ? part.replace(/[[\]]/g, "\\$&") : breakMentions(part).replace(SYNTAX, "\\$&"),
    )
    .join("");
  return atLineStarts(escaped, isLineStart, (lines) => lines.replace(LINE_START, "$1\\$2"));
}

/** Escapes numbers at the beginning of a line, which would be those of a list. */
export function escapeNumbers(text: string, isLineStart: boolean): string {
  return atLineStarts(text, isLineStart, (lines) => lines.replace(NUMBER, "$1\\"));
}

/** Changes a text from the first line that begins in it. */
export function atLineStarts(text: string, isLineStart: boolean, change: (lines: string) => string): string {
  if (isLineStart) return change(text);
  const at = text.indexOf("\n");
  return at === -1 ? text : text.slice(0, at) + change(text.slice(at));
}
