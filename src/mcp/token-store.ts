import { z } from "zod";
import { DAY_MS } from "../core/time/civil-time.ts";
import type { Database } from "../core/store/database.ts";
import type { Clock } from "../core/base/deps.ts";
import { Sweep } from "../core/store/sweep-store.ts";
import { defineTable, integer, json, lazyTable, text } from "../core/store/table.ts";
import type { RowOf, Table } from "../core/store/table.ts";

const TOKENS = defineTable("mcp_token_v1", {
  id: text("PRIMARY KEY"),
  /** SHA-256 of the secret, as hexadecimal digits. */
  secretHash: text("NOT NULL"),
  name: text("NOT NULL"),
  scopes: json(z.array(z.string()))("NOT NULL"),
  person: json(z.object({ messenger: z.string(), userId: z.string() }))(),
  perMinute: integer("NOT NULL"),
  atOnce: integer("NOT NULL"),
  createdAt: integer("NOT NULL"),
  expiresAt: integer("NOT NULL"),
  lastUsedAt: integer(),
  revokedAt: integer(),
});

export type TokenRow = RowOf<typeof TOKENS>;

const KEEP_MS = 90 * DAY_MS;

/** The tokens of the bot, at its root. Ended ones are kept for 90 days. */
export class TokenStore {
  readonly #rows: Table<typeof TOKENS>;
  readonly #sweep: Sweep;

  constructor(database: Database, clock: Clock) {
    this.#rows = lazyTable(database, TOKENS);
    this.#sweep = new Sweep(database, clock, [
      { table: "mcp_token_v1", since: "COALESCE(revoked_at, expires_at)", keepMs: KEEP_MS },
    ]);
  }

  get(id: string): TokenRow | undefined {
    return this.#rows.first("WHERE id = ?", id);
  }

  /** Newest first. */
  all(): readonly TokenRow[] {
    return this.#rows.all("ORDER BY created_at DESC, id");
  }

  insert(row: TokenRow): void {
    this.#sweep.run();
    this.#rows.insert(row);
  }

  change(id: string, changes: Partial<Pick<TokenRow, "lastUsedAt" | "revokedAt">>): void {
    this.#rows.update(changes, "WHERE id = ?", id);
  }
}
