/**
 * The base of every error that Switchboard throws. Compare `code`, not the class: classes are lost when an error
 * crosses from one Durable Object to another.
 *
 * A message says what happened, with which value, and what to do. It never holds a token, a secret, the text of a
 * chat message, or a URL that contains one (I10).
 */
export class SwitchboardError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "SwitchboardError";
    this.code = code;
  }
}

/** The developer's declaration is wrong (a path, a missing secret, a duplicate id). Thrown before anything runs. */
export class ConfigurationError extends SwitchboardError {
  constructor(code: string, message: string) {
    super(code, message);
    this.name = "ConfigurationError";
  }
}

/** Bytes from outside did not have the promised shape. */
export class InvalidInputError extends SwitchboardError {
  constructor(code: string, message: string) {
    super(code, message);
    this.name = "InvalidInputError";
  }
}

/**
 * The `code` of any error, also of one that came over RPC; `undefined` when it has none. What is no short word is none:
 * codes go into logs, and a foreign error may hold anything there (I10).
 */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" && /^[\w.:/-]{1,64}$/.test(error.code) ? error.code : undefined;
}

/** What a failure is called in the log: its code, that its storage is full, or the class of the error (I10). */
export function failureCode(error: unknown): string {
  const code = errorCode(error);
  if (code !== undefined) return code;
  if (!(error instanceof Error)) return "unknown";
  return /SQLITE_FULL|disk is full/.test(error.message) ? "storage-full" : error.name;
}
