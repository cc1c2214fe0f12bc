import type { ContenderName, OtherSources } from "../contender.ts";
import type { Report } from "../report.ts";

export interface PartContext {
  readonly report: Report;
  /** The measured bots: ours, and the peer if it is installed. */
  readonly bots: readonly ContenderName[];
  /** Bare objects, which take webhooks and send no replies. */
  readonly bare: readonly ContenderName[];
  /** The part `against` is left out without `before`. */
  readonly sources: OtherSources;
  /** Repetitions of each measurement. The report has the medians. */
  readonly rounds: number;
  /** Lengths of transcripts, in messages. */
  readonly transcripts: readonly number[];
}

export type Part = (context: PartContext) => Promise<void>;
