import type { Session } from "agents/sessions";
import { ThinkHarness } from "agents/harness/think";
import type { ThinkSessionEvent, ThinkTurnConfig } from "agents/harness/think";
import { generateText } from "ai";
import type { LanguageModel, ModelMessage, ToolSet, UIMessage, UIMessageChunk } from "ai";
import { logBotFailure } from "../core/bot-code.ts";
import { untilAborted } from "../core/until-aborted.ts";
import { usableTools } from "./bot-tools.ts";
import { questionIdOf, userMessageId } from "./question-id.ts";
import { compactSession } from "./compact-session.ts";
import { chunkContextOf } from "./chunk-context.ts";
import { interruptibleTools } from "./interruptible-tools.ts";
import { ModelFailures } from "./model-failures.ts";
import { toModelMessages } from "./model-messages.ts";
import { ReplyText, textOfParts } from "./reply-text.ts";
import type { ReplyTextSink } from "./reply-text.ts";
import { Summaries } from "./summaries.ts";
import { ToolCalls } from "./tool-calls.ts";
import type { CallSurroundings } from "./tool-calls.ts";
import { TurnConfigs } from "./turn-configs.ts";
import type { ModelCallLimits } from "./turn-configs.ts";
import { isAborted, TurnEnds } from "./turn-ends.ts";
import { TurnHooks } from "./turn-hooks.ts";
import { TurnPatience } from "./turn-patience.ts";
import type { ModelInstance, TurnEngineOptions, TurnOutcome } from "./turn-engine-options.ts";
import { TurnStats } from "./turn-stats.ts";

