import type { Session } from "agents/sessions";
import type { ThinkHarness } from "agents/harness/think";
import { generateText } from "ai";
import type { ModelMessage, ToolSet, UIMessage } from "ai";
import { compactSession } from "./compact-session.ts";
import { CHARACTERS_PER_TOKEN } from "./load-files.ts";
import { toModelMessages } from "./model-messages.ts";
import { userMessageId } from "./question-id.ts";
import { contextTokensOf } from "./recovery-settings.ts";
import type { RunningOperations } from "./running-operations.ts";
import { Summaries } from "./summaries.ts";
import type { TurnEngineOptions } from "./turn-engine-options.ts";

/** About how many characters a tool has beside its description. */
const TOOL_CHARACTERS = 500;

/** A stored message that a search has found. */
export interface FoundMessage {
  readonly id: string;
  readonly role: string;
  readonly content: string;
}

export interface SessionMessagesOptions extends Pick<
  TurnEngineOptions,
  "clock" | "compaction" | "model" | "repairPart" | "resolveFile" | "settings"
> {
  readonly running: RunningOperations;
}

/**
 * The transcripts of sessions: what is stored, and what the model reads of it. Old messages are replaced by a summary
 * before a transcript is longer than the model reads.
 */
export class SessionMessages {
  readonly #options: SessionMessagesOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #summaries = new Summaries();
  /** Sessions whose transcript a model has refused as too long. The answer needs a summary. */
  readonly #overflowing = new Set<string>();
  /** Length of the newest system prompt of each session. */
  readonly #systemLengths = new Map<string, number>();
  #harness: Pick<ThinkHarness, "session" | "messages"> | undefined;

  constructor(options: SessionMessagesOptions) {
    this.#options = options;
  }

  /** Takes the harness that stores the sessions. Called once, before any of them is read. */
  start(harness: Pick<ThinkHarness, "session" | "messages">): void {
    this.#harness = harness;
  }

  /** Sets up a session when the harness opens it. */
  configure(session: Session, id: string): void {
    const { compaction, model, running, settings } = this.#options;
    this.#sessions.set(id, session);
    compactSession(session, contextTokensOf(settings), {
      own: compaction?.(),
      write: async (prompt) => {
        const { text } = await generateText({ model: await model(undefined), prompt });
        return text.trim() === "" ? (compaction?.()?.emptySummary ?? text) : text;
      },
      summaryOf: async (make) => {
        if (this.#overflowing.delete(id)) await running.untilStopped(id, this.#summaries.make(id, make));
        return this.#summaries.take(id, make);
      },
    });
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
