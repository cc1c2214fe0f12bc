import { createCompactFunction } from "agents/sessions";
import type { Session } from "agents/sessions";
import type { UIMessage } from "ai";
import type { OwnCompaction } from "./own-compaction.ts";

/** Lengths at which compaction begins and that it leaves verbatim, as parts of the context limit. */
const COMPACT_AT = 0.75;
const KEEP_VERBATIM = 0.25;

type Summarize = ReturnType<typeof createCompactFunction>;
type Summary = Awaited<ReturnType<Summarize>>;

export interface Summarizer {
  /** Makes the model write a summary. */
  readonly write: (prompt: string) => Promise<string>;
  /** The bot's own settings. */
  readonly own?: OwnCompaction | undefined;
  /** Returns the summary to use now. `make` makes one if needed. */
  readonly summaryOf: (make: () => Promise<Summary>) => Promise<Summary>;
}

/**
 * Sets up a session so that a summary replaces its old messages before the transcript is longer than `limit` tokens.
 */
export function compactSession(session: Session, limit: number, { own, summaryOf, write }: Summarizer): void {
  const summarize = createCompactFunction({
    summarize: write,
    keepRecentTokens: Math.round(limit * KEEP_VERBATIM),
  });
  session
    .onCompaction((history) =>
      summaryOf(async () => {
        const compact = own?.compact;
        // The harness stores messages of the AI SDK only.
        return compact === undefined ? summarize(history) : compact(history as readonly UIMessage[]);
      }),
    )
    .compactAfter(own?.compactsAt ?? Math.round(limit * COMPACT_AT));
}
