import type { Readable } from "node:stream";

/** Longest line. A longer one is cut into pieces, so that no output can fill the memory. */
const MAX_LINE = 1_000_000;

/** Calls `take` with each line of a stream, including an unfinished last line. Resolves at the end of the stream. */
export function readLines(stream: Readable, take: (line: string) => void): Promise<void> {
  let rest = "";
  stream.setEncoding("utf8");
  // `readline` would also cut at Unicode line separators, which JSON may contain.
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
    // A broken pipe has ended. Its process reports the reason.
    stream.once("error", end);
  });
}
