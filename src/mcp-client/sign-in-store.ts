import type { Database } from "../core/store/database.ts";
import { LazyTables } from "../core/store/lazy-tables.ts";
import { defineTable, integer, Table, text } from "../core/store/table.ts";
import type { RowOf } from "../core/store/table.ts";

/** Sign-ins that have begun. Their verifiers are in the secret store. */
const SIGN_INS = defineTable("mcp_sign_in_v1", {
  /** SHA-256 of the state, which is in the link. */
  stateHash: text("PRIMARY KEY"),
  server: text("NOT NULL"),
  messenger: text("NOT NULL"),
  userId: text("NOT NULL"),
  /** The person's name, for the page. */
  name: text("NOT NULL"),
  expiresAt: integer("NOT NULL"),
});

/** People's connections. Their tokens are in the secret store. */
const CONNECTIONS = defineTable("mcp_connection_v1", {
  /** Name of the secret with the tokens. */
  secret: text("PRIMARY KEY"),
  server: text("NOT NULL"),
  messenger: text("NOT NULL"),
  userId: text("NOT NULL"),
  connectedAt: integer("NOT NULL"),
});

export type SignInRow = RowOf<typeof SIGN_INS>;
export type ConnectionRow = RowOf<typeof CONNECTIONS>;

/** Sign-ins and connections of people, at the root. */
export class SignInStore {
  readonly #tables: LazyTables;
  readonly #signIns: Table<typeof SIGN_INS>;
  readonly #connections: Table<typeof CONNECTIONS>;

  constructor(database: Database) {
    this.#tables = new LazyTables(database, SIGN_INS, CONNECTIONS);
    this.#signIns = new Table(this.#tables, SIGN_INS);
    this.#connections = new Table(this.#tables, CONNECTIONS);
  }

  begin(row: SignInRow): void {
    this.#signIns.insert(row);
  }

  /** Returns a sign-in that is open. */
  open(stateHash: string, now: number): SignInRow | undefined {
    return this.#signIns.first("WHERE state_hash = ? AND expires_at > ?", stateHash, now);
  }

  end(stateHash: string): void {
    this.#tables.run("DELETE FROM mcp_sign_in_v1 WHERE state_hash = ?", stateHash);
  }

  /** Returns the sign-ins whose time is over. */
  expired(now: number): readonly SignInRow[] {
    return this.#signIns.all("WHERE expires_at <= ?", now);
  }

  /** Returns the time at which the first sign-in ends. */
  firstEnd(): number | undefined {
    return this.#signIns.first("ORDER BY expires_at")?.expiresAt;
  }

  connect(row: ConnectionRow): void {
    this.#connections.put(row);
  }

  connection(secret: string): ConnectionRow | undefined {
    return this.#connections.first("WHERE secret = ?", secret);
  }

  /** Returns a person's connections. */
  of(messenger: string, userId: string): readonly ConnectionRow[] {
    return this.#connections.all("WHERE messenger = ? AND user_id = ? ORDER BY server", messenger, userId);
  }

  disconnect(secret: string): void {
    this.#tables.run("DELETE FROM mcp_connection_v1 WHERE secret = ?", secret);
  }
}
