import { ThinkHarness } from "agents/harness/think";
import type { ThinkSessionEvent, ThinkTurnConfig, ThinkTurnContext } from "agents/harness/think";
import type { LanguageModel, ModelMessage, UIMessage } from "ai";
import { questionIdOf } from "./question-id.ts";
import { chunkContextOf } from "./model/chunk-context.ts";
import type { ChatErrorClassification } from "./hooks.ts";
import { ModelFailures } from "./model/model-failures.ts";
import { OfferedTools } from "./tools/offered-tools.ts";
import { textOfParts } from "./reply-text.ts";
import type { ReplyTextSink } from "./reply-text.ts";
import { exceptionBehind } from "./raw-errors.ts";
import { Recoveries } from "./recovery/recoveries.ts";
import { ReplyTexts } from "./reply-texts.ts";
import { RunningOperations } from "./tools/running-operations.ts";
import { SessionMessages } from "./model/session-messages.ts";
import { ToolCalls } from "./tools/tool-calls.ts";
import type { CallOutput, CallSurroundings } from "./tools/tool-calls.ts";
import { errorCode } from "../core/base/errors.ts";
import { TurnConfigs } from "./turn-configs.ts";
import type { ModelCallLimits } from "./turn-configs.ts";
import { isAborted, TurnEnds } from "./turn-ends.ts";
import { TurnHooks } from "./turn-hooks.ts";
import { TurnPatience } from "./recovery/turn-patience.ts";
import type { ModelInstance, TurnEngineOptions, TurnOutcome } from "./turn-engine-options.ts";
import { TurnEvents } from "./turn-events.ts";

function callsOf(answer: UIMessage | undefined): readonly CallOutput[] {
  return (answer?.parts ?? []).flatMap((part) => {
    if (!("toolCallId" in part)) return [];
    const { toolCallId } = part;
    return [{ toolCallId, output: part.state === "output-available" ? part.output : undefined }];
  });
}

const INTERRUPTION_BACKOFF_MS = 100;

/**
 * The model loop of one object. The harness provides the durable queue, streaming and resumption. This class connects
 * its hooks with the parts that decide: `SessionMessages` says what the model reads, `OfferedTools` and `ToolCalls` which
 * tools it has and how they run, `TurnConfigs` what the bot's hooks change, `ReplyTexts` which text a reply has, and
 * `ModelFailures` what happens to a failed call.
 */
export class TurnEngine {
  readonly harness: ThinkHarness;
  readonly events: TurnEvents;
  readonly ends: TurnEnds;
  readonly #options: TurnEngineOptions;
  readonly #running: RunningOperations;
  readonly #messages: SessionMessages;
  readonly #texts: ReplyTexts;
  readonly #failures: ModelFailures;
  readonly #configs: TurnConfigs;
  readonly #calls: ToolCalls;
  readonly #tools: OfferedTools;
  /** How many model calls each running operation has made. */
  readonly #steps = new Map<string, number>();
  readonly #patience: TurnPatience;
  readonly #recoveries: Recoveries;
  readonly #hooks: TurnHooks;

