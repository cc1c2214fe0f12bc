/** The exceptions behind errors of model calls. An error itself has none of a provider's words, because it may be logged. */
const exceptions = new WeakMap<object, unknown>();

export function noteException(error: object, exception: unknown): void {
  exceptions.set(error, exception);
}

/** Returns the exception behind an error, for the bot's own code; else the error. */
export function exceptionBehind(error: unknown): unknown {
  return typeof error === "object" && error !== null && exceptions.has(error) ? exceptions.get(error) : error;
}
