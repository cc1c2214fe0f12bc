/** So many lines of workerd about itself are shown within a window, and of lines that say the same; the others are counted. */
const MOST = 30;
const MOST_EQUAL = 5;
const WINDOW_MS = 10_000;

export interface RuntimeLimit {
  /** Whether a line with this text may be shown now. */
  allows(text: string): boolean;
  /** Tells now of what was left out. */
  end(): void;
}

/** workerd writes thousands of lines a second about one broken Worker: what it says of itself is bounded. */
export function limitRuntime(options: {
  readonly now: () => number;
  /** Calls back once after a time. It must not keep the process alive. */
  readonly after: (delayMs: number, callback: () => void) => void;
  readonly onDropped: (count: number) => void;
}): RuntimeLimit {
  const { after, now, onDropped } = options;
  /** How often each text was shown since the window began. */
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