/** Far more than the limit for model failures. The rest is for crashes. */
const MAX_INTERRUPTIONS = 12;
const INTERRUPTION_BACKOFF_MS = 100;
/** Limit of steps if a hook decides for each turn how many it has. */
const MOST_STEPS = 1000;

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
  readonly #failures: ModelFailures;
  readonly #hooks: TurnHooks;
  readonly #configs: TurnConfigs;
  readonly #calls: ToolCalls;
  readonly ends: TurnEnds;
  /** The bot's tools as each session saw them last. */
  readonly #offered = new Map<string, ToolSet>();
  /** How many model calls each running operation has made. */
  readonly #steps = new Map<string, number>();
  readonly #summaries = new Summaries();
  readonly #patience: TurnPatience;
  /** Sessions whose transcript a model has refused as too long. The answer needs a summary. */
  readonly #overflowing = new Set<string>();

  constructor(options: TurnEngineOptions) {
    this.#options = options;
    this.#patience = new TurnPatience({ ...options, patienceMs: () => options.settings.modelPatienceMs });
    const { clock, logOf } = options;
    this.#failures = new ModelFailures({
      clock,
      logOf,
      attempts: (id) => {
        const retries = this.#configs.maxRetries(id);
        return retries === undefined ? options.settings.modelAttempts : retries + 1;
      },
      isOver: (id) => this.#patience.isOver(id),
    });
    const hooks = new TurnHooks(options);
    this.#hooks = hooks;
    this.#configs = new TurnConfigs({
      ...options,
      hooks,
      model: (...call) => this.#model(...call),
    });
    this.#calls = new ToolCalls({
      ...options,
      hooks,
      onRun: (...run) => this.stats.countTool(...run),
    });
    this.ends = new TurnEnds({
      hooks,
      attachmentsOf: options.attachmentsOf,
      answer: (...of) => this.#answer(...of),
      outcome: (...of) => this.outcome(...of),
    });
    this.harness = new ThinkHarness({
      model: async ({ session }) => this.#model(this.#running.get(session), undefined),
      system: ({ session }) => this.#unlessStopped(session, () => options.system(), undefined),
      tools: async ({ session }) => this.#tools(session),
      get maxSteps() {
        const isOwn = hooks.has("beforeTurn") || options.limitsSteps?.() === true;
        return isOwn ? MOST_STEPS : options.maxSteps();
      },
      recovery: { maxAttempts: MAX_INTERRUPTIONS, backoffMs: INTERRUPTION_BACKOFF_MS, stallTimeoutMs: 0 },
      configureSession: (session, id) => this.#configure(session, id),
      hooks: {
        beforeTurn: async ({ session, operationId, messages, step }) => {
          this.#steps.set(operationId, step);
          const answer = messages.findLast(({ role }) => role === "assistant");
          if (step > 0 && (await this.#isOver(operationId, answer)))
            return this.#endHere(session, operationId);
          await this.#failures.rest(operationId, this.#aborts.get(operationId)?.signal);
          const loaded = await this.#unlessStopped(session, () => this.#load(session, messages), undefined);
          if (loaded === undefined) return {};
          const call = {
            operationId,
            stepNumber: step,
            messages: loaded,
            answer: step > 0 ? answer : undefined,
          };
          const config = await this.#configs.next(call);
          if (config !== "end") return config;
          options.calls().endHere(operationId);
          return this.#endHere(session, operationId);
        },
        beforeToolCall: (call) => this.#calls.before(call, this.#around(call.session, call)),
        afterToolCall: (call) => this.#calls.after(call, call, this.#around(call.session, call)),
        onStepFinish: async ({ message, operationId, step }) => {
          this.#failures.forget(operationId);
          this.stats.countStep(operationId);
          await this.#configs.finished(operationId, step, message);
        },
        onChunk: ({ chunk, operationId }) => {
          if (!hooks.has("onChunk")) return;
          const context = chunkContextOf(chunk);
          if (context !== undefined) hooks.chunk(operationId, context);
        },
        onTurnEnd: async (end) => {
          const { operationId } = end;
          this.#texts.delete(operationId);
          this.#failures.forget(operationId);
          this.#calls.forget(operationId);
          await this.#configs.toolsEnded(operationId, end.message);
          this.#configs.forget(operationId);
          this.#steps.delete(operationId);
          await this.ends.settled(operationId, end.status === "unanswered" ? end.reason : undefined);
          hooks.forget(operationId);
          options.turns().poke();
        },
        onError: async (error, { operationId, session }) => {
          const decision = this.#failures.judge(error, operationId);
          if (decision === "context-overflow") this.#overflowing.add(session);
          if (decision === "fail") await this.ends.failed(operationId, error, "stream");
        },
        classifyError: (error) => this.#failures.decisionOf(error),
        onRecovery: async ({ session, operationId, partial }): Promise<"continue"> => {
          if (partial === undefined || options.settings.interruptedStep !== "restart") return "continue";
          this.#texts.get(operationId)?.onInterrupted(partial.parts);
          await this.#cutBack(session, partial);
          return "continue";
        },
      },
    });
    this.harness.observe((session, event) => this.#observe(session, event));
  }

  /** Begins an operation, unless it exists. Its text goes to `sink` from now on. */
  async start(
    operationId: string,
    session: string,
    questions: readonly UIMessage[],
    sink: ReplyTextSink,
  ): Promise<void> {
    await this.#follow(operationId, session, sink);
    const last = questions.length - 1;
    const named = questions.map((question, index) => ({
      ...question,
      id: questionIdOf(operationId, index, last),
    }));
    await this.harness.session(session).submit(named, { operationId });
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

  /** Waits until an operation has ended, unless it is unknown. */
  async ended(operationId: string, session: string): Promise<TurnOutcome> {
    const now = await this.outcome(operationId, session);
    if (now.kind !== "open") return now;
    await this.harness.wait(session, operationId);
    return this.outcome(operationId, session);
  }

  async outcome(operationId: string, session: string): Promise<TurnOutcome> {
    const status = await this.harness.session(session).inspect(operationId);
    if (status === undefined) return { kind: "unknown" };
    if (status.status === "queued" || status.status === "running") return { kind: "open" };
    const text = textOfParts((await this.#answer(operationId, session))?.parts ?? []);
    if (status.status === "done") return { kind: "done", text };
    const reason = "reason" in status ? status.reason : undefined;
    return isAborted(reason)
      ? { kind: "stopped", text }
      : { kind: "failed", text, isOverloaded: this.#patience.isOver(operationId), reason };
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

  /** Whether the model must not be called again: the turn makes way, or all its calls wait for a decision. */
  async #isOver(operationId: string, answer: UIMessage | undefined): Promise<boolean> {
    if ((await this.#options.turns().beforeStep(operationId)) === "yield") return true;
    const stored = this.#options.calls();
    const start = answer?.parts.findLastIndex(({ type }) => type === "step-start") ?? -1;
    const calls = (answer?.parts ?? [])
      .slice(start + 1)
      .flatMap((part) => ("toolCallId" in part ? [part] : []));
    if (calls.length === 0 || !calls.every(({ toolCallId }) => stored.isWaiting(operationId, toolCallId)))
      return false;
    stored.endHere(operationId);
    return true;
  }

  async #endHere(session: string, operationId: string): Promise<ThinkTurnConfig> {
    await this.harness.abort(session, operationId);
    return {};
  }

  async #model(
    operationId: string | undefined,
    instead: LanguageModel | undefined,
    { limits, maxRetries }: ModelCallLimits = {},
  ): Promise<ModelInstance> {
    const patience =
      operationId === undefined
        ? undefined
        : this.#patience.of(operationId, { retries: maxRetries, endsAt: limits?.endsAt });
    const body = async (): Promise<ModelInstance> => this.#options.model(patience, instead, limits);
    return operationId === undefined ? body() : this.#options.inTurn(operationId, body);
  }

  async #load(session: string, history: readonly UIMessage[]): Promise<ModelMessage[]> {
    const { clock, resolveFile, settings } = this.#options;
    const signal = this.#aborts.get(this.#running.get(session) ?? "")?.signal;
    return toModelMessages(history, {
      tools: this.#offered.get(session) ?? (await this.#tools(session)),
      maxContextTokens: settings.maxContextTokens,
      now: () => clock.now(),
      resolveFile: (url, mediaType, name) => resolveFile(url, mediaType, name, signal),
    });
  }

  #around(
    session: string,
    { operationId, toolName }: { readonly operationId: string; readonly toolName: string },
  ): CallSurroundings {
    return {
      tool: this.#offered.get(session)?.[toolName],
      signal: this.#aborts.get(operationId)?.signal,
      stepNumber: this.#steps.get(operationId) ?? 0,
      messages: () => this.messagesOf(session),
    };
  }

  /** A session's messages, as the model would read them now. None if the transcript cannot be converted. */
  messagesOf(session: string): Promise<readonly ModelMessage[]> {
    const loaded = this.harness.messages(session).then((history) => this.#load(session, history));
    return loaded.catch(() => []);
  }

  /** Whether the callback of `chat()` gets the model's reasoning. */
  sendsReasoning(operationId: string): boolean {
    return this.#configs.sendsReasoning(operationId);
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
    compactSession(session, this.#options.settings.maxContextTokens, {
      write: async (prompt) =>
        (await generateText({ model: await this.#options.model(undefined), prompt })).text,
      summaryOf: async (make) => {
        if (this.#overflowing.delete(id)) {
          const signal = this.#aborts.get(this.#running.get(id) ?? "")?.signal;
          await untilAborted(signal, this.#summaries.make(id, make), stopped);
        }
        return this.#summaries.take(id, make);
      },
    });
  }

  #session(id: string): Session {
    const session = this.#sessions.get(id);
    if (session !== undefined) return session;
    throw new Error(`The session "${id}" was used before the turn engine knew it`);
  }

  async #tools(session: string): Promise<ToolSet> {
    const own = await this.#unlessStopped(session, () => this.#options.tools(), undefined);
    if (own === undefined) return {};
    const operationId = this.#running.get(session);
    if (operationId === undefined) return own;
    const tools = { ...own, ...(await this.#toolsOfTurn(session, operationId, own)) };
    this.#offered.set(session, tools);
    return interruptibleTools(tools, {
      clock: this.#options.clock,
      limitMs: (name) => this.#configs.toolLimitMs(operationId, name),
      inTurn: (body) => this.#options.inTurn(operationId, body),
      onFailure: (name, error) => logBotFailure(this.#options.logOf(operationId), `tool ${name}`, error),
      onBegin: (callId) => this.#calls.began(callId),
      onEnd: (...end) => this.#calls.ended(...end),
    });
  }

  /** Returns the tools that `beforeTurn` adds. It is called here because the first model call already offers them. */
  async #toolsOfTurn(session: string, operationId: string, own: ToolSet): Promise<ToolSet> {
    const assembled = async () => {
      const history = await this.harness.messages(session);
      const system = (await this.#unlessStopped(session, () => this.#options.system(), undefined)) ?? "";
      this.#offered.set(session, own);
      const messages = await this.#load(session, history);
      return { system, messages, continuation: history.at(-1)?.role === "assistant" };
    };
    try {
      return usableTools(await this.#configs.begin(operationId, own, assembled));
    } catch (error) {
      this.#hooks.failed(operationId, "beforeTurn", error);
      return {};
    }
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
      return await untilAborted(signal, work, stopped);
    } catch (error) {
      if (signal?.aborted === true) return instead;
      throw error;
    }
  }
}

function stopped(): Error {
  return new Error("The turn was stopped.");
}
