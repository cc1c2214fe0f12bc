import type { PlatformHost } from "../../src/core/messenger.ts";
import { SecretStore } from "../../src/core/secret-store.ts";
import { AdapterStateStore } from "./adapter-state-store.ts";
import type { StateKind } from "./state-kind.ts";

/** The calls of an adapter's state in one object to where it is kept. Values are JSON. */
export interface StateCalls {
  read(key: string, kind: StateKind): Promise<string | undefined>;
  /** @param expiresAt epoch milliseconds */
  write(key: string, kind: StateKind, value: string, expiresAt?: number): Promise<void>;
  append(key: string, value: string, most: number, expiresAt?: number): Promise<void>;
  /** @param before only if it was stored before this time, in epoch milliseconds */
  remove(key: string, kind: StateKind, before?: number): Promise<void>;
}

/** The state of one messenger's adapter, where it is kept: in the root, or in the object of a shard. */
export function createStateAtRoot({ database, deps, env, messengerId }: PlatformHost): StateCalls {
  const values = new AdapterStateStore(database, deps.clock);
  const secrets = new SecretStore({ database, env, clock: deps.clock });
  const nameOf = (key: string): string => `adapter:${messengerId}:${key}`;
  return {
    read: async (key, kind) => (kind === "secret" ? secrets.get(nameOf(key)) : values.get(messengerId, key)),
    async write(key, kind, value, expiresAt) {
      if (kind === "secret") await secrets.put(nameOf(key), value);
      else values.put({ messengerId, key, value, isCache: kind === "cache", expiresAt });
    },
    append: async (key, value, most, expiresAt) =>
      values.append({ messengerId, key, value, isCache: true, expiresAt }, most),
    async remove(key, kind, before) {
      if (kind === "secret") secrets.delete(nameOf(key), before);
      else values.delete(messengerId, key);
    },
  };
}
