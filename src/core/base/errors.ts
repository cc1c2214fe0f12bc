/**
 * Base of every error that Switchboard throws. Compare `code`, not the class: the class is lost when an error crosses
 * from one Durable Object to another.
 *
 * A message tells what happened, the value, and what to do. It never contains a token, a secret, the text of a chat
 * message, or a URL with one of them (I10).
 */
export class SwitchboardError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "SwitchboardError";
    this.code = code;
  }
}

/** A mistake in the bot's declaration: a path, a missing secret, a duplicate id. Thrown before anything runs. */
export class ConfigurationError extends SwitchboardError {
  constructor(code: string, message: string) {
    super(code, message);
    this.name = "ConfigurationError";
  }
}

/** Bytes from outside that do not have the expected shape. */
export class InvalidInputError extends SwitchboardError {
  constructor(code: string, message: string) {
    super(code, message);
    this.name = "InvalidInputError";
  }
}

/**
 * Returns the `code` of any error, including one that came over RPC. Undefined if it has none.
 *
 * Only a short word counts as a code: codes go into logs, and a foreign error may contain anything there (I10).
 */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" && /^[\w.:/-]{1,64}$/.test(error.code) ? error.code : undefined;
}

/** Returns the name of a failure in the log: its code, a full storage, or the class of the error (I10). */
export function failureCode(error: unknown): string {
  const code = errorCode(error);
  if (code !== undefined) return code;
  if (!(error instanceof Error)) return "unknown";
  return /SQLITE_FULL|disk is full/.test(error.message) ? "storage-full" : error.name;
}
