import { createLog } from "./log.ts";
import type { Log } from "./log.ts";
import { createRedact } from "./redact.ts";

/** Longest text of an exception in a line. */
const MAX_REVEALED = 1_000;

const logs = new WeakMap<object, Log>();

/**
 * The log of the runtime's console. With `DEBUG=1` in the environment it reveals the messages of exceptions: for
 * development, because they may quote what people wrote.
 */
export function consoleLogOf(env: unknown): Log {
  const environment = typeof env === "object" && env !== null ? env : {};
  const known = logs.get(environment);
  if (known !== undefined) return known;
  const log = createLog(
    (level, line) => {
      if (level === "error") console.error(line);
      else if (level === "warn") console.warn(line);
      else console.log(line);
    },
    isDebug(environment) ? { reveal: revealOf(environment) } : {},
  );
  logs.set(environment, log);
  return log;
}

/** Whether an environment asks for the words of exceptions. Other values of `DEBUG` are those of other programs. */
export function isDebug(environment: { readonly DEBUG?: unknown }): boolean {
  return environment.DEBUG === "1" || environment.DEBUG === "true";
}

function revealOf(environment: object): (words: string) => string {
  const redact = createRedact(environment);
  return (words) => {
    const clean = redact(words);
    return clean.length > MAX_REVEALED ? `${clean.slice(0, MAX_REVEALED)}…` : clean;
  };
}
