import type { Logger } from "chat";
import type { Log } from "../../src/core/log.ts";

/**
 * The SDK's log lines without what it puts into them: its arguments hold messages and errors, and some of its texts
 * hold identifiers (I10). Only a line of plain words passes.
 */
export function createSdkLogger(log: Log, provider: string): Logger {
  const logger: Logger = {
    child: () => logger,
    debug: () => undefined,
    info: () => undefined,
    warn: (message) => log.warn("chat-sdk.warning", { provider, about: plainWords(message) }),
    error: (message) => log.error("chat-sdk.error", { provider, about: plainWords(message) }),
  };
  return logger;
}

function plainWords(message: unknown): string | undefined {
  return typeof message === "string" && /^[A-Za-z ,.'()-]{1,120}$/.test(message) ? message : undefined;
}
