import { ConfigurationError, SwitchboardError } from "../base/errors.ts";

/** Variables of the environment that hold the keys of secrets. */
export interface SecretsEnvironment {
  /** Key of everything secret that the bot stores: 32 bytes in base64. */
  readonly SECRETS_KEY?: string;
  /** Earlier keys, separated by commas. What they have sealed can still be read. */
  readonly SECRETS_KEYS_OLD?: string;
}

/** A sealed text. Only its purpose and the key `keyId` open it. */
export interface Sealed {
  readonly keyId: string;
  readonly bytes: ArrayBuffer;
}

interface Key {
  readonly id: string;
  readonly key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const MAKE_ONE = "Make a key with: openssl rand -base64 32";

/**
 * Seals texts with AES-GCM under `SECRETS_KEY`. Each is bound to its purpose, so that it opens nowhere else. Texts that
 * an earlier key has sealed stay readable.
 */
export class SecretBox {
  readonly #environment: object;
  readonly #owner: string;
  #loading: Promise<readonly [newest: Key, ...older: Key[]]> | undefined;

  /** @param owner what needs the key, in words, for the error without one */
  constructor(environment: object, owner: string) {
    this.#environment = environment;
    this.#owner = owner;
  }

  /** @throws {ConfigurationError} without a usable `SECRETS_KEY` */
  async seal(text: string, purpose: string): Promise<Sealed> {
    const [{ id, key }] = await this.#keys();
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const data = new TextEncoder().encode(text);
    const sealed = await crypto.subtle.encrypt(algorithm(nonce, id, purpose), key, data);
    const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength);
    bytes.set(nonce);
    bytes.set(new Uint8Array(sealed), NONCE_BYTES);
    return { keyId: id, bytes: bytes.buffer };
  }

  /**
   * @throws {ConfigurationError} without a usable `SECRETS_KEY`
   * @throws {SwitchboardError} `secret-key-unknown`; `secret-unreadable` if it was changed, or has another purpose
   */
  async open({ bytes, keyId }: Sealed, purpose: string): Promise<string> {
    const found = (await this.#keys()).find(({ id }) => id === keyId);
    if (found === undefined) {
      throw new SwitchboardError(
        "secret-key-unknown",
        "A stored secret was sealed with a key that the bot does not have. Add the earlier key to SECRETS_KEYS_OLD.",
      );
    }
    const data = new Uint8Array(bytes);
    try {
      const text = await crypto.subtle.decrypt(
        algorithm(data.slice(0, NONCE_BYTES), keyId, purpose),
        found.key,
        data.subarray(NONCE_BYTES),
      );
      return new TextDecoder().decode(text);
    } catch {
      // Changed, cut off, or sealed for another purpose.
      throw new SwitchboardError(
        "secret-unreadable",
        "A stored secret was changed, or belongs to another place. Store it again.",
      );
    }
  }

  /** Returns the id of the key that seals. */
  async newestKeyId(): Promise<string> {
    return (await this.#keys())[0].id;
  }

  #keys(): Promise<readonly [newest: Key, ...older: Key[]]> {
    this.#loading ??= importKeys(this.#environment, this.#owner);
    return this.#loading;
  }
}

/**
 * Checks at the start that there are keys.
 *
 * @param owner what needs them, in words
 * @throws {ConfigurationError} `secrets-key-missing`, `secrets-key-invalid`
 */
export function requireSecretsKey(environment: object, owner: string): void {
  keysIn(environment, owner);
}

function keysIn(
  environment: object,
  owner: string,
): [newest: Uint8Array<ArrayBuffer>, ...older: Uint8Array<ArrayBuffer>[]] {
  const { SECRETS_KEY: newest = "", SECRETS_KEYS_OLD: older = "" } = environment as SecretsEnvironment;
  if (newest === "") {
    throw new ConfigurationError(
      "secrets-key-missing",
      `${owner} keeps secrets, and needs SECRETS_KEY in the environment. ${MAKE_ONE}`,
    );
  }
  const parse = (name: string) => (text: string) => {
    const bytes = bytesOf(text);
    if (bytes !== undefined) return bytes;
    throw new ConfigurationError(
      "secrets-key-invalid",
      `${owner} keeps secrets, and ${name} is not ${KEY_BYTES} bytes in base64. ${MAKE_ONE}`,
    );
  };
  const words = older.split(/[\s,]+/).filter(Boolean);
  return [parse("SECRETS_KEY")(newest.trim()), ...words.map(parse("a key in SECRETS_KEYS_OLD"))];
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64.replaceAll("-", "+").replaceAll("_", "/")), (letter) =>
      letter.charCodeAt(0),
    );
    return bytes.length === KEY_BYTES ? bytes : undefined;
  } catch {
    // Not base64.
    return undefined;
  }
}

async function importKeys(environment: object, owner: string): Promise<readonly [Key, ...Key[]]> {
  const load = async (bytes: Uint8Array<ArrayBuffer>): Promise<Key> => {
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).subarray(0, 6);
    const id = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
    return { id, key };
  };
  const [newest, ...older] = keysIn(environment, owner);
  return [await load(newest), ...(await Promise.all(older.map(load)))];
}

function algorithm(nonce: Uint8Array<ArrayBuffer>, keyId: string, purpose: string) {
  const additionalData = new TextEncoder().encode(JSON.stringify(["switchboard-secret-v1", keyId, purpose]));
  return { name: "AES-GCM", iv: nonce, additionalData };
}
