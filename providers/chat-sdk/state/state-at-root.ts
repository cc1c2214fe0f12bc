import type { PlatformHost } from "../../../src/core/chat/messenger.ts";
import { SecretBox } from "../../../src/core/store/secret-box.ts";
import { SecretStore } from "../../../src/core/store/secret-store.ts";
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
  /** Seals a text that leaves the bot, and comes back. */
  seal(text: string, purpose: string): Promise<string>;
  /** Undefined if the bot has not sealed it for this purpose. */
  unseal(sealed: string, purpose: string): Promise<string | undefined>;
}

/** Returns a stored secret with a new token, if its token ends soon. Undefined: it is good as it is. */
export type Renew = (value: unknown) => Promise<unknown>;

/** The state of one messenger's adapter, where it is kept: in the root, or in the object of a shard. */
export function createStateAtRoot(
  { database, deps, env, messengerId }: PlatformHost,
  renew: Renew = async () => undefined,
): StateCalls {
  const values = new AdapterStateStore(database, deps.clock);
  const secrets = new SecretStore({ database, env, clock: deps.clock });
  const box = new SecretBox(env, "The installation of an app");
  /** Renewals that run: the token that renews works once. */
  const renewing = new Map<string, Promise<string | undefined>>();
  const readSecret = async (name: string): Promise<string | undefined> => {
    const json = await secrets.get(name);
    const renewed = json === undefined ? undefined : await renew(JSON.parse(json));
    if (renewed === undefined) return json;
    // The app may have been removed or installed anew meanwhile.
    if ((await secrets.get(name)) !== json) return secrets.get(name);
    const value = JSON.stringify(renewed);
    await secrets.put(name, value);
    return value;
  };
  const readOnce = (name: string): Promise<string | undefined> => {
    const running = renewing.get(name) ?? readSecret(name).finally(() => renewing.delete(name));
    renewing.set(name, running);
    return running;
  };
  const nameOf = (key: string): string => `adapter:${messengerId}:${key}`;
  return {
    read: async (key, kind) => (kind === "secret" ? readOnce(nameOf(key)) : values.get(messengerId, key)),
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
    async seal(text, purpose) {
      const { bytes, keyId } = await box.seal(text, purpose);
      return `${keyId}.${Buffer.from(bytes).toString("base64url")}`;
    },
    async unseal(sealed, purpose) {
      const [keyId = "", data = ""] = sealed.split(".");
      const bytes = new Uint8Array(Buffer.from(data, "base64url")).buffer;
      try {
        return await box.open({ keyId, bytes }, purpose);
      } catch {
        // Not sealed by this bot, or for something else.
        return undefined;
      }
    },
  };
}
