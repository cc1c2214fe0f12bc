import { LifecycleCapability } from "agents/lifecycle";
import type { CapabilityRequestContext, LifecycleJobContext } from "agents/lifecycle";
import type { LanguageModel, UIMessage } from "ai";
import { logBotFailure, runBotCode } from "../../core/bot-code.ts";
import type { ChatGate } from "../../core/gate.ts";
import type { Database } from "../../core/database.ts";
import { wait } from "../../core/deps.ts";
import type { Clock, Deps } from "../../core/deps.ts";
import { failureCode } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { TokenUsage } from "../../core/token-usage.ts";
import type { Patience } from "../../core/model-patience.ts";
import type { IncomingEvent } from "../../core/messenger.ts";
import type { MessengerContext } from "../../core/messenger-context.ts";
import { getMessengerContext, getTurnId, inMessengerContext } from "../../core/turn-context.ts";
import { createBotBudget, createChatGate } from "../../../delivery/index.ts";
import type { RootBudget } from "../../../delivery/index.ts";
import { streamChat } from "../../turn/chat-stream.ts";
import type { StreamCallback } from "../../turn/chat-stream.ts";
import { preparedTools } from "../../turn/bot-tools.ts";
import { createTranscriptStore } from "../../turn/transcript-store.ts";
import { TurnEngine } from "../../turn/turn-engine.ts";
import { createWaitStore } from "../../turn/wait-store.ts";
import { menuOf } from "../declare/commands.ts";
import { isThreadConversation } from "../declare/conversation-name.ts";
import { answerSafely } from "../root/answer-safely.ts";
import { normalizeMessengers } from "../declare/define-messengers.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { RootRuntime } from "../root/root-runtime.ts";
import type { AgentMethods } from "./agent-methods.ts";
import type { AgentStub } from "./agent-namespace.ts";
import { BotHealth } from "../root/bot-health.ts";
import { answerInner, callsOver } from "../gate/inner-calls.ts";
import type { InnerCalls } from "../gate/inner-calls.ts";
import type { RootLink } from "../root/root-link.ts";
import { safeText } from "../declare/texts.ts";
import { ThreadRuntime } from "./thread-runtime.ts";
import type { Speech } from "../replies/speech.ts";
import { ModelFiles } from "../turns/model-files.ts";
import { Transcripts } from "../turns/transcripts.ts";
import { turnFields } from "../turns/turn-log.ts";
import { turnModel } from "./turn-model.ts";

export interface AgentRuntimeOptions {
  readonly agent: AgentMethods;
  readonly name: () => string;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly env: object;
  readonly stub: (name: string) => AgentStub;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

const DRIVE = "drive";
const DRIVE_JOB = "switchboard-drive-v1";
/** Wakes closer together than this are one. */
const SAME_WAKE_MS = 5;
/** Each move is a durable write: a wake is put off by this much at least, and only when it is about to come. */
const PUT_OFF_FROM_MS = 1000;
const PUT_OFF_WITHIN_MS = 600;
/**
 * The answer to the platform leaves before a turn begins, where both are the work of one thread. Several short waits and
 * not a long one: on a busy machine time passes without the answer's having come any further.
 */
const ANSWER_FIRST_WAITS = 5;
const ANSWER_FIRST_MS = 1;

/** Everything that an agent object does, as a Lifecycle capability: its root's part, its conversation's part, its alarm. */
export class AgentRuntime extends LifecycleCapability {
  readonly engine: TurnEngine;
  readonly health: BotHealth;
  readonly #options: AgentRuntimeOptions;
  #root: RootRuntime | undefined;
  #thread: ThreadRuntime | undefined;
  #budget: RootBudget | undefined;
  #gate: ChatGate | undefined;
  #definitions: readonly NormalizedMessengerDefinition[] | undefined;
  /** The code of what `getMessengers` threw last: every request asks it again, and the log has it once. */
  #loggedProblem: string | undefined;
  /** The time of the durable wake, as far as this object knows. */
  #armedAt: number | undefined;
  #arming = Promise.resolve();
  #chats = new Map<string, string>();
  #files: ModelFiles | undefined;

