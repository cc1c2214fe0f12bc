import { createLog, logThreshold } from "../core/base/log.ts";
import type { Log } from "../core/base/log.ts";
import { createSecretHider } from "./hide-secrets.ts";

/** Longest message of an exception in a line. */
const MAX_REVEALED = 1_000;

const logs = new WeakMap<object, Log>();

/**
 * Creates a log that writes to the runtime's console. `LOG_LEVEL` leaves out less serious lines. With `DEBUG=1` in the
 * environment it reveals the messages of exceptions. That is for development only, because they may quote a chat.
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
    {
      threshold: logThreshold((environment as { readonly LOG_LEVEL?: unknown }).LOG_LEVEL),
      ...(isDebug(environment) && { reveal: revealOf(environment) }),
    },
  );
  logs.set(environment, log);
  return log;
}

/**
 * True if the environment asks for the messages of exceptions: `1` or `true`. Other values of `DEBUG` are meant for
 * other programs.
 */
export function isDebug(environment: { readonly DEBUG?: unknown }): boolean {
  return environment.DEBUG === "1" || environment.DEBUG === "true";
}

function revealOf(environment: object): (words: string) => string {
  const redact = createSecretHider(environment).all;
  return (words) => {
    const clean = redact(words);
    return clean.length > MAX_REVEALED ? `${clean.slice(0, MAX_REVEALED)}…` : clean;
  };
}
