import { z } from "zod";
import { firstRow } from "../core/database.ts";
import type { Database } from "../core/database.ts";

/** Runs of actions. A row holds the result of an action, never its input. */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS action_v1 (
  key TEXT PRIMARY KEY,
  action TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  state TEXT NOT NULL,
  run_id TEXT NOT NULL,
  claimant TEXT NOT NULL,
  process TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  output TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID`;

const stateSchema = z.enum(["pending", "settled", "unknown"]);

/**
 * - `pending`: the run has begun, and its outcome is not stored
 * - `settled`: it ended; `output` is its result
 * - `unknown`: it was stopped or took too long, and may have had its effect
 */
export type LedgerState = z.infer<typeof stateSchema>;

export interface LedgerRow {
  readonly key: string;
  readonly action: string;
  readonly inputHash: string;
  readonly state: LedgerState;
  readonly runId: string;
  /** Name of the object that runs it. */
  readonly claimant: string;
  /** Tells the lives of the claimant apart. */
  readonly process: string;
  readonly attempt: number;
  /** JSON. */
  readonly output: string | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number | undefined;
}

type Stored = {
  key: string;
  action: string;
  input_hash: string;
  state: string;
  run_id: string;
  claimant: string;
  process: string;
  attempt: number;
  output: string | null;
  started_at: number;
  ended_at: number | null;
};

export class LedgerStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.run(SCHEMA);
  }

  get(key: string): LedgerRow | undefined {
    const stored = firstRow(this.#database.all<Stored>("SELECT * FROM action_v1 WHERE key = ?", key));
    return stored === undefined ? undefined : rowOf(stored);
  }

  write(row: LedgerRow): void {
    this.#database.run(
      `INSERT INTO action_v1
         (key, action, input_hash, state, run_id, claimant, process, attempt, output, started_at, ended_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET state = excluded.state, run_id = excluded.run_id,
         claimant = excluded.claimant, process = excluded.process, attempt = excluded.attempt,
         output = excluded.output, started_at = excluded.started_at, ended_at = excluded.ended_at`,
      row.key,
      row.action,
      row.inputHash,
      row.state,
      row.runId,
      row.claimant,
      row.process,
      row.attempt,
      row.output ?? null,
      row.startedAt,
      row.endedAt ?? null,
    );
  }

  delete(key: string): void {
    this.#database.run("DELETE FROM action_v1 WHERE key = ?", key);
  }
}

function rowOf(stored: Stored): LedgerRow {
  return {
    key: stored.key,
    action: stored.action,
    inputHash: stored.input_hash,
    state: stateSchema.parse(stored.state),
    runId: stored.run_id,
    claimant: stored.claimant,
    process: stored.process,
    attempt: stored.attempt,
    output: stored.output ?? undefined,
    startedAt: stored.started_at,
    endedAt: stored.ended_at ?? undefined,
  };
}
