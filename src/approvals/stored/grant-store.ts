import { z } from "zod";
import { firstRow } from "../../core/database.ts";
import type { Database } from "../../core/database.ts";
import { LazyTables } from "../../core/lazy-tables.ts";
import { deciderSchema, jsonOf, scheduleSchema } from "./approval-rows.ts";
import type { Grant } from "../rules/grant.ts";
import { personSchema } from "../../core/stored-address.ts";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS grant_v1 (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  action TEXT NOT NULL,
  scope TEXT NOT NULL,
  words TEXT NOT NULL,
  length TEXT NOT NULL,
  person TEXT NOT NULL,
  messenger_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  root_request TEXT,
  given_by TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  given_at INTEGER NOT NULL,
  until INTEGER,
  revoked_at INTEGER,
  revoked_by TEXT,
  uses INTEGER NOT NULL,
  last_used_at INTEGER,
  is_new INTEGER,
  schedule TEXT
) STRICT, WITHOUT ROWID`;

/** Columns that the first table did not have. */
const ADDED = { is_new: "INTEGER", schedule: "TEXT" };

type Stored = {
  id: string;
  action: string;
  scope: string;
  words: string;
  length: string;
  person: string;
  messenger_id: string;
  thread_id: string;
  root_request: string | null;
  given_by: string;
  approval_id: string;
  given_at: number;
  until: number | null;
  revoked_at: number | null;
  revoked_by: string | null;
  uses: number;
  last_used_at: number | null;
  schedule: string | null;
};

const lengthSchema = z.enum(["request", "hour", "always", "schedule"]);

/** Grants of one conversation, including ended ones, for audits. */
export class GrantStore {
  readonly #database: Database;
  readonly #tables: LazyTables;

  constructor(database: Database) {
    this.#database = database;
    this.#tables = new LazyTables(database, { table: "grant_v1", schema: [SCHEMA], added: ADDED });
  }

  get(id: string): Grant | undefined {
    return firstRow(this.#read("WHERE id = ?", id));
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
    const newest = firstRow(
      this.#database.all<{ seq: number | null }>("SELECT max(seq) AS seq FROM grant_v1"),
    );
    this.#database.run(
      `INSERT INTO grant_v1 (id, seq, action, scope, words, length, person, messenger_id, thread_id, root_request,
         given_by, approval_id, given_at, until, schedule, uses, is_new)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 1)`,
      grant.id,
      (newest?.seq ?? 0) + 1,
      grant.action,
      grant.scope,
      grant.words,
      grant.length,
      JSON.stringify(grant.person),
      grant.messengerId,
      grant.threadId,
      grant.rootRequest ?? null,
      JSON.stringify(grant.givenBy),
      grant.approvalId,
      grant.givenAt,
      grant.until ?? null,
      jsonOf(grant.schedule),
    );
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
    this.#database.run(
      "UPDATE grant_v1 SET uses = ?, last_used_at = ?, revoked_at = ?, revoked_by = ? WHERE id = ?",
      uses,
      lastUsedAt ?? null,
      revokedAt ?? null,
      jsonOf(revokedBy),
      id,
    );
  }

  /** Makes the table, which most conversations never need. Called outside of transactions that may fail. */
  makeTable(): void {
    this.#tables.make();
  }

  #read(where: string, ...bindings: (string | number)[]): Grant[] {
    return this.#tables.all<Stored>(`SELECT * FROM grant_v1 ${where}`, ...bindings).map(grantOf);
  }
}

function grantOf(stored: Stored): Grant {
  return {
    id: stored.id,
    action: stored.action,
    scope: stored.scope,
    words: stored.words,
    length: lengthSchema.parse(stored.length),
    person: personSchema.parse(JSON.parse(stored.person)),
    schedule: stored.schedule === null ? undefined : scheduleSchema.parse(JSON.parse(stored.schedule)),
    messengerId: stored.messenger_id,
    threadId: stored.thread_id,
    rootRequest: stored.root_request ?? undefined,
    givenBy: deciderSchema.parse(JSON.parse(stored.given_by)),
    approvalId: stored.approval_id,
    givenAt: stored.given_at,
    until: stored.until ?? undefined,
    revokedAt: stored.revoked_at ?? undefined,
    revokedBy: stored.revoked_by === null ? undefined : deciderSchema.parse(JSON.parse(stored.revoked_by)),
    uses: stored.uses,
    lastUsedAt: stored.last_used_at ?? undefined,
  };
}
