import type { Budget } from "../../src/core/budget.ts";
import type { Database } from "../../src/core/database.ts";
import type { Surface } from "../../src/core/surface.ts";

/** A deliberate defect, put around or in place of a part of the product. */
export interface Mutant {
  readonly name: string;
  readonly threadDatabase?: (database: Database) => Database;
  readonly rootDatabase?: (database: Database) => Database;
  readonly budget?: (budget: Budget) => Budget;
  readonly surface?: (surface: Surface) => Surface;
  /** What a start of a thread's object does to its storage. */
  readonly onThreadStart?: (database: Database) => void;
  /** The identity of a message, in place of chat and message id. */
  readonly eventKey?: (updateId: number) => string;
}

export const mutants: readonly Mutant[] = [];
