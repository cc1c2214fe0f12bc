import { equalSecrets } from "../core/bytes/constant-time.ts";
import type { Database } from "../core/store/database.ts";
import type { Deps } from "../core/base/deps.ts";
import { SwitchboardError } from "../core/base/errors.ts";
import { sha256 } from "../core/bytes/sha256.ts";
import { TokenStore } from "./token-store.ts";
import type { TokenRow } from "./token-store.ts";
import { tokenText } from "./token.ts";
import type { McpCaller, NewToken, SentToken, TokenRecord } from "./token.ts";

/** Answer to a request with a token. `refused` never says why. */
export type TokenCheck =
  | { readonly kind: "accepted"; readonly caller: McpCaller }
  | { readonly kind: "refused" }
  | { readonly kind: "too-many"; readonly retryAfterMs: number };

const MINUTE_MS = 60_000;
const MOST_TOKENS = 200;
/** Compared with what somebody sends for an unknown id, so that the answer takes the same time. */
const NOBODY = "0".repeat(64);

/**
 * The tokens that open `/mcp`, at the root.
 *
 * 1. Only hashes of secrets are stored. A token is shown once, by `create`.
 * 2. Unknown, expired and revoked tokens have the same answer.
 * 3. A revoked token counts from the next request on.
 */
export class McpTokens {
  readonly #deps: Pick<Deps, "clock" | "newId">;
  readonly #store: TokenStore;
  /** Requests that a token may still make in this process, as of a time. In memory: a row would cost more than a request. */
  readonly #left = new Map<string, { readonly requests: number; readonly at: number }>();

  constructor(database: Database, deps: Pick<Deps, "clock" | "newId">) {
    this.#deps = deps;
    this.#store = new TokenStore(database, deps.clock);
  }

  /** @throws {SwitchboardError} `tokens-too-many` */
  async create({
    validMs,
    ...asked
  }: NewToken): Promise<{ readonly token: string; readonly record: TokenRecord }> {
    const now = this.#deps.clock.now();
    const isValid = (row: TokenRow): boolean => row.revokedAt === undefined && row.expiresAt > now;
    if (this.#store.all().filter(isValid).length >= MOST_TOKENS)
      throw new SwitchboardError(
        "tokens-too-many",
        `The bot has ${MOST_TOKENS} valid tokens already. Revoke those that nobody uses.`,
      );
    const id = this.#letters().slice(0, 12);
    const secret = `${this.#letters()}${this.#letters()}`;
    const row = {
      ...asked,
      id,
      secretHash: await sha256(secret),
      createdAt: now,
      expiresAt: now + validMs,
      lastUsedAt: undefined,
      revokedAt: undefined,
    };
    this.#store.insert({ ...row, scopes: [...row.scopes] });
    return { token: tokenText(id, secret), record: recordOf({ ...row, scopes: [...row.scopes] }) };
  }

  async listTokens(): Promise<readonly TokenRecord[]> {
    return this.#store.all().map(recordOf);
  }

  /** Returns the token. Undefined if there is none with this id. */
  async revokeToken(id: string): Promise<TokenRecord | undefined> {
    const row = this.#store.get(id);
    if (row !== undefined && row.revokedAt === undefined)
      this.#store.change(id, { revokedAt: this.#deps.clock.now() });
    return row && recordOf(row);
  }

  async checkToken({ id, secretHash }: SentToken): Promise<TokenCheck> {
    const row = this.#store.get(id);
    const isSame = equalSecrets(secretHash, row?.secretHash ?? NOBODY);
    const now = this.#deps.clock.now();
    if (row === undefined || !isSame || row.revokedAt !== undefined || row.expiresAt <= now)
      return { kind: "refused" };
    const retryAfterMs = this.#take(row, now);
    if (retryAfterMs > 0) return { kind: "too-many", retryAfterMs };
    if (now - (row.lastUsedAt ?? 0) >= MINUTE_MS) this.#store.change(id, { lastUsedAt: now });
    const { atOnce, name, person, scopes } = row;
    const caller = { tokenId: id, name, person, atOnce, scopes: scopes.includes("*") ? undefined : scopes };
    return { kind: "accepted", caller };
  }

  /** Takes one request from a token's budget. Returns how long to wait, in milliseconds, if nothing is left. */
  #take({ id, perMinute }: TokenRow, now: number): number {
    const before = this.#left.get(id) ?? { requests: perMinute, at: now };
    const requests = Math.min(perMinute, before.requests + ((now - before.at) * perMinute) / MINUTE_MS);
    const isLeft = requests >= 1;
    this.#left.set(id, { requests: isLeft ? requests - 1 : requests, at: now });
    return isLeft ? 0 : Math.ceil(((1 - requests) * MINUTE_MS) / perMinute);
  }

  #letters(): string {
    return this.#deps.newId().replaceAll(/[^A-Za-z0-9]/g, "");
  }
}

function recordOf({ secretHash: _, ...record }: TokenRow): TokenRecord {
  return record;
}
