import { AsyncLocalStorage } from "node:async_hooks";

/** The key of the post that the running code makes. A bundle of a bot without adapters leaves it out. */
const current = /* @__PURE__ */ new AsyncLocalStorage<string | undefined>();

/** Makes a post of an adapter, which sends this key. */
export function withPostKey<Result>(key: string | undefined, run: () => Promise<Result>): Promise<Result> {
  return current.run(key, run);
}

/** Returns the key of the running post. Undefined in any other call. */
export function postKey(): string | undefined {
  return current.getStore();
}

type AnyFunction = (...args: never[]) => unknown;

/** Replaces a method of an adapter's part. An adapter without it stays as it is, and sends no keys. */
export function replaceMethod(
  owner: unknown,
  name: string,
  replace: (original: (...args: unknown[]) => unknown) => AnyFunction,
): void {
  if (typeof owner !== "object" || owner === null) return;
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== "function") return;
  Reflect.set(
    owner,
    name,
    replace((...args) => original.apply(owner, args)),
  );
}
