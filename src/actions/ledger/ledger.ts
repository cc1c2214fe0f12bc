import type { Database } from "../../core/store/database.ts";
import type { Deps } from "../../core/base/deps.ts";
import { LedgerStore } from "./ledger-store.ts";
import type { LedgerRow } from "./ledger-store.ts";
import { Sweep } from "../../core/store/sweep-store.ts";

/** A call that wants to run. Plain JSON, because other objects call the ledger of the whole bot. */
export interface ClaimRequest {
  readonly key: string;
  readonly action: string;
  readonly inputHash: string;
  /** Name of the object that asks. */
  readonly claimant: string;
  /** Id of the object's present life (process). */
  readonly process: string;
  /** Whether an interrupted run may be repeated, because the action has a key of its own. */
  readonly canRepeat: boolean;
  /** Whether the caller can find out if an earlier run had its effect. */
  readonly canVerify: boolean;
  /** Age at which a run of an object that does not answer counts as interrupted, in milliseconds. */
  readonly leaseMs: number;
  /** The run that has asked a person, if this one goes on with the answer. */
  readonly resumes?: string | undefined;
}

/**
 * Answer to a claim.
 *
 * - `run`: nothing ran under this key before. The caller runs it.
 * - `interrupted`: an earlier run may have had its effect. The caller has taken it over.
 * - `settled`: the result of an earlier run, as JSON.
 * - `pending`: an earlier run has begun. `mayEnd`: it may still be running. Otherwise it was interrupted.
 * - `asking`: an earlier run waits for a person's answer, and only that answer makes it go on.
 * - `unknown`: an earlier run was stopped or took too long, and may not be taken over.
 * - `conflict`: an earlier run had another input.
 */
export type Claim =
  | { readonly kind: "run" | "interrupted"; readonly runId: string; readonly attempt: number }
  | { readonly kind: "settled"; readonly output: string }
  | { readonly kind: "pending"; readonly mayEnd: boolean }
  | { readonly kind: "unknown" | "asking" | "conflict" };

/**
 * See `ActionLedger.look`. `open`: a run has begun, and its outcome is not known. `asking`: it waits for a person's
 * answer.
 */
export type LookResult =
  | { readonly kind: "settled"; readonly output: string }
  | { readonly kind: "open" | "asking" | "conflict" }
  | undefined;

/**
 * The end of a run. `freed`: it failed before its effect, so the next call runs again. `isCertain`: so did all runs
 * before it. `asking`: it goes on, from its start, when a person has answered.
 */
export type RunEnd =
  | { readonly kind: "settled"; readonly output: string }
  | { readonly kind: "freed"; readonly isCertain?: boolean }
  | { readonly kind: "asking" }
  | { readonly kind: "unknown" };

/** Remembers which actions ran. One for each conversation, and one at the root for keys that count in the whole bot. */
export interface ActionLedger {
  claim(request: ClaimRequest): Claim | Promise<Claim>;
  /** Returns how an earlier run under the key ended. Undefined if there was no run, or it had no effect. Changes nothing. */
  look(key: string, action: string, inputHash: string): LookResult | Promise<LookResult>;
  /**
   * Stores the end of a run. Ignored if another run has replaced it.
   *
   * @param withIt runs in the transaction that stores the end, or right after it if the ledger is in another object
   */
  end(key: string, runId: string, end: RunEnd, withIt?: () => void): void | Promise<void>;
  /** Begins the next run after one that failed. Undefined if another run has replaced that one, or has ended. */
  again(key: string, runId: string): NextRun | undefined | Promise<NextRun | undefined>;
}

/** See `ActionLedger.again`. */
export interface NextRun {
  readonly runId: string;
  readonly attempt: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long the result of a run is kept, in milliseconds. */
export const KEEP_SETTLED_MS = 30 * DAY_MS;
const KEEP_OPEN_MS = 90 * DAY_MS;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
/** Stands for the process of a run that has ended without an outcome. No process has this name. */
const ENDED = "";

/**
 * The ledger in an object's own database.
 *
 * 1. A run is stored before `execute` begins, and its result before the model gets it.
 * 2. A key has one row. A claim reads and writes it without waiting in between, so only one caller gets to run.
 * 3. A result is never replaced. Only a run that failed before its effect frees its key.
 * 4. A run counts as interrupted when its object has started again since, or after the lease.
 * 5. A run that was stopped or timed out is repeated only if `verify` says that it had no effect.
 * 6. A run that asks a person goes on only with the answer, as the same attempt.
 */
export class LocalLedger implements ActionLedger {
  readonly #database: Database;
  readonly #store: LedgerStore;
  readonly #deps: Pick<Deps, "clock" | "newId">;
  readonly #sweep: Sweep;

