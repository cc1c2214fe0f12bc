/** Returns a text in one line of at most `most` characters (UTF-16), with an ellipsis where it was cut. */
export function shortLine(text: string, most: number): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  // Half a pair is no character.
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
