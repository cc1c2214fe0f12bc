import { createCompactFunction } from "agents/sessions";
import type { Session } from "agents/sessions";
import { ThinkHarness } from "agents/harness/think";
import type { ThinkErrorClass, ThinkSessionEvent, ThinkToolCallDecision } from "agents/harness/think";
import { generateText } from "ai";
import type { LanguageModel, ToolSet, UIMessage, UIMessageChunk } from "ai";
import { wait } from "../core/deps.ts";
import type { Clock } from "../core/deps.ts";
import type { Log } from "../core/log.ts";
import type { Patience } from "../core/model-patience.ts";
import { isLogged, logBotFailure } from "../core/bot-code.ts";
import { errorCode } from "../core/errors.ts";
import { isReadOnly } from "./bot-tools.ts";
import { interruptibleTools, untilAborted } from "./interruptible-tools.ts";
import { toModelMessages } from "./model-messages.ts";
import type { ModelMessagesOptions } from "./model-messages.ts";
import { ReplyText, textOfParts } from "./reply-text.ts";
import type { ReplyTextSink } from "./reply-text.ts";
import { Summaries } from "./summaries.ts";
import { TurnPatience } from "./turn-patience.ts";
import type { WaitStore } from "./wait-store.ts";
import { TurnStats } from "./turn-stats.ts";

/** The agent's functions that the turn engine needs. Functions of a turn run inside that turn's context. */
export interface TurnEngineOptions {
  /** Returns the log of an operation, whose lines name the operation. */
  readonly logOf: (operationId: string) => Log;
  readonly clock: Clock;
  readonly random: () => number;
  readonly waits: WaitStore;
  /** Returns the model for one call. Only a call with `patience` waits for a model that cannot answer now. */
  readonly model: (patience: Patience | undefined) => LanguageModel | Promise<LanguageModel>;
  readonly modelPatienceMs: () => number;
  readonly system: () => string | undefined | Promise<string | undefined>;
  /** Returns the tools, made by `preparedTools`. */
  readonly tools: () => ToolSet | Promise<ToolSet>;
  readonly maxSteps: () => number;
  readonly maxContextTokens: () => number;
  readonly interruptedStep: () => "restart" | "continue";
  readonly resolveFile: (
    ...file: [...Parameters<ModelMessagesOptions["resolveFile"]>, signal: AbortSignal | undefined]
  ) => ReturnType<ModelMessagesOptions["resolveFile"]>;
  /**
   * Called before the model is called again after its tools ran. `yield` ends the operation there, with their results.
   */
  readonly beforeStep: (operationId: string) => Promise<"go" | "yield">;
  /** Called before a tool runs. `isReadOnly` is true for a tool that changes nothing. `block` prevents the call. */
  readonly beforeTool: (operationId: string, isReadOnly: boolean) => Promise<"run" | "block">;
  /**
   * Called when an operation has ended. It may be called more than once, or not at all if the object died, so call
   * `outcome` at start.
   */
  readonly onSettled: (operationId: string) => void;
  /**
   * Called when an operation has waited for its model so long that the person should be told. May be called more than
   * once.
   */
  readonly onLongWait: (operationId: string) => void;
  /** Called when an operation no longer waits for its model, for whatever reason. */
  readonly onWaitEnd: (operationId: string) => void;
  /** Runs the bot's code in a context that knows the current turn. */
  readonly inTurn: <T>(operationId: string, body: () => T) => T;
}

/**
 * The end of an operation. `text` is its whole text, also if it failed. `isOverloaded` means that it failed because the
 * model could not answer for too long.
 */
export type TurnOutcome =
  | { readonly kind: "open" }
  | { readonly kind: "unknown" }
  | { readonly kind: "done"; readonly text: string }
  | { readonly kind: "stopped"; readonly text: string }
  | { readonly kind: "failed"; readonly text: string; readonly isOverloaded?: boolean };

/**
 * Number of attempts of a model call that fails in the middle of its answer. The other interruptions are reserved for
 * crashes. Failures before the first word have a time limit instead: see `TurnPatience`.
 */
const MODEL_ATTEMPTS = 2;
const MAX_INTERRUPTIONS = 12;
const INTERRUPTION_BACKOFF_MS = 100;
/** Rest before the second attempt. A server may ask for longer, up to a time that a person can wait. */
const REST_MS = 300;
const LONGEST_REST_MS = 15_000;
/** Compaction begins at this share of the context limit. `KEEP_VERBATIM` is the share that it leaves as it is. */
const COMPACT_AT = 0.75;
const KEEP_VERBATIM = 0.25;

