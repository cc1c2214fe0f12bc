import type { Json } from "../core/message/content.ts";
import type { Database } from "../core/store/database.ts";
import type { Clock } from "../core/base/deps.ts";
import { ReplayError } from "../core/action/run-record.ts";
import type { RunEntry, RunRecord } from "../core/action/run-record.ts";
import { Sweep } from "../core/store/sweep-store.ts";
import { RunLogStore } from "./run-log-store.ts";
import type { RunLogRow } from "./run-log-store.ts";

/** Longer than a call can wait for all its questions. */
const KEEP_MS = 365 * 24 * 60 * 60 * 1000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;

/**
 * The recorded questions and steps of calls in this object. A call is run from its start with every answer; its log says
 * what the earlier runs have asked and done.
 */
export class RunLog {
  readonly #clock: Clock;
  readonly #store: RunLogStore;
  readonly #sweep: Sweep;

  constructor(database: Database, clock: Clock) {
    this.#clock = clock;
    this.#store = new RunLogStore(database);
    const old = [{ table: "run_log_v1", key: "run", since: "created_at", keepMs: KEEP_MS }];
    this.#sweep = new Sweep(database, clock, old, SWEEP_EVERY_MS);
  }

  /**
   * Returns the record of one run. Reads nothing before the run asks or does something.
   *
   * @param run the key of the call
   * @param isNew whether this is the first run of the call, so that nothing that an earlier call left counts
   */
  of(run: string, isNew: boolean): RunRecord {
    let rows: readonly RunLogRow[] | undefined;
    let next = 0;
    const read = (): readonly RunLogRow[] => {
      if (rows !== undefined) return rows;
      this.#sweep.run();
      if (isNew) this.#store.forget(run);
      rows = this.#store.of(run);
      return rows;
    };
    return {
      next: () => {
        const position = next;
        next += 1;
        return position;
      },
      read: (position, entry) => {
        const known = read().find((row) => row.position === position);
        if (known === undefined) return undefined;
        if (known.kind !== entry.kind || known.hash !== entry.hash) throw diverged(known, entry);
        return known.result === undefined ? undefined : { result: known.result };
      },
      record: (position, entry, result) => {
        this.#store.write({ run, position, ...entry, result, createdAt: this.#clock.now() });
      },
      forget: () => {
        // A run that has asked and done nothing has nothing to forget.
        if (rows !== undefined) this.#store.forget(run);
      },
    };
  }

  /** Stores that a run waits for the answer at a place. */
  open(run: string, position: number, entry: RunEntry): void {
    this.#store.write({ run, position, ...entry, result: undefined, createdAt: this.#clock.now() });
  }

  /** Stores the answer that a run waits for. The first one counts. */
  answer(run: string, position: number, result: Json): void {
    const row = this.#store.of(run).find((one) => one.position === position);
    if (row !== undefined && row.result === undefined) this.#store.write({ ...row, result });
  }

  /** Whether a run has recorded anything that is still kept. */
  has(run: string): boolean {
    return this.#store.of(run).length > 0;
  }

  /** Forgets one answer. A run that comes to its question again asks it again. */
  drop(run: string, position: number): void {
    this.#store.drop(run, position);
  }

  makeTable(): void {
    this.#store.makeTable();
  }
}

function diverged(before: RunLogRow, now: RunEntry): ReplayError {
  const named = ({ kind, label }: RunEntry): string => `the ${kind} "${label}"`;
  return new ReplayError(
    "replay-diverged",
    "The action asks or does something else than in its earlier run. Its execute must come to the same questions and steps, in the same order, with the same input and answers. Put everything that may change into ctx.step().",
    { before: named(before), now: named(now) },
  );
}
