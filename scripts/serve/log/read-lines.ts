import type { Readable } from "node:stream";

/** A longer line is cut in pieces, so that no output can fill the memory. */
const MAX_LINE = 1_000_000;

/** Gives each line of a stream to `take`, and the last one also without its end. Resolves at the end of the stream. */
export function readLines(stream: Readable, take: (line: string) => void): Promise<void> {
  let rest = "";
  stream.setEncoding("utf8");
  // `readline` would cut at the line separators of Unicode too, which may stand inside of JSON.
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
    if (rest.length <= MAX_LINE) return;
    take(rest);
    rest = "";
  });
  return new Promise((resolve) => {
    const end = (): void => {
      if (rest !== "") take(rest);
      rest = "";
      resolve();
    };
    stream.once("end", end);
    // A pipe that breaks has ended; its process tells why.
    stream.once("error", end);
  });
}
