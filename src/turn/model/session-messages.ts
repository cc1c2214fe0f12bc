import { createCompactFunction } from "agents/sessions";
import type { Session } from "agents/sessions";
import type { ThinkHarness } from "agents/harness/think";
import { generateText } from "ai";
import type { ModelMessage, ToolSet, UIMessage } from "ai";
import { CHARACTERS_PER_TOKEN } from "./load-files.ts";
import { toModelMessages } from "./model-messages.ts";
import { userMessageId } from "../question-id.ts";
import { contextTokensOf } from "../recovery/recovery-settings.ts";
import type { RunningOperations } from "../tools/running-operations.ts";
import type { TurnEngineOptions } from "../turn-engine-options.ts";

type Summary = Awaited<ReturnType<ReturnType<typeof createCompactFunction>>>;

/** Lengths at which compaction begins and that it leaves verbatim, as parts of the context limit. */
const COMPACT_AT = 0.75;
const KEEP_VERBATIM = 0.25;
/** About how many characters a tool has beside its description. */
const TOOL_CHARACTERS = 500;

/** A stored message that a search has found. */
export interface FoundMessage {
  readonly id: string;
  readonly role: string;
  readonly content: string;
}

interface SessionMessagesParts extends TurnEngineOptions {
  readonly running: RunningOperations;
}

/**
 * The transcripts of sessions: what is stored, and what the model reads of it. Old messages are replaced by a summary
 * before a transcript is longer than the model reads.
 */
export class SessionMessages {
  readonly #options: SessionMessagesParts;
  readonly #sessions = new Map<string, Session>();
  readonly #summaries = new Summaries();
  /** Sessions whose transcript a model has refused as too long. The answer needs a summary. */
  readonly #overflowing = new Set<string>();
  /** Length of the newest system prompt of each session. */
  readonly #systemLengths = new Map<string, number>();
  #harness: Pick<ThinkHarness, "session" | "messages"> | undefined;

  constructor(options: SessionMessagesParts) {
    this.#options = options;
  }

  /** Takes the harness that stores the sessions. Called once, before any of them is read. */
  start(harness: Pick<ThinkHarness, "session" | "messages">): void {
    this.#harness = harness;
  }

  /** Sets up a session when the harness opens it: a summary replaces old messages before the transcript is too long. */
  configure(session: Session, id: string): void {
    const { compaction, model, settings } = this.#options;
    this.#sessions.set(id, session);
    const own = compaction?.();
    const limit = contextTokensOf(settings);
    const summarize = createCompactFunction({
      summarize: async (prompt) => {
        const { text } = await generateText({ model: await model(undefined), prompt });
        return text.trim() === "" ? (compaction?.()?.emptySummary ?? text) : text;
      },
      keepRecentTokens: Math.round(limit * KEEP_VERBATIM),
    });
    session
      .onCompaction((history) =>
        this.#summaryOf(id, async () => {
          const compact = own?.compact;
          // The harness stores messages of the AI SDK only.
          return compact === undefined ? summarize(history) : compact(history as readonly UIMessage[]);
        }),
      )
      .compactAfter(own?.compactsAt ?? Math.round(limit * COMPACT_AT));
  }

  async #summaryOf(id: string, make: () => Promise<Summary>): Promise<Summary> {
    if (this.#overflowing.delete(id))
      await this.#options.running.untilStopped(id, this.#summaries.make(id, make));
    return this.#summaries.take(id, make);
  }

  /** Notes that a model has refused a session's transcript as too long. The next call waits for a summary. */
  noteOverflow(session: string): void {
    this.#overflowing.add(session);
  }

  /** Notes the system prompt with which a session's model is called. */
  noteSystem(session: string, prompt: string | undefined): void {
    this.#systemLengths.set(session, prompt?.length ?? 0);
  }

  /**
   * Returns stored messages with these words in this order, the best first. Also those that a summary has replaced, but
   * none of the running turn.
   */
  async search(session: string, words: string, limit: number): Promise<readonly FoundMessage[]> {
    const operationId = this.#options.running.in(session) ?? "";
    const answers = operationId === "" ? [] : await this.#answers(operationId, session);
    const found = await this.#sessionsOf()
      .session(session)
      .search(words, { limit: limit + answers.length + 1 });
    return found
      .filter(
        ({ id }) =>
          operationId === "" ||
          !(id.startsWith(userMessageId(operationId)) || answers.some((answer) => answer.id === id)),
      )
      .slice(0, limit);
  }

  /** Returns a session's stored messages. */
  stored(session: string): Promise<readonly UIMessage[]> {
    return this.#sessionsOf().messages(session);
  }

  /** Returns stored messages as a model with these tools reads them, with their files. */
  async load(session: string, history: readonly UIMessage[], tools: ToolSet): Promise<ModelMessage[]> {
    const { clock, compaction, repairPart, resolveFile, running, settings } = this.#options;
    const signal = running.signalIn(session);
    const own = compaction?.();
    return toModelMessages(own?.withoutUnloaded(history) ?? history, {
      tools,
      repairPart,
      maxContextTokens: contextTokensOf(settings) - (own !== undefined ? this.#around(session, tools) : 0),
      now: () => clock.now(),
      resolveFile: (url, mediaType, name) => resolveFile(url, mediaType, name, signal),
    });
  }

  /** Returns the stored answer of an operation so far. */
  async answer(operationId: string, session: string): Promise<UIMessage | undefined> {
    const answers = await this.#answers(operationId, session);
    return answers.findLast((message) => message.role === "assistant");
  }

  /** Removes an ended operation's question and answers from the transcript, as if it had never been asked. */
  async forget(operationId: string, session: string): Promise<void> {
    const answers = await this.#answers(operationId, session);
    const ids = [...answers.map((message) => message.id), userMessageId(operationId)];
    await this.#session(session).deleteMessages(ids);
  }

  /**
   * Drops the text of the interrupted call. The harness stores the partial message after its hook. So this hook cuts
   * the parts back to those that were stored before the call. The call then starts over, and results of finished tools
   * are kept.
   */
  async cutBack(session: string, partial: UIMessage): Promise<void> {
    const stored = await this.#session(session).getMessage(partial.id);
    partial.parts.length = stored?.parts.length ?? 0;
  }

  /** Returns about how many tokens a request has beside its messages. */
  #around(session: string, tools: ToolSet): number {
    const described = Object.values(tools).map(
      ({ description = "" }) => description.length + TOOL_CHARACTERS,
    );
    const characters = described.reduce((sum, each) => sum + each, this.#systemLengths.get(session) ?? 0);
    return Math.ceil(characters / CHARACTERS_PER_TOKEN);
  }

  #answers(operationId: string, session: string): Promise<readonly UIMessage[]> {
    return this.#sessionsOf().session(session).branches(userMessageId(operationId));
  }

  #sessionsOf(): Pick<ThinkHarness, "session" | "messages"> {
    if (this.#harness !== undefined) return this.#harness;
    throw new Error("The sessions were used before the turn engine was started");
  }

  #session(id: string): Session {
    const session = this.#sessions.get(id);
    if (session !== undefined) return session;
    throw new Error(`The session "${id}" was used before the turn engine knew it`);
  }
}

/**
 * Summaries of old messages, by session. The harness waits for its summary in the middle of a turn. So a summary is
 * made beside the turns, and a later turn takes it. Nobody waits for it, however long the model takes.
 */
class Summaries {
  readonly #made = new Map<string, NonNullable<Summary>>();
  readonly #making = new Map<string, Promise<void>>();

  /**
   * Returns the summary that was made since the last request. Before one is ready, returns `null`. The harness does not
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
