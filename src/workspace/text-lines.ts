/** Most characters of a line that the model reads. */
const LONGEST_LINE = 2000;
/** Most characters of one reading. The result of a tool has 20,000 at most. */
const LONGEST_READING = 16_000;

/** Returns lines of a text with their numbers, from 1. Says at its end how to read on. */
export function numberedLines(text: string, first: number, most: number): string {
  if (text === "") return "[The file is empty.]";
  const lines = text.split(/\r\n|\n/);
  if (lines.at(-1) === "") lines.pop();
  if (first > lines.length) return `[The file has ${lines.length} lines.]`;
  const shown: string[] = [];
  let length = 0;
  for (const line of lines.slice(first - 1, first - 1 + most)) {
    const numbered = `${first + shown.length}\t${clipped(line)}`;
    length += numbered.length + 1;
    if (length > LONGEST_READING) break;
    shown.push(numbered);
  }
  const next = first + shown.length;
  if (next <= lines.length) shown.push(`[${lines.length} lines in all. Read on from line ${next}.]`);
  return shown.join("\n");
}

/** Returns a line as far as a model should read it. */
export function clipped(line: string, most = LONGEST_LINE): string {
  return line.length <= most
    ? line
    : `${line.slice(0, most).toWellFormed()} [${line.length - most} more characters]`;
}