  constructor(options: TurnEngineOptions) {
    this.#options = options;
    const events = new TurnEvents(options.clock);
    this.events = events;
    const running = new RunningOperations(options);
    this.#running = running;
    const messages = new SessionMessages({ ...options, running });
    this.#messages = messages;
    this.#texts = new ReplyTexts(messages);
    const patience = new TurnPatience({ ...options, patienceMs: () => options.settings.modelPatienceMs });
    this.#patience = patience;
    const hooks = new TurnHooks(options);
    this.#hooks = hooks;
    const configs = new TurnConfigs({ ...options, hooks, model: (...call) => this.#model(...call) });
    this.#configs = configs;
    this.#failures = new ModelFailures({ ...options, configs, patience });
    this.#recoveries = new Recoveries({ ...options, hooks });
    events.listen(this.#recoveries.listener);
    this.#calls = new ToolCalls({ ...options, hooks, events });
    this.#tools = new OfferedTools({
      ...options,
      running,
      messages,
      hooks,
      configs,
      calls: this.#calls,
      system: (session) => this.#system(session),
    });
    this.ends = new TurnEnds({
      ...options,
      hooks,
      messages,
      outcome: (...of) => this.outcome(...of),
    });
    this.harness = new ThinkHarness({
      model: async ({ session }) => this.#model(running.in(session), undefined),
      system: ({ session }) => this.#system(session),
      tools: async ({ session }) => this.#tools.next(session),
      // `TurnConfigs` ends a turn that has used its steps.
      maxSteps: Number.POSITIVE_INFINITY,
      // `Recoveries` ends a turn that was interrupted too often.
      recovery: {
        maxAttempts: Number.POSITIVE_INFINITY,
        backoffMs: INTERRUPTION_BACKOFF_MS,
        stallTimeoutMs: 0,
      },
      configureSession: (session, id) => messages.configure(session, id),
      hooks: {
        beforeTurn: async (call) => this.#beforeCall(call),
        beforeToolCall: (call) => this.#calls.before(call, this.#around(call.session, call)),
        afterToolCall: (call) => this.#calls.after(call, call, this.#around(call.session, call)),
        onStepFinish: async ({ message, operationId, step }) => {
          this.#failures.forget(operationId);
          events.emit(operationId, { kind: "step-ended", code: undefined, message });
          await this.#configs.finished(operationId, step, message);
        },
        onChunk: ({ chunk, operationId }) => {
          if (!hooks.has("onChunk")) return;
          const context = chunkContextOf(chunk);
          if (context !== undefined) hooks.chunk(operationId, context);
        },
        onTurnEnd: async (end) => {
          const { operationId } = end;
          this.#texts.forget(operationId);
          this.#failures.end(operationId);
          this.#calls.forget(operationId);
          await this.#configs.toolsEnded(operationId, end.message);
          this.#configs.forget(operationId);
          this.#steps.delete(operationId);
          await this.ends.settled(operationId, end.status === "unanswered" ? end.reason : undefined);
          hooks.forget(operationId);
          options.turns().poke();
        },
        onError: async (error, { operationId, session }) => {
          const said = this.textSoFar(operationId).length;
          const named = await this.#classify(error, operationId);
          const decision = this.#failures.judge(error, operationId, said, named);
          const code = errorCode(error) ?? "model-failed";
          events.emit(operationId, { kind: "step-ended", code, message: undefined });
          if (decision === "context-overflow") messages.noteOverflow(session);
          // A message that waits may be answered together with the question now.
          if (decision === "retry") options.turns().poke();
          if (decision === "fail") await this.ends.failed(operationId, error, "stream", named);
        },
        classifyError: (error) => this.#failures.decisionOf(error),
        onRecovery: async ({ attempt, session, operationId, partial }): Promise<"continue" | "abandon"> => {
          const decision = this.#failures.takeRepeated(operationId)
            ? options.settings.interruptedStep
            : await this.#recoveries.decide({ attempt, operationId, partial });
          if (decision === "abandon") return "abandon";
          if (partial === undefined || decision === "continue") return "continue";
          this.#texts.of(operationId)?.onInterrupted(partial.parts);
          await messages.cutBack(session, partial);
          return "continue";
        },
      },
    });
    messages.start(this.harness);
    this.harness.observe((session, event) => this.#observe(session, event));
  }

  /** Begins an operation, unless it exists. Its text goes to `sink` from now on. */
  async start(
    operationId: string,
    session: string,
    questions: readonly UIMessage[],
    sink: ReplyTextSink,
  ): Promise<void> {
    await this.#texts.follow(operationId, session, sink);
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
    await this.#texts.follow(operationId, session, sink, chunks);
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
    this.#running.stop(operationId);
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
    const text = textOfParts((await this.#messages.answer(operationId, session))?.parts ?? []);
    if (status.status === "done") return { kind: "done", text };
    const reason = "reason" in status ? status.reason : undefined;
    if (isAborted(reason)) return { kind: "stopped", text };
    const instead = reason === "interrupted" ? this.#recoveries.terminalMessage : undefined;
    return { kind: "failed", text, isOverloaded: this.#patience.isOver(operationId), instead, reason };
  }

  /** Returns the text of a running operation so far. */
  textSoFar(operationId: string): string {
    return this.#texts.of(operationId)?.text ?? "";
  }

  /** Whether a call that failed in mid-answer is being made again, and has said nothing new yet. */
  isRepeating(operationId: string): boolean {
    return this.#failures.isRepeating(operationId, this.textSoFar(operationId).length);
  }

  /** Removes an ended operation's question and answers from the transcript, as if it had never been asked. */
  forget(operationId: string, session: string): Promise<void> {
    return this.#messages.forget(operationId, session);
  }

  /** Returns a session's messages, as the model would read them now. None if the transcript cannot be converted. */
  async messagesOf(session: string): Promise<readonly ModelMessage[]> {
    try {
      const history = await this.#messages.stored(session);
      return await this.#messages.load(session, history, await this.#tools.of(session));
    } catch {
      return [];
    }
  }

  /** Returns stored messages with these words: see `SessionMessages`. */
  search(...asked: Parameters<SessionMessages["search"]>): ReturnType<SessionMessages["search"]> {
    return this.#messages.search(...asked);
  }

  /** Whether the callback of `chat()` gets the model's reasoning. */
  sendsReasoning(operationId: string): boolean {
    return this.#configs.sendsReasoning(operationId);
  }

  /** Calls the listener with all events of the harness. Returns a function that ends that. */
  observe(listener: (session: string, event: ThinkSessionEvent) => void): () => void {
    return this.harness.observe(listener);
  }

  #observe(session: string, event: ThinkSessionEvent): void {
    switch (event.type) {
      case "run-start":
        this.#running.started(session, event.operationId);
        return;
      case "run-end":
        this.#running.ended(session, event.operationId);
        return;
      case "chunk":
        if (event.chunk.type === "tool-input-error")
          this.#calls.refused(event.operationId, event.chunk.toolName, this.#tools.seen(session));
        this.#texts.of(event.operationId)?.onChunk(event.chunk);
        return;
      case "message":
        if (event.operationId !== undefined && event.message.role === "assistant") {
          this.#texts.of(event.operationId)?.onMessage(event.message.parts);
        }
        return;
      case "operation":
      case "reset":
      case "transcript":
        return;
    }
  }

  /** Prepares the next model call of an operation, or ends the operation before it. */
  async #beforeCall({ messages, operationId, session, step }: ThinkTurnContext): Promise<ThinkTurnConfig> {
    this.#steps.set(operationId, step);
    const answer = messages.findLast(({ role }) => role === "assistant");
    if (step > 0 && (await this.#isOver(operationId, answer))) return this.#endHere(session, operationId);
    await this.#failures.rest(operationId, this.#running.signalOf(operationId));
    const load = async (): Promise<ModelMessage[]> =>
      this.#messages.load(session, messages, await this.#tools.of(session));
    const loaded = await this.#running.unlessStopped(session, load, undefined);
    if (loaded === undefined) return {};
    const config = await this.#configs.next({
      operationId,
      stepNumber: step,
      messages: loaded,
      answer: step > 0 ? answer : undefined,
    });
    if (typeof config !== "string") {
      this.events.emit(operationId, { kind: "step-begun", step, messages: config.messages ?? loaded });
      return this.#withCapabilities(config, session);
    }
    this.#options.calls().endHere(operationId, config);
    return this.#endHere(session, operationId);
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
    stored.endHere(operationId, "parking");
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

  /** Asks the bot's own code for the kind of a failure, with the provider's own words. */
  async #classify(error: unknown, operationId: string): Promise<ChatErrorClassification | undefined> {
    const context = this.ends.contextOf(operationId, error, "stream");
    const asked = await this.#hooks.run(operationId, "classifyChatError", exceptionBehind(error), context);
    return asked.ok && asked.value !== undefined ? asked.value : undefined;
  }

  async #system(session: string, tools?: readonly string[]): Promise<string | undefined> {
    const prompt = await this.#running.unlessStopped(session, () => this.#options.system(), undefined);
    const capabilities = this.#capabilities(tools ?? this.#names(session));
    const whole = capabilities === undefined ? prompt : [prompt, capabilities].filter(Boolean).join("\n\n");
    this.#messages.noteSystem(session, whole);
    return whole;
  }

  /** A call with fewer tools has a prompt that speaks of these alone, unless a hook has written the prompt. */
  async #withCapabilities(config: ThinkTurnConfig, session: string): Promise<ThinkTurnConfig> {
    const { activeTools, system } = config;
    if (activeTools === undefined || system !== undefined) return config;
    if (this.#capabilities(activeTools) === this.#capabilities(this.#names(session))) return config;
    const prompt = await this.#system(session, activeTools);
    return prompt === undefined ? config : { ...config, system: prompt };
  }

  #capabilities(tools: readonly string[]): string | undefined {
    return this.#options.capabilities?.(tools);
  }

  #names(session: string): readonly string[] {
    return Object.keys(this.#tools.seen(session) ?? {});
  }

  #around(
    session: string,
    { operationId, toolName }: { readonly operationId: string; readonly toolName: string },
  ): CallSurroundings {
    return {
      tool: this.#tools.seen(session)?.[toolName],
      signal: this.#running.signalOf(operationId),
      stepNumber: this.#steps.get(operationId) ?? 0,
      messages: () => this.messagesOf(session),
      calls: async () => callsOf(await this.#messages.answer(operationId, session)),
    };
  }
}
