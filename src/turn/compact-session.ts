import { createCompactFunction } from "agents/sessions";
import type { Session } from "agents/sessions";

/** Where compaction begins, and what it leaves verbatim, as parts of the context limit. */
const COMPACT_AT = 0.75;
const KEEP_VERBATIM = 0.25;

type Summarize = ReturnType<typeof createCompactFunction>;
type Summary = Awaited<ReturnType<Summarize>>;

export interface Summarizer {
  /** Has the model write a summary. */
  readonly write: (prompt: string) => Promise<string>;
  /** The summary to use now, made by `make` or before. */
  readonly summaryOf: (make: () => Promise<Summary>) => Promise<Summary>;
}

/** Has old messages of a session replaced by a summary before its transcript is longer than `limit` tokens. */
export function compactSession(session: Session, limit: number, { summaryOf, write }: Summarizer): void {
  const summarize = createCompactFunction({
    summarize: write,
    keepRecentTokens: Math.round(limit * KEEP_VERBATIM),
  });
  session
    .onCompaction((history) => summaryOf(() => summarize(history)))
    .compactAfter(Math.round(limit * COMPACT_AT));
}
