import { z } from "zod";
import type { Database } from "../core/store/database.ts";
import { defineTable, integer, json, lazyTable, text, type RowOf, type Table } from "../core/store/table.ts";
import { leftOutSchema, toolPinSchema } from "./tool-pin.ts";

/** `asked`: the owner has a card about the tool. */
const decisionSchema = z.enum(["asked", "allowed", "refused"]);
const decisionsSchema = z.record(z.string(), decisionSchema);

const CATALOGUES = defineTable("mcp_catalogue_v1", {
  server: text("PRIMARY KEY"),
  /** SHA-256 of the server's address, which may hold a token. Another address is another server. */
  addressHash: text("NOT NULL"),
  /** Last time that the server was asked, and that it answered, in epoch milliseconds. */
  triedAt: integer("NOT NULL"),
  listedAt: integer(),
  /** Why the last try failed. */
  problem: text(),
  tools: json(z.array(toolPinSchema))("NOT NULL"),
  leftOut: json(z.array(leftOutSchema))("NOT NULL"),
  /** Decisions of the owner by the hash of a tool. */
  decisions: json(decisionsSchema)("NOT NULL"),
  /** Names of the tools that the owner has seen in some form. */
  asked: json(z.array(z.string()))("NOT NULL"),
});

export type CatalogueRow = RowOf<typeof CATALOGUES>;
export type Decision = z.infer<typeof decisionSchema>;

/** The catalogues of the bot's servers, at its root. Conversations ask often, so each row is read once. */
export class CatalogueStore {
  readonly #rows: Table<typeof CATALOGUES>;
  readonly #known = new Map<string, CatalogueRow | undefined>();

  constructor(database: Database) {
    this.#rows = lazyTable(database, CATALOGUES);
  }

  get(server: string): CatalogueRow | undefined {
    if (!this.#known.has(server)) this.#known.set(server, this.#rows.first("WHERE server = ?", server));
    return this.#known.get(server);
  }

  put(row: CatalogueRow): void {
    this.#rows.put(row);
    this.#known.delete(row.server);
  }
}