  constructor(database: Database, deps: Pick<Deps, "clock" | "newId">) {
    this.#database = database;
    this.#store = new LedgerStore(database);
    this.#deps = deps;
    // A run that asks is as old as its newest question.
    const since = `CASE state WHEN 'settled' THEN ended_at ELSE COALESCE(ended_at, started_at) + ${KEEP_OPEN_MS - KEEP_SETTLED_MS} END`;
    const old = [{ table: "action_v1", key: "key", since, keepMs: KEEP_SETTLED_MS }];
    this.#sweep = new Sweep(database, deps.clock, old, SWEEP_EVERY_MS);
  }

  claim(request: ClaimRequest): Claim {
    this.#sweep.run();
    const row = this.#store.get(request.key);
    if (row === undefined) return this.#begin(request, "run", 1);
    if (row.inputHash !== request.inputHash || row.action !== request.action) return { kind: "conflict" };
    if (row.state === "settled") return { kind: "settled", output: row.output ?? "null" };
    // The asking run did nothing after its question, also if the ledger was never told that it asks.
    if (request.resumes === row.runId && row.state !== "unknown")
      return this.#begin(request, "run", row.attempt);
    if (row.state === "asking") return { kind: "asking" };
    const isInterrupted = row.state === "pending" && this.#isInterrupted(row, request);
    const canTakeOver = isInterrupted
      ? request.canRepeat || request.canVerify
      : row.state === "unknown" && request.canVerify;
    if (canTakeOver) return this.#begin(request, "interrupted", row.attempt + 1);
    return row.state === "unknown" ? { kind: "unknown" } : { kind: "pending", mayEnd: !isInterrupted };
  }

  look(key: string, action: string, inputHash: string): LookResult {
    const row = this.#store.get(key);
    if (row === undefined) return undefined;
    if (row.inputHash !== inputHash || row.action !== action) return { kind: "conflict" };
    if (row.state === "settled") return { kind: "settled", output: row.output ?? "null" };
    return { kind: row.state === "asking" ? "asking" : "open" };
  }

  end(key: string, runId: string, end: RunEnd, withIt: () => void = () => {}): void {
    const row = this.#store.get(key);
    if (row === undefined || row.runId !== runId || row.state === "settled") return;
    this.#database.transaction(() => {
      this.#write(row, end);
      withIt();
    });
  }

  again(key: string, runId: string): NextRun | undefined {
    const row = this.#store.get(key);
    if (row === undefined || row.runId !== runId || row.state === "settled") return undefined;
    const next = { runId: this.#deps.newId(), attempt: row.attempt + 1 };
    const startedAt = this.#deps.clock.now();
    this.#store.write({ ...row, ...next, state: "pending", startedAt, endedAt: undefined });
    return next;
  }

  #write(row: LedgerRow, end: RunEnd): void {
    if (end.kind === "freed") {
      // An earlier run may have had the effect, and the next one must know that.
      if (row.attempt > 1 && end.isCertain !== true) this.#store.write({ ...row, process: ENDED });
      else this.#store.delete(row.key);
      return;
    }
    const output = end.kind === "settled" ? end.output : undefined;
    this.#store.write({ ...row, state: end.kind, output, endedAt: this.#deps.clock.now() });
  }

  #begin(request: ClaimRequest, kind: "run" | "interrupted", attempt: number): Claim {
    const { key, action, inputHash, claimant, process } = request;
    const runId = this.#deps.newId();
    this.#store.write({
      key,
      action,
      inputHash,
      state: "pending",
      runId,
      claimant,
      process,
      attempt,
      output: undefined,
      startedAt: this.#deps.clock.now(),
      endedAt: undefined,
    });
    return { kind, runId, attempt };
  }

  #isInterrupted(row: LedgerRow, { claimant, process, leaseMs }: ClaimRequest): boolean {
    if (row.process === ENDED || (row.claimant === claimant && row.process !== process)) return true;
    return this.#deps.clock.now() - row.startedAt >= leaseMs;
  }
}
