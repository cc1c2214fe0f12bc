import type { Database } from "../../../src/core/store/database.ts";

/** Defects that a test plants around the real parts. Those inside of a part replace its module. */
export interface Planted {
  readonly database?: (real: Database) => Database;
  /** How much a person's press takes for earlier than it is, in milliseconds. */
  readonly pressedBeforeMs?: number;
  /** Outcomes are stored at once, also in a transaction that fails. */
  readonly tellsOutside?: boolean;
  /** A press shows its decision before anything is stored. */
  readonly drawsFirst?: boolean;
  /** A press counts in any chat. */
  readonly findsAnywhere?: boolean;
  /** A word of decision counts without a quote. */
  readonly decidesUnquoted?: boolean;
  /** Reminders are sent at once, also in a transaction that fails. */
  readonly remindsOutside?: boolean;
  /** Only the card in the chat that asked is kept up to date. */
  readonly drawsHereOnly?: boolean;
  /** A new session takes back what waits. */
  readonly withdrawsAtNew?: boolean;
}
