/** Line breaks, other control characters, and characters that change the direction of writing. */
const BREAKS = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]+/gu;

/** Returns a text that cannot look like more than its own line: in one line, in the direction in which it is written. */
export function inOneLine(text: string): string {
  return text.replaceAll(BREAKS, " ").trim();
}
