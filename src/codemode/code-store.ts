import { z } from "zod";
import type { Json } from "../core/message/content.ts";
import type { Database } from "../core/store/database.ts";
import { checked, defineTable, encoded, flag, integer, lazyTable, text } from "../core/store/table.ts";
import type { RowOf, Table } from "../core/store/table.ts";

/**
 * - `running`: its code runs, or will run again
 * - `paused`: calls of it wait for people
 * - `completed`, `error`: its code has ended
 * - `rejected`: a person has said no, or nobody has answered
 * - `rolled_back`: its calls were undone afterwards
 */
const runState = z.enum(["running", "paused", "completed", "error", "rejected", "rolled_back"]);

/**
 * - `executing`: it has begun
 * - `pending`: it waits for a person
 * - `applied`: `result` is its result
 * - `error`: `result` has the words of its failure
 * - `reverted`: it was applied, and undone
 */
const callState = z.enum(["executing", "pending", "applied", "error", "reverted"]);

const value = encoded<Json>((stored) => JSON.parse(stored) as Json);

/** Runs of code. */
const RUNS = defineTable(
  "code_run_v1",
  {
    id: text("PRIMARY KEY"),
    seq: integer("NOT NULL"),
    /** The runtime of the bot. */
    runtime: text("NOT NULL"),
    requestId: text("NOT NULL"),
    toolCallId: text("NOT NULL"),
    code: text("NOT NULL"),
    state: checked(runState)("NOT NULL"),
    /** For whom and where it runs. */
    context: value("NOT NULL"),
    /** Whether it goes on outside of its turn, which is told the end. */
    isResumed: flag("NOT NULL"),
    /** The answer that let it go on: see `AskedOf`. */
    resumedBy: text(),
    result: value(),
    error: text(),
    logs: value(),
    /** Epoch milliseconds. */
    createdAt: integer("NOT NULL"),
    endedAt: integer(),
  },
  "STRICT, WITHOUT ROWID",
  { code_run_v1_open: "(seq) WHERE ended_at IS NULL", code_run_v1_call: "(request_id, tool_call_id)" },
);

/** Calls of a run, in their order. */
const CALLS = defineTable("code_call_v1", {
  run: text("PRIMARY KEY"),
  position: integer("PRIMARY KEY"),
  connector: text("NOT NULL"),
  method: text("NOT NULL"),
  args: value("NOT NULL"),
  hash: text("NOT NULL"),
  state: checked(callState)("NOT NULL"),
  result: value(),
  /** The question to people: `approval:<id>` or `question:<id>`. */
  asked: text(),
  createdAt: integer("NOT NULL"),
});

export type CodeRun = Omit<RowOf<typeof RUNS>, "seq">;
export type CodeCall = RowOf<typeof CALLS>;

export class CodeStore {
  readonly #runs: Table<typeof RUNS>;
  readonly #calls: Table<typeof CALLS>;

  constructor(database: Database) {
    this.#runs = lazyTable(database, RUNS);
    this.#calls = lazyTable(database, CALLS);
  }

  get(id: string): CodeRun | undefined {
    return this.#runs.first("WHERE id = ?", id);
  }

  /** Returns the run that a tool call of a turn is. */
  ofCall(requestId: string, toolCallId: string): CodeRun | undefined {
    return this.#runs.first("WHERE request_id = ? AND tool_call_id = ?", requestId, toolCallId);
  }

  /** Returns the runs of a turn, oldest first. */
  ofTurn(requestId: string): CodeRun[] {
    return this.#runs.all("WHERE request_id = ? ORDER BY seq", requestId);
  }

  /** Returns the runs that have not ended, oldest first. */
  open(): CodeRun[] {
    return this.#runs.all("WHERE ended_at IS NULL ORDER BY seq");
  }

  /** Returns the runs of a runtime, newest first. */
  newest(runtime: string, limit: number): CodeRun[] {
    return this.#runs.all("WHERE runtime = ? ORDER BY seq DESC LIMIT ?", runtime, limit);
  }

  insert(run: CodeRun): void {
    // A transaction that fails would take the tables away again.
    this.#runs.make();
    this.#calls.make();
    const [last] = this.#runs.query<{ seq: number | null }>("SELECT max(seq) AS seq FROM code_run_v1");
    this.#runs.insert({ ...run, seq: (last?.seq ?? 0) + 1 });
  }

  change(
    id: string,
    changes: Partial<
      Pick<CodeRun, "state" | "isResumed" | "resumedBy" | "result" | "error" | "logs" | "endedAt">
    >,
  ): void {
    this.#runs.update(changes, "WHERE id = ?", id);
  }

  calls(run: string): CodeCall[] {
    return this.#calls.all("WHERE run = ? ORDER BY position", run);
  }

  call(run: string, position: number): CodeCall | undefined {
    return this.#calls.first("WHERE run = ? AND position = ?", run, position);
  }

  addCall(call: CodeCall): void {
    this.#calls.insert(call);
  }

  changeCall(
    { position, run }: Pick<CodeCall, "run" | "position">,
    changes: Partial<Pick<CodeCall, "state" | "result" | "asked">>,
  ): void {
    this.#calls.update(changes, "WHERE run = ? AND position = ?", run, position);
  }

  /** Deletes the calls of runs that are gone. */
  sweepCalls(): void {
    this.#calls.delete("WHERE run NOT IN (SELECT id FROM code_run_v1)");
  }
}
