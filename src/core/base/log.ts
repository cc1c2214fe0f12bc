/** Writes one fact per line: an event name and plain fields. Never a token, a secret or the text of a message (I10). */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** Returns a log that adds these fields to every line. A line's own field of the same name wins. */
  with(fields: LogFields): Log;
  /**
   * Returns the part of a foreign text, such as the message of a bot's exception, that may be logged. That is nothing,
   * or in development the text without secrets.
   */
  readonly reveal: (words: string) => string | undefined;
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export type LogLevel = "info" | "warn" | "error";

/** The least serious lines that are written. */
export type LogThreshold = LogLevel | "silent";

const RANKS: Readonly<Record<LogThreshold, number>> = { info: 0, warn: 1, error: 2, silent: 3 };

/** Reads `LOG_LEVEL`. Any other value, also none, is `info`. */
export function logThreshold(value: unknown): LogThreshold {
  const name = typeof value === "string" ? value.toLowerCase() : "";
  return name === "warn" || name === "error" || name === "silent" ? name : "info";
}

export interface LogOptions {
  /** @default "info" */
  readonly threshold?: LogThreshold;
  /** Current time in epoch milliseconds. @default the system's clock */
  readonly now?: () => number;
  /** Returns the words of an error that may be logged: see `Log`. @default reveals nothing */
  readonly reveal?: (words: string) => string | undefined;
}

/** Creates a log that writes each fact as one line of JSON, for any log pipeline. */
export function createLog(write: (level: LogLevel, line: string) => void, options: LogOptions = {}): Log {
  const { now = Date.now, reveal = () => undefined, threshold = "info" } = options;
  const logWith = (fixed: LogFields): Log => {
    const at =
      (level: LogLevel) =>
      (event: string, fields: LogFields = {}) => {
        if (RANKS[level] < RANKS[threshold]) return;
        const time = new Date(now()).toISOString();
        // The line's own fields come first and override the fixed ones.
        write(level, JSON.stringify({ time, level, event, ...fields, ...fixed, ...fields }));
      };
    return {
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      with: (fields) => logWith({ ...fixed, ...fields }),
      reveal,
    };
  };
  return logWith({});
}
