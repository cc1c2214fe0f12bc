/** Most lines of workerd about itself within a window, and most equal ones. Further lines are counted. */
const MOST = 30;
const MOST_EQUAL = 5;
const WINDOW_MS = 10_000;

export interface RuntimeLimit {
  /** Counts a line with this text. Returns true if it may be shown now. */
  allows(text: string): boolean;
  /** Reports the dropped lines now. */
  end(): void;
}

/** Limits the output of workerd about itself, which can be thousands of lines a second about one broken Worker. */
export function limitRuntime(options: {
  readonly now: () => number;
  /** Calls back once after `delayMs`. It must not keep the process alive. */
  readonly after: (delayMs: number, callback: () => void) => void;
  readonly onDropped: (count: number) => void;
}): RuntimeLimit {
  const { after, now, onDropped } = options;
  /** Number of times that each text was shown in this window. */
  const shown = new Map<string, number>();
  let since = -Infinity;
  let total = 0;
  let dropped = 0;
  const end = (): void => {
    if (dropped > 0) onDropped(dropped);
    dropped = 0;
  };
  return {
    allows(text) {
      if (now() - since >= WINDOW_MS) {
        end();
        since = now();
        total = 0;
        shown.clear();
      }
      const equal = shown.get(text) ?? 0;
      if (total < MOST && equal < MOST_EQUAL) {
        total += 1;
        shown.set(text, equal + 1);
        return true;
      }
      if (dropped === 0) after(since + WINDOW_MS - now(), end);
      dropped += 1;
      return false;
    },
    end,
  };
}