/**
 * The model loop of one object. The harness provides the durable queue, streaming and resumption. This class decides
 * what happens to an interrupted model call, which text a reply has, and what the model reads.
 */
export class TurnEngine {
  readonly harness: ThinkHarness;
  readonly stats = new TurnStats();
  readonly #options: TurnEngineOptions;
  readonly #sessions = new Map<string, Session>();
  /** The running operation of each session. */
  readonly #running = new Map<string, string>();
  /** Ends the wait for the bot's code when a running operation must end. */
  readonly #aborts = new Map<string, AbortController>();
  readonly #texts = new Map<string, ReplyText>();
  readonly #failures = new Map<string, number>();
  readonly #rests = new Map<string, number>();
  /** The bot's tools that each session got last. */
  readonly #offered = new Map<string, ToolSet>();
  readonly #decisions = new WeakMap<object, ThinkErrorClass>();
  readonly #summaries = new Summaries();
  readonly #patience: TurnPatience;
  /** Sessions whose transcript a model has refused as too long. The answer needs a summary. */
  readonly #overflowing = new Set<string>();

  constructor(options: TurnEngineOptions) {
    this.#options = options;
    this.#patience = new TurnPatience({ ...options, patienceMs: options.modelPatienceMs });
    this.harness = new ThinkHarness({
      model: ({ session }) => {
        const operationId = this.#running.get(session);
        const patience = operationId === undefined ? undefined : this.#patience.of(operationId);
        return this.#inTurnOf(session, async () => options.model(patience));
      },
      system: ({ session }) => this.#unlessStopped(session, () => options.system(), undefined),
      tools: async ({ session }) => this.#tools(session),
      get maxSteps() {
        return options.maxSteps();
      },
      recovery: { maxAttempts: MAX_INTERRUPTIONS, backoffMs: INTERRUPTION_BACKOFF_MS, stallTimeoutMs: 0 },
      configureSession: (session, id) => this.#configure(session, id),
      hooks: {
        beforeTurn: async ({ session, operationId, messages, step }) => {
          if (step > 0 && (await options.beforeStep(operationId)) === "yield") {
            await this.harness.abort(session, operationId);
            return {};
          }
          await this.#restBeforeRetry(operationId);
          const signal = this.#aborts.get(operationId)?.signal;
          const tools = this.#offered.get(session) ?? (await this.#tools(session));
          const load = (): ReturnType<typeof toModelMessages> =>
            toModelMessages(messages, {
              tools,
              maxContextTokens: options.maxContextTokens(),
              now: () => options.clock.now(),
              resolveFile: (url, mediaType, name) => options.resolveFile(url, mediaType, name, signal),
            });
          const loaded = await this.#unlessStopped(session, load, undefined);
          return loaded === undefined ? {} : { messages: loaded };
        },
        beforeToolCall: async ({ session, operationId, toolName }): Promise<ThinkToolCallDecision> => {
          const tool = this.#offered.get(session)?.[toolName];
          const decision = await options.beforeTool(operationId, isReadOnly(tool));
          if (decision === "block") return { action: "block", reason: "The turn was withdrawn." };
          this.stats.countTool(operationId, toolName);
          return { action: "run" };
        },
        onStepFinish: ({ operationId }) => {
          this.#failures.delete(operationId);
          this.stats.countStep(operationId);
        },
        onTurnEnd: ({ operationId }) => {
          this.#texts.delete(operationId);
          this.#failures.delete(operationId);
          options.onSettled(operationId);
        },
        onError: (error, { operationId, session }) => {
          if (this.#judge(error, operationId) === "context-overflow") this.#overflowing.add(session);
        },
        classifyError: (error) => (isObject(error) ? this.#decisions.get(error) : undefined) ?? "fail",
        onRecovery: async ({ session, operationId, partial }): Promise<"continue"> => {
          if (partial === undefined || options.interruptedStep() !== "restart") return "continue";
          this.#texts.get(operationId)?.onInterrupted(partial.parts);
          await this.#cutBack(session, partial);
          return "continue";
        },
      },
    });
    this.harness.observe((session, event) => this.#observe(session, event));
  }

  /** Begins an operation, or does nothing if it exists. From now on its text goes to `sink`. */
  async start(operationId: string, session: string, message: UIMessage, sink: ReplyTextSink): Promise<void> {
    await this.#follow(operationId, session, sink);
    await this.submit(operationId, session, message);
  }

  /** Begins an operation without a sink, or does nothing if it exists. */
  async submit(operationId: string, session: string, message: UIMessage): Promise<void> {
    await this.harness
      .session(session)
      .submit({ ...message, id: userMessageId(operationId) }, { operationId });
  }

  /** Sends the text of an operation that was cut by a crash to `sink`, beginning with its stored text. */
  async follow(operationId: string, session: string, sink: ReplyTextSink): Promise<void> {
    const inFlight = await this.harness.session(session).inFlight();
    const chunks = inFlight?.operationId === operationId ? inFlight.chunks : [];
    await this.#follow(operationId, session, sink, chunks);
  }

  async #follow(
    operationId: string,
    session: string,
    sink: ReplyTextSink,
    chunks: readonly UIMessageChunk[] = [],
  ): Promise<void> {
    if (this.#texts.has(operationId)) return;
    const stored = await this.#answer(operationId, session);
    if (this.#texts.has(operationId)) return;
    const text = new ReplyText(sink, stored?.parts);
    this.#texts.set(operationId, text);
    for (const chunk of chunks) text.onChunk(chunk);
  }

  /** Resumes everything that was cut by a crash, at once instead of at the harness's next heartbeat. */
  async resumeAll(): Promise<void> {
    for (const { operationId, session } of await this.harness.pending()) {
      await this.harness.session(session).submit("", { operationId });
    }
  }

  /** Ends an operation and waits until it has ended. */
  async abort(operationId: string, session: string): Promise<void> {
    await this.cancel(operationId, session);
    await this.harness.wait(session, operationId);
  }

  /** Tells an operation to end. Returns false if it has already ended, or never began. */
  async cancel(operationId: string, session: string): Promise<boolean> {
    const wasOpen = await this.harness.abort(session, operationId);
    this.#aborts.get(operationId)?.abort();
    return wasOpen;
  }

  async outcome(operationId: string, session: string): Promise<TurnOutcome> {
    const status = await this.harness.session(session).inspect(operationId);
    if (status === undefined) return { kind: "unknown" };
    if (status.status === "queued" || status.status === "running") return { kind: "open" };
    const text = textOfParts((await this.#answer(operationId, session))?.parts ?? []);
    if (status.status === "done") return { kind: "done", text };
    return "reason" in status && (status.reason === "aborted" || status.reason === "withdrawn")
      ? { kind: "stopped", text }
      : { kind: "failed", text, isOverloaded: this.#patience.isOver(operationId) };
  }

  /** Returns the text of a running operation so far. */
  textSoFar(operationId: string): string {
    return this.#texts.get(operationId)?.text ?? "";
  }

  /** Removes an ended operation's question and answers from the transcript, as if it had never been asked. */
  async forget(operationId: string, session: string): Promise<void> {
    const question = userMessageId(operationId);
    const answers = await this.harness.session(session).branches(question);
    await this.#session(session).deleteMessages([...answers.map((message) => message.id), question]);
  }

  async #answer(operationId: string, session: string): Promise<UIMessage | undefined> {
    const answers = await this.harness.session(session).branches(userMessageId(operationId));
    return answers.findLast((message) => message.role === "assistant");
  }

  #observe(session: string, event: ThinkSessionEvent): void {
    switch (event.type) {
      case "run-start":
        this.#running.set(session, event.operationId);
        this.#aborts.set(event.operationId, new AbortController());
        return;
      case "run-end":
        this.#running.delete(session);
        this.#aborts.delete(event.operationId);
        return;
      case "chunk":
        this.#texts.get(event.operationId)?.onChunk(event.chunk);
        return;
      case "message":
        if (event.operationId !== undefined && event.message.role === "assistant") {
          this.#texts.get(event.operationId)?.onMessage(event.message.parts);
        }
        return;
      case "operation":
      case "reset":
      case "transcript":
        return;
    }
  }

  #judge(error: unknown, operationId: string): ThinkErrorClass {
    const failures = (this.#failures.get(operationId) ?? 0) + 1;
    this.#failures.set(operationId, failures);
    const code = errorCode(error) ?? "model-failed";
    const isRetryable = isObject(error) && "retryable" in error && error.retryable === true;
    const decision: ThinkErrorClass =
      code === "context-overflow"
        ? "context-overflow"
        : isRetryable && failures < MODEL_ATTEMPTS && !this.#patience.isOver(operationId)
          ? "retry"
          : "fail";
    if (isObject(error)) this.#decisions.set(error, decision);
    if (decision === "retry") this.#rests.set(operationId, restMs(error));
    const log = this.#options.logOf(operationId);
    if (decision !== "fail") log.warn("turn.model-retried", { code, attempt: failures });
    else if (!isLogged(error)) log.error("turn.failed", { code });
    return decision;
  }

  /** Waits before an overloaded server is called again: a moment, or the time that it named. */
  async #restBeforeRetry(operationId: string): Promise<void> {
    const delayMs = this.#rests.get(operationId);
    this.#rests.delete(operationId);
    if (delayMs === undefined || delayMs === 0) return;
    await wait(this.#options.clock, delayMs, this.#aborts.get(operationId)?.signal);
  }

  /**
   * Drops the text of the interrupted call. The harness stores the partial message after its hook. So this hook cuts
   * the parts back to those that were stored before the call. The call then starts over, and results of finished tools
   * are kept.
   */
  async #cutBack(session: string, partial: UIMessage): Promise<void> {
    const stored = await this.#session(session).getMessage(partial.id);
    partial.parts.length = stored?.parts.length ?? 0;
  }

  #configure(session: Session, id: string): void {
    this.#sessions.set(id, session);
    const limit = this.#options.maxContextTokens();
    const summarize = createCompactFunction({
      summarize: async (prompt) =>
        (await generateText({ model: await this.#options.model(undefined), prompt })).text,
      keepRecentTokens: Math.round(limit * KEEP_VERBATIM),
    });
    session
      .onCompaction(async (history) => {
        const make = (): ReturnType<typeof summarize> => summarize(history);
        if (this.#overflowing.delete(id)) {
          const signal = this.#aborts.get(this.#running.get(id) ?? "")?.signal;
          await untilAborted(signal, this.#summaries.make(id, make), "The turn was stopped.");
        }
        return this.#summaries.take(id, make);
      })
      .compactAfter(Math.round(limit * COMPACT_AT));
  }

  #session(id: string): Session {
    const session = this.#sessions.get(id);
    if (session !== undefined) return session;
    throw new Error(`The session "${id}" was used before the turn engine knew it`);
  }

  async #tools(session: string): Promise<ToolSet> {
    const tools = await this.#unlessStopped(session, () => this.#options.tools(), undefined);
    if (tools === undefined) return {};
    this.#offered.set(session, tools);
    const operationId = this.#running.get(session);
    if (operationId === undefined) return tools;
    return interruptibleTools(tools, {
      inTurn: (body) => this.#options.inTurn(operationId, body),
      onFailure: (name, error) => logBotFailure(this.#options.logOf(operationId), `tool ${name}`, error),
    });
  }

  #inTurnOf<T>(session: string, body: () => T): T {
    const operationId = this.#running.get(session);
    return operationId === undefined ? body() : this.#options.inTurn(operationId, body);
  }

  /**
   * Runs code in the session's turn. If the turn is stopped in the meantime, it returns `instead`, because the harness
   * would log an error.
   */
  async #unlessStopped<T, Instead>(
    session: string,
    body: () => T,
    instead: Instead,
  ): Promise<Awaited<T> | Instead> {
    const signal = this.#aborts.get(this.#running.get(session) ?? "")?.signal;
    try {
      const work = this.#inTurnOf(session, body);
      return await untilAborted(signal, work, "The turn was stopped before it began.");
    } catch (error) {
      if (signal?.aborted === true) return instead;
      throw error;
    }
  }
}

/** Returns the id of the message in the transcript that an operation answers. */
export function userMessageId(operationId: string): string {
  return `${operationId}:question`;
}

function restMs(error: unknown): number {
  if (!isObject(error)) return 0;
  const asked =
    "retryAfterMs" in error && typeof error.retryAfterMs === "number" ? error.retryAfterMs : undefined;
  if (asked !== undefined) return Math.min(asked, LONGEST_REST_MS);
  return errorCode(error) === "model-cut" || errorCode(error) === "model-stalled" ? 0 : REST_MS;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
