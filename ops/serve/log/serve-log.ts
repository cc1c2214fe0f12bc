/** Plain fields of a line. */
export type ServeFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** The server's own log. Its lines are written whatever `LOG_LEVEL` is, because there are few. */
export interface ServeLog {
  /**
   * Writes one line.
   *
   * @param text for people, in one sentence
   * @param event for programs
   */
  say(text: string, event?: string, fields?: ServeFields): void;
}

/** Creates the server's own log: readable lines in a terminal, and elsewhere JSON as in the bot's log. */
export function createServeLog(options: {
  readonly isTerminal: boolean;
  readonly write: (line: string) => void;
  readonly now: () => number;
}): ServeLog {
  const { isTerminal, now, write } = options;
  return {
    say(text, event = "serve.output", fields = {}) {
      const time = new Date(now()).toISOString();
      write(isTerminal ? `[serve] ${text}` : JSON.stringify({ time, level: "info", event, ...fields, text }));
    },
  };
}
