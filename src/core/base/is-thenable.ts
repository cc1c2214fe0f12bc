/**
 * True if `await` would wait for the value. Methods of another object or of a service binding return no real `Promise`,
 * although their type says so.
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  const mayHaveThen = (typeof value === "object" && value !== null) || typeof value === "function";
  return mayHaveThen && "then" in value && typeof value.then === "function";
}
