import { z } from "zod";
import type { Database } from "../../core/store/database.ts";
import { added, checked, defineTable, flag, integer, json, lazyTable, text } from "../../core/store/table.ts";
import type { RowOf, Table } from "../../core/store/table.ts";
import { deciderSchema, scheduleSchema, sumSchema } from "./approval-rows.ts";
import type { Grant } from "../rules/grant.ts";
import { personSchema } from "../../core/chat/stored-address.ts";

const GRANTS = defineTable("grant_v1", {
  id: text("PRIMARY KEY"),
  seq: integer("NOT NULL"),
  action: text("NOT NULL"),
  scope: text("NOT NULL"),
  words: text("NOT NULL"),
  length: checked(z.enum(["request", "hour", "always", "schedule"]))("NOT NULL"),
  person: json(personSchema)("NOT NULL"),
  messengerId: text("NOT NULL"),
  threadId: text("NOT NULL"),
  rootRequest: text(),
  givenBy: json(deciderSchema)("NOT NULL"),
  approvalId: text("NOT NULL"),
  givenAt: integer("NOT NULL"),
  until: integer(),
  revokedAt: integer(),
  revokedBy: json(deciderSchema)(),
  uses: integer("NOT NULL"),
  lastUsedAt: integer(),
  /** Until it was compared with the requests that waited when it was given. */
  isNew: added(flag()),
  schedule: added(json(scheduleSchema)()),
  calls: added(integer()),
  sum: added(json(sumSchema)()),
  budget: added(text()),
});

/** Grants of one conversation, including ended ones, for audits. */
export class GrantStore {
  readonly #database: Database;
  readonly #grants: Table<typeof GRANTS>;

  constructor(database: Database) {
    this.#database = database;
    this.#grants = lazyTable(database, GRANTS);
  }

  get(id: string): Grant | undefined {
    return this.#read("WHERE id = ?", id)[0];
  }

  /** Grants of an action that nobody has ended, oldest first. Some may be over. */
  ofAction(action: string): Grant[] {
    return this.#read("WHERE action = ? AND revoked_at IS NULL ORDER BY seq", action);
  }

  /** Newest first. */
  list(limit: number): Grant[] {
    return this.#read("ORDER BY seq DESC LIMIT ?", limit);
  }

  insert(grant: Grant): void {
    const newest = this.#database.all<{ seq: number | null }>("SELECT max(seq) AS seq FROM grant_v1")[0];
    this.#grants.insert({ ...grant, seq: (newest?.seq ?? 0) + 1, uses: 0, isNew: true });
  }

  /** Grants that were not compared with the requests that waited when they were given, oldest first. */
  fresh(): Grant[] {
    return this.#read("WHERE is_new = 1 ORDER BY seq");
  }

  /** Notes that a grant was compared with the requests that waited. */
  compared(id: string): void {
    this.#database.run("UPDATE grant_v1 SET is_new = NULL WHERE id = ?", id);
  }

  /** Stores the use of a grant, and its end. Its terms never change. */
  update({ id, lastUsedAt, revokedAt, revokedBy, uses }: Grant): void {
    this.#grants.update({ uses, lastUsedAt, revokedAt, revokedBy }, "WHERE id = ?", id);
  }

  /** Makes the table, which most conversations never need. Called outside of transactions that may fail. */
  makeTable(): void {
    this.#grants.make();
  }

  #read(where: string, ...bindings: (string | number)[]): Grant[] {
    return this.#grants.all(where, ...bindings).map(grantOf);
  }
}

function grantOf({ isNew: _isNew, seq: _seq, ...grant }: RowOf<typeof GRANTS>): Grant {
  return grant;
}
