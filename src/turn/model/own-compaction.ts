import type { UIMessage } from "ai";

/** Stored messages that are replaced by a summary, from the first one to the last one. */
export interface Compaction {
  readonly fromMessageId: string;
  readonly toMessageId: string;
  readonly summary: string;
}

/** Chooses messages that a summary replaces for the model. `null`: none now. */
export type CompactFunction = (messages: readonly UIMessage[]) => Promise<Compaction | null>;

/** How the bot's own code makes transcripts shorter. A whole request then stays within `maxContextTokens`. */
export interface OwnCompaction {
  /** Length at which a transcript is compacted, in tokens. Undefined: as usual. */
  readonly compactsAt: number | undefined;
  /** Undefined: the bot's model writes a summary. */
  readonly compact: CompactFunction | undefined;
  /** The summary if the model writes none. Without one a transcript would only grow, and each turn reads all of it. */
  readonly emptySummary: string;
  /** Returns messages without texts that the model has dropped. */
  withoutUnloaded(messages: readonly UIMessage[]): readonly UIMessage[];
}