  constructor(options: AgentRuntimeOptions) {
    super("switchboard");
    this.#options = options;
    const { agent, deps, log } = options;
    const botCode = (): { clock: Clock; log: Log } => ({ clock: deps.clock, log: this.#turnLog() });
    this.health = new BotHealth({
      log,
      definitions: () => this.#all(),
      getModel: () => agent.getModel(),
      getTools: () => agent.getTools(),
      root: () => this.root,
    });
    this.engine = new TurnEngine({
      logOf: (operationId) => log.with(turnFields(operationId, this.thread.eventOf(operationId))),
      clock: deps.clock,
      random: deps.random,
      waits: createWaitStore(options.database),
      model: (patience) => this.#model(patience),
      modelPatienceMs: () => agent.modelPatienceMs,
      system: async () => {
        const prompt = await runBotCode(botCode(), "getSystemPrompt", () => agent.getSystemPrompt());
        const added = this.thread.promptFor(getMessengerContext());
        return added === undefined ? prompt : `${prompt}\n\n${added}`;
      },
      tools: () => runBotCode(botCode(), "getTools", async () => preparedTools(await agent.getTools())),
      maxSteps: () => agent.maxSteps,
      maxContextTokens: () => agent.maxContextTokens,
      interruptedStep: () => agent.interruptedStep,
      resolveFile: (...file) => this.#modelFiles().resolve(...file),
      beforeStep: (operationId) => this.thread.beforeStep(operationId),
      beforeTool: (operationId, readOnly) => this.thread.beforeTool(operationId, readOnly),
      onSettled: () => this.thread.poke(),
      onLongWait: (operationId) => this.thread.tellWaiting(operationId),
      onWaitEnd: (operationId) => this.thread.endWaiting(operationId),
      inTurn: (operationId, body) =>
        inMessengerContext(this.thread.contextOf(operationId), body, operationId),
    });
  }

  get root(): RootRuntime {
    this.#root ??= new RootRuntime({
      database: this.#options.database,
      deps: this.#options.deps,
      log: this.#options.log,
      definitions: () => this.#all(),
      commands: () => menuOf(this.#options.agent.getCommands()),
      later: (work) => this.#options.waitUntil(work()),
      observe: (...seen) => this.budget.noteIncoming(...seen),
      deliver: (conversation, messengerId, events) =>
        conversation === ""
          ? this.receive(messengerId, events)
          : this.#options.stub(this.childName(conversation)).receiveMessengerEvents(messengerId, events),
      hasEvent: (conversation, messengerId, key) =>
        this.#options.stub(this.childName(conversation)).hasMessengerEvent(messengerId, key),
    });
    return this.#root;
  }

  get thread(): ThreadRuntime {
    this.#thread ??= new ThreadRuntime({
      name: this.#options.name(),
      database: this.#options.database,
      deps: this.#options.deps,
      log: this.#options.log,
      engine: this.engine,
      root: this.#link(),
      definitions: () => this.#all(),
      commands: () => this.#options.agent.getCommands(),
      onAction: (press) => this.#options.agent.onAction(press),
      handOver: (name, messengerId, event) =>
        this.#options.stub(name).receiveMessengerEvents(messengerId, [event]),
      ...(this.#options.agent.onReaction !== undefined && {
        onReaction: (reaction: MessengerContext) => this.#options.agent.onReaction?.(reaction),
      }),
      transcribes: () => this.#options.agent.transcribe !== undefined,
      ...(isThreadConversation(this.#options.name()) && {
        route: (messengerId: string, event: IncomingEvent) =>
          this.#options.stub(this.#rootName()).routeMessengerEvent(messengerId, event),
      }),
      keepDeliveriesMs: () => this.#options.agent.keepDeliveriesMs,
      wakeAt: (at) => this.#wakeAt(at),
      putOffWake: (at) => this.#putOffWake(at),
    });
    return this.#thread;
  }

  /** The rate of this bot over all its chats, where this object is the root. */
  get budget(): RootBudget {
    this.#budget ??= createBotBudget({ database: this.#options.database, deps: this.#options.deps });
    return this.#budget;
  }

  /** The gates of the chats whose thread without a topic is this object. */
  get gate(): ChatGate {
    this.#gate ??= createChatGate({
      database: this.#options.database,
      deps: this.#options.deps,
      name: this.#options.name(),
      root: this.#isRoot() ? this.budget : this.#callsTo(this.#rootName()),
      local: {
        isInDoubt: (...asked) => this.thread.delivery.isInDoubt(...asked),
        sentIds: (...asked) => this.thread.delivery.sentIds(...asked),
        lastUsedAt: () => this.thread.delivery.lastUsedAt(),
      },
    });
    return this.#gate;
  }

  /** Answers what another object of the bot asks. */
  async answer(method: string, args: readonly unknown[]): Promise<unknown> {
    await this.lifecycle.ready();
    const gate = (): ChatGate => this.gate;
    const root = (): RootBudget => this.budget;
    const calls: InnerCalls = {
      acquire: (...asked) => gate().acquire(...asked),
      penalize: (...asked) => gate().penalize(...asked),
      report: (...asked) => gate().report(...asked),
      unclaimed: (...asked) => gate().unclaimed(...asked),
      noteCard: (...told) => gate().noteCard(...told),
      findCard: (...asked) => gate().findCard(...asked),
      claimMessage: (...asked) => gate().claimMessage(...asked),
      lend: (...asked) => root().lend(...asked),
      tellSent: (...asked) => root().tellSent(...asked),
      seenIds: (...asked) => root().seenIds(...asked),
    };
    return answerInner(calls, method, args);
  }

  reportAccess(messengerId: string, refusedWith: string | undefined): void {
    if (refusedWith === undefined) this.root.access.works(messengerId);
    else this.root.access.refused(messengerId, refusedWith);
  }

  /** The name of an object that belongs to this root. */
  childName(conversation: string): string {
    return `${this.#rootName()}/${conversation}`;
  }

  /** After every start: a job may be due that a former object left, and open turns are taken up without waiting. */
  override onStart(): void {
    const job = this.lifecycle.jobs.get(DRIVE_JOB);
    this.#armedAt = job?.time;
    if (job !== undefined) this.#later(() => this.thread.poke());
  }

  async onRequest({ request }: CapabilityRequestContext): Promise<Response | undefined> {
    if (!this.#isRoot()) return undefined;
    return answerSafely(this.#options.log, "webhook", () => this.root.handle(request));
  }

  async onJob({ job }: LifecycleJobContext): Promise<void> {
    if (job.fn !== DRIVE) return;
    this.#armedAt = undefined;
    await this.thread.drive();
    await this.#arming;
  }

  async receive(messengerId: string, events: readonly IncomingEvent[]): Promise<void> {
    await this.lifecycle.ready();
    const isWorkLeft = await this.thread.receive(messengerId, events);
    if (!isWorkLeft) return;
    await this.#arming;
    this.#later(() => this.thread.poke(), this.#answerFirst());
  }

  /** Runs code that has something sent, and resolves when that is durable. */
  async speak<T>(body: (speech: Speech) => T | Promise<T>): Promise<T> {
    await this.lifecycle.ready();
    const result = await body(this.thread.speech);
    await this.#arming;
    return result;
  }

  async hasEvent(messengerId: string, key: string): Promise<boolean> {
    await this.lifecycle.ready();
    return this.thread.hasEvent(messengerId, key);
  }

  async chat(message: string | UIMessage, callback: StreamCallback): Promise<void> {
    await this.lifecycle.ready();
    const requestId = this.#options.deps.newId();
    const session = this.thread.memory.session();
    this.#chats.set(requestId, session);
    this.#wakeAt(this.#options.deps.clock.now() + 2500);
    try {
      await streamChat({
        engine: this.engine,
        session,
        requestId,
        message:
          typeof message === "string"
            ? { id: requestId, role: "user", parts: [{ type: "text", text: message }] }
            : message,
        errorText: safeText(undefined, "errorResponseText", undefined, undefined),
        overloadedText: safeText(undefined, "overloadedResponseText", undefined, undefined),
        callback,
      });
    } finally {
      this.#chats.delete(requestId);
    }
  }

  async cancelChat(requestId: string): Promise<boolean> {
    await this.lifecycle.ready();
    // After a restart the chat goes on without its caller; its session is the current one, unless a new one was opened.
    const session = this.#chats.get(requestId) ?? this.thread.memory.session();
    return this.engine.cancel(requestId, session);
  }

  #isRoot(): boolean {
    return !this.#options.name().includes("/");
  }

  #rootName(): string {
    return this.#options.name().split("/", 1)[0] ?? "";
  }

  #all(): readonly NormalizedMessengerDefinition[] {
    if (this.#definitions !== undefined) return this.#definitions;
    try {
      this.#definitions = normalizeMessengers(this.#options.agent.getMessengers());
      return this.#definitions;
    } catch (error) {
      const code = failureCode(error);
      if (this.#loggedProblem !== code) logBotFailure(this.#options.log, "getMessengers", error);
      this.#loggedProblem = code;
      throw error;
    }
  }

  #callsTo(name: string): InnerCalls {
    return callsOver(() => this.#options.stub(name));
  }

  #link(): RootLink {
    const gate = (conversation: string): ChatGate => {
      const name = this.childName(conversation);
      return name === this.#options.name() ? this.gate : this.#callsTo(name);
    };
    if (this.#isRoot()) {
      return {
        gate,
        chatMoved: async (messengerId, move) => this.root.chatMoved(messengerId, move),
        identity: (messengerId) => this.root.identity(messengerId),
        takeQuestion: (asked) => Promise.resolve(this.root.takeQuestion(asked)),
        reportAccess: async (...report) => this.reportAccess(...report),
      };
    }
    const root = (): AgentStub => this.#options.stub(this.#rootName());
    return {
      gate,
      chatMoved: (messengerId, move) => root().chatMoved(messengerId, move),
      identity: (messengerId) => root().botIdentity(messengerId),
      takeQuestion: (asked) => root().takeQuestion(asked),
      reportAccess: (...report) => root().reportAccess(...report),
    };
  }

  #model(patience: Patience | undefined): LanguageModel {
    const turnId = getTurnId();
    const onUsage = (usage: TokenUsage): void => {
      if (turnId !== undefined) this.engine.stats.countTokens(turnId, usage);
    };
    return turnModel({ ...this.#options, log: this.#turnLog(), onUsage }, patience);
  }

  #modelFiles(): ModelFiles {
    if (this.#files !== undefined) return this.#files;
    const { agent, database, deps } = this.#options;
    const { clock } = deps;
    const log = (): Log => this.#turnLog();
    const transcribe = agent.transcribe?.bind(agent);
    const transcripts =
      transcribe && new Transcripts({ clock, log, store: createTranscriptStore(database), transcribe });
    this.#files = new ModelFiles({ clock, log, files: this.thread.files, transcripts });
    return this.#files;
  }

  /** The log, with the names of the turn for which code of the bot runs. */
  #turnLog(): Log {
    return this.#options.log.with(turnFields(getTurnId(), getMessengerContext()));
  }

  /** Sets the durable wake to `at`, unless an earlier one is set. */
  #wakeAt(at: number): void {
    if (this.#armedAt !== undefined && this.#armedAt <= at + SAME_WAKE_MS) return;
    this.#arm(at);
  }

  /** Moves the durable wake to a later time, or takes it away. */
  #putOffWake(at: number | undefined): void {
    if (this.#armedAt === undefined) return;
    // A chat that nobody answers by a messenger has no other wake of ours.
    if (at === undefined) {
      if (this.#chats.size === 0) this.#arm(undefined);
      return;
    }
    const isSoon = this.#armedAt <= this.#options.deps.clock.now() + PUT_OFF_WITHIN_MS;
    if (isSoon && this.#armedAt <= at - PUT_OFF_FROM_MS) this.#arm(at);
  }

  #arm(at: number | undefined): void {
    this.#armedAt = at;
    const push = async (): Promise<void> => {
      const { jobs } = this.lifecycle;
      if (at === undefined) await jobs.cancel(DRIVE_JOB);
      else await jobs.push({ id: DRIVE_JOB, fn: DRIVE, time: at, singleflight: true });
    };
    this.#arming = this.#arming.then(push, push);
    this.#arming.catch((error: unknown) => {
      this.#armedAt = undefined;
      this.#options.log.error("wake.failed", { code: failureCode(error) });
    });
  }

  async #answerFirst(): Promise<void> {
    for (let waits = 0; waits < ANSWER_FIRST_WAITS; waits += 1)
      await wait(this.#options.deps.clock, ANSWER_FIRST_MS);
  }

  /** Runs after the current event, in the object's own time. */
  #later(body: () => void, before = Promise.resolve()): void {
    this.#options.waitUntil(before.then(() => this.lifecycle.ready()).then(body));
  }
}
