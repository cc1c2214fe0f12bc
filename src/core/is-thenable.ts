/**
 * Whether a value has to be waited for, as `await` sees it. What a method of another object or of a service binding
 * returns is no `Promise`, although its type says so.
 */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  const mayHaveThen = (typeof value === "object" && value !== null) || typeof value === "function";
  return mayHaveThen && "then" in value && typeof value.then === "function";
}
