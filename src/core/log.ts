/** One fact in one line: an event name and plain fields. Never a token, a secret or the text of a message (I10). */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

type Level = "info" | "warn" | "error";

/** Writes each fact as one line of JSON, which any log pipeline can read. */
export function createLog(write: (level: Level, line: string) => void, fixed: LogFields = {}): Log {
  const at =
    (level: Level) =>
    (event: string, fields: LogFields = {}) =>
      write(level, JSON.stringify({ level, event, ...fixed, ...fields }));
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** The log of the runtime's console. */
export const consoleLog: Log = createLog((level, line) => {
  if (level === "error") console.error(line);
  else if (level === "warn") console.warn(line);
  else console.log(line);
});
