/** Longest text of one message, in UTF-16 units. */
const maxLength = 4096;

/**
 * Cuts the first message off a long text, as Telegram's clients do. A surrogate pair is never cut.
 *
 * The cut is in the second half of the message: after a paragraph, else after a line, else after a word. If there is
 * none, the message is full.
 *
 * @param {string} text without white space at its ends
 * @returns {{ piece: string, rest: string }} `rest` is empty after the last piece
 */
export function cutText(text, limit = maxLength) {
  if (text.length <= limit) return { piece: text, rest: "" };
  const at = cutAt(text, limit);
  return { piece: text.slice(0, at).trimEnd(), rest: text.slice(at).trimStart() };
}

function cutAt(text, limit) {
  const half = Math.floor(limit / 2);
  for (const boundary of ["\n\n", "\n"]) {
    const at = text.lastIndexOf(boundary, limit);
    if (at > half) return at;
  }
  for (let at = limit; at > half; at -= 1) if (/\s/.test(text[at])) return at;
  const isInsidePair = (text.codePointAt(limit - 1) ?? 0) > 0xffff;
  return isInsidePair && limit > 1 ? limit - 1 : limit;
}
