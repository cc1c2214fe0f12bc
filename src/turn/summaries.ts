import type { createCompactFunction } from "agents/sessions";

type Summarize = ReturnType<typeof createCompactFunction>;
type Summary = Awaited<ReturnType<Summarize>>;

/**
 * Summaries of old messages, by session. The harness waits for its summary in the middle of a turn. So a summary is
 * made beside the turns, and a later turn takes it. Nobody waits for it, however long the model takes.
 */
export class Summaries {
  readonly #made = new Map<string, NonNullable<Summary>>();
  readonly #making = new Map<string, Promise<void>>();

  /**
   * Returns the summary that was made since the last request, or `null` if there is none yet. The harness does not
   * accept a summary of messages that no longer exist.
   */
  take(session: string, summarize: () => Promise<Summary>): Summary {
    const made = this.#made.get(session);
    if (made === undefined) void this.make(session, summarize);
    this.#made.delete(session);
    return made ?? null;
  }

  /** Makes a summary, unless one is already being made. Resolves when it has ended. Never rejects. */
  make(session: string, summarize: () => Promise<Summary>): Promise<void> {
    const making = this.#making.get(session) ?? this.#make(session, summarize);
    this.#making.set(session, making);
    return making;
  }

  async #make(session: string, summarize: () => Promise<Summary>): Promise<void> {
    try {
      const summary = await Promise.resolve().then(summarize);
      if (summary !== null) this.#made.set(session, summary);
    } catch {
      // The model's guard has logged the reason. The next message tries again.
    } finally {
      this.#making.delete(session);
    }
  }
}
