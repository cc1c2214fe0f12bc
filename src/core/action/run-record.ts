import type { Json } from "../message/content.ts";
import { SwitchboardError } from "../base/errors.ts";

/** One thing that a run asks or does, and that a later run of the same call must ask or do at the same place. */
export interface RunEntry {
  readonly kind: "question" | "step";
  /** Names it in an error. */
  readonly label: string;
  /** Hash of everything that makes it what it is. */
  readonly hash: string;
}

/**
 * What the runs of one call have asked and done so far, in order.
 *
 * 1. A result is stored once, in the transaction in which it becomes known, and is never replaced.
 * 2. Every run of a call meets its entries in the same order. One that differs is a `ReplayError`.
 */
export interface RunRecord {
  /** Takes the next place of this run. */
  next(): number;
  /**
   * Returns the result that an earlier run has recorded at a place. Undefined if there is none.
   *
   * @throws {ReplayError} `replay-diverged` if an earlier run had something else at this place
   */
  read(position: number, entry: RunEntry): { readonly result: Json } | undefined;
  /** Stores the result of the entry at a place. */
  record(position: number, entry: RunEntry, result: Json): void;
  /** Forgets all entries of the call. */
  forget(): void;
}

/** An execution cannot be repeated from what was recorded. `now` and `before` may quote texts of a chat. */
export class ReplayError extends SwitchboardError {
  readonly before: string;
  readonly now: string;

  constructor(
    code: "replay-diverged" | "question-open",
    message: string,
    { before, now }: { readonly before: string; readonly now: string },
  ) {
    super(code, message);
    this.name = "ReplayError";
    this.before = before;
    this.now = now;
  }
}
