const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * Finds the last border between graphemes at or before `at`. Inside the first grapheme of the text it is the last
 * border between code points. The result is greater than 0, unless `at` is inside the first code point.
 */
export function graphemeBorder(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const start = segmenter.segment(text).containing(at)?.index ?? at;
  if (start > 0) return start;
  return splitsPair(text, at) ? at - 1 : at;
}

function splitsPair(text: string, at: number): boolean {
  return /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at));
}
