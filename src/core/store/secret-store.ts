import type { Database } from "./database.ts";
import type { Clock } from "../base/deps.ts";
import { SwitchboardError } from "../base/errors.ts";
import { SecretBox } from "./secret-box.ts";
import { blob, defineTable, integer, lazyTable, text } from "./table.ts";
import type { Table } from "./table.ts";

const SECRETS = defineTable("secret_v1", {
  /** Begins with the part of the bot that owns the secret. */
  name: text("PRIMARY KEY"),
  keyId: text("NOT NULL"),
  sealed: blob("NOT NULL"),
  storedAt: integer("NOT NULL"),
});

export interface SecretStoreOptions {
  readonly database: Database;
  /** See `SecretsEnvironment`. */
  readonly env: object;
  readonly clock: Clock;
}

const MOST_SECRETS = 10_000;

/**
 * The secrets of a bot, at its root: tokens of installations, of sign-ins, keys. Any part may open the store; all use one
 * table.
 *
 * 1. The database holds ciphertext only, and so do backups and exports.
 * 2. A row opens under its own name only.
 * 3. No secret goes away to make room for another one.
 * 4. The first use in a process seals the rows of older keys again. After that, the older keys may be removed.
 */
export class SecretStore {
  readonly #options: SecretStoreOptions;
  readonly #most: number;
  readonly #rows: Table<typeof SECRETS>;
  readonly #box: SecretBox;
  #rotating: Promise<void> | undefined;

  constructor(options: SecretStoreOptions, most = MOST_SECRETS) {
    this.#options = options;
    this.#most = most;
    this.#rows = lazyTable(options.database, SECRETS);
    this.#box = new SecretBox(options.env, "The bot");
  }

  /**
   * Stores a secret, in place of an earlier one of the name.
   *
   * @throws {ConfigurationError} without a usable `SECRETS_KEY`
   * @throws {SwitchboardError} `secrets-full`
   */
  async put(name: string, secret: string): Promise<void> {
    (await this.sealed(name, secret))();
  }

  /**
   * Seals a secret. Returns the function that stores it at once, so that a caller can look before whether it is still
   * wanted, and write other rows with it. Both throw as `put` does.
   */
  async sealed(name: string, secret: string): Promise<() => void> {
    await this.#rotated();
    const { bytes, keyId } = await this.#box.seal(secret, name);
    return () => this.#store(name, keyId, bytes);
  }

  #store(name: string, keyId: string, sealed: ArrayBuffer): void {
    if (this.#storedAt(name) === undefined && this.#count() >= this.#most) {
      throw new SwitchboardError(
        "secrets-full",
        `The bot keeps ${this.#most} secrets already. Remove installations that nobody uses.`,
      );
    }
    this.#rows.put({ name, keyId, sealed, storedAt: this.#options.clock.now() });
  }

  /**
   * Returns a secret. Undefined if there is none.
   *
   * @throws {ConfigurationError} without a usable `SECRETS_KEY`
   * @throws {SwitchboardError} `secret-key-unknown`, `secret-unreadable`
   */
  async get(name: string): Promise<string | undefined> {
    if (this.#storedAt(name) === undefined) return undefined;
    await this.#rotated();
    const row = this.#rows.first("WHERE name = ?", name);
    return row && this.#box.open({ keyId: row.keyId, bytes: row.sealed }, name);
  }

  /** Deletes a secret. @param before only if it was stored before this time, in epoch milliseconds */
  delete(name: string, before = Infinity): void {
    const storedAt = this.#storedAt(name);
    if (storedAt !== undefined && storedAt < before) this.#rows.delete("WHERE name = ?", name);
  }

  #storedAt(name: string): number | undefined {
    const rows = this.#rows.query<{ at: number }>(
      "SELECT stored_at AS at FROM secret_v1 WHERE name = ?",
      name,
    );
    return rows[0]?.at;
  }

  #count(): number {
    const rows = this.#rows.query<{ count: number }>("SELECT COUNT(*) AS count FROM secret_v1");
    return rows[0]?.count ?? 0;
  }

  #rotated(): Promise<void> {
    this.#rotating ??= this.#rotate().catch((error: unknown) => {
      this.#rotating = undefined;
      throw error;
    });
    return this.#rotating;
  }

  async #rotate(): Promise<void> {
    const newest = await this.#box.newestKeyId();
    for (const { keyId, name, sealed, storedAt } of this.#rows.all("WHERE key_id <> ?", newest)) {
      try {
        const again = await this.#box.seal(await this.#box.open({ keyId, bytes: sealed }, name), name);
        const isSame = this.#rows.first("WHERE name = ? AND key_id = ?", name, keyId)?.storedAt === storedAt;
        if (isSame) this.#rows.put({ name, keyId: again.keyId, sealed: again.bytes, storedAt });
      } catch {
        // A key that is missing now may be there after the next start. Whoever reads this secret gets the error.
      }
    }
  }
}
