/** Lines that say the same are shown this often within a window; the others are counted. */
const SHOWN = 5;
const WINDOW_MS = 10_000;
/** Most different lines that are remembered at once. */
const MOST_KNOWN = 200;

/** `write` takes text as it comes; `end` says what was left out since the last word about it. */
export interface RepeatCutter {
  readonly write: (text: string) => void;
  readonly end: () => void;
}

/**
 * Passes on the lines of workerd, and cuts short what repeats: about one broken Worker it writes thousands of equal
 * lines a second. Lines of JSON are facts of the bot's own log, and all of them pass.
 */
export function cutRepeats(out: (text: string) => void, now: () => number): RepeatCutter {
  const known = new Map<string, { since: number; count: number }>();
  let rest = "";

  const sum = (line: string, count: number): void => {
    if (count > SHOWN) out(`[serve] ${count - SHOWN} more lines like this one: ${line}\n`);
  };
  const sumAll = (): void => {
    for (const [line, { count }] of known) sum(line, count);
    known.clear();
  };
  const take = (line: string): void => {
    if (line.startsWith("{")) return out(`${line}\n`);
    const seen = known.get(line);
    if (seen === undefined || now() - seen.since >= WINDOW_MS) {
      if (seen !== undefined) sum(line, seen.count);
      else if (known.size >= MOST_KNOWN) sumAll();
      known.set(line, { since: now(), count: 1 });
      return out(`${line}\n`);
    }
    seen.count += 1;
    if (seen.count <= SHOWN) out(`${line}\n`);
  };

  return {
    write(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) take(line);
    },
    end() {
      if (rest !== "") take(rest);
      rest = "";
      sumAll();
    },
  };
}
