/**
 * Runs a function over a value, and also returns the paths of the plain values that it has read. It works on a copy, so
 * that frozen objects can be watched, too.
 */
export function watchReads<Result>(
  value: unknown,
  work: (watched: unknown) => Result,
): { readonly result: Result; readonly paths: readonly string[] } {
  const paths = new Set<string>();
  const watch = (inner: unknown, path: readonly string[]): unknown => {
    if (!isPlain(inner)) {
      if (path.length > 0) paths.add(path.join("."));
      return inner;
    }
    return new Proxy(Array.isArray(inner) ? [...inner] : { ...inner }, {
      get: (copy, key, receiver): unknown => {
        const found: unknown = Reflect.get(copy, key, receiver);
        const isOwn = typeof key === "string" && Object.hasOwn(copy, key);
        return isOwn && !(Array.isArray(copy) && key === "length") ? watch(found, [...path, key]) : found;
      },
    });
  };
  return { result: work(watch(value, [])), paths: [...paths] };
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
