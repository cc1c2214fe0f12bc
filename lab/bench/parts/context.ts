import type { ContenderName } from "../contender.ts";
import type { Report } from "../report.ts";

export interface PartContext {
  readonly report: Report;
  /** The bots that are measured: ours, and the peer when it is installed. */
  readonly bots: readonly ContenderName[];
  /** Bare objects, which take webhooks and answer nobody. */
  readonly bare: readonly ContenderName[];
  /** How often each measurement is repeated; medians are reported. */
  readonly rounds: number;
  /** Lengths of transcripts, in messages. */
  readonly transcripts: readonly number[];
}

export type Part = (context: PartContext) => Promise<void>;
