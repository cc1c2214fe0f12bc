import { Agent } from "agents";
import type { AgentContext, DynamicAgentClass, DynamicAgentStub } from "agents";
import type { UIMessage } from "ai";
import { adoptConsole } from "./core/adopt-console.ts";
import type { CardPress, PressAnswer } from "./core/card-press.ts";
import type { Content } from "./core/content.ts";
import type { Address } from "./core/surface.ts";
import type { ReviseOptions, SayOptions } from "./messengers/replies/speech.ts";
import type { ChatMove } from "./core/chat-move.ts";
import { logBotFailure } from "./core/bot-code.ts";
import { consoleLogOf } from "./core/console-log.ts";
import { durableDatabase } from "./core/database.ts";
import { systemDeps } from "./core/deps.ts";
import type { DeliveryFilter, DeliveryReceipt } from "./core/delivery.ts";
import { ConfigurationError } from "./core/errors.ts";
import type { Log } from "./core/log.ts";
import type { BotIdentity, IncomingEvent, ThinkMessengers } from "./core/messenger.ts";
import type { FetchableAttachment, MessengerContext } from "./core/messenger-context.ts";
import { getMessengerContext } from "./core/turn-context.ts";
import type { ThinkCommands } from "./messengers/declare/commands.ts";
import { AgentRuntime } from "./messengers/agent/agent-runtime.ts";
import type { ThinkModel } from "./messengers/agent/agent-methods.ts";
import { answerSafely, failSafely } from "./messengers/root/answer-safely.ts";
import { conversationNameOf } from "./messengers/declare/conversation-name.ts";
import { agentNamespace } from "./messengers/agent/agent-namespace.ts";
import type { AgentNamespace } from "./messengers/agent/agent-namespace.ts";
import type { HealthProblem } from "./messengers/root/health-problem.ts";
import { keepName, nameOf } from "./messengers/agent/object-name.ts";
import type { RouteResult } from "./messengers/root/root-runtime.ts";
import type { DirectoryEntry } from "./messengers/root/root-store.ts";
import type { AskedQuestion } from "./messengers/root/turn-limits.ts";
import type { StreamCallback } from "./turn/chat-stream.ts";
import type { ThinkTools } from "./turn/bot-tools.ts";

const DEFAULT_SYSTEM_PROMPT =
  "You are a careful assistant in a chat. Answer what was asked, briefly and plainly. Use your tools for facts you do not know, and say so when you do not know something.";

/**
 * The class that a bot extends. One class serves both roles: the root takes the webhooks, and every conversation gets
 * an object of its own, named `<root>/<conversation>`.
 *
 * @example
 * export class MyBot extends Think<Env> {
 *   getModel() { return modelFromEnv(this.env).model; }
 *   getMessengers() { return defineMessengers({ telegram: telegramMessenger({ token, secretToken }) }); }
 * }
 * export default createWorker(MyBot);
 */
export class Think<Env extends Cloudflare.Env = Cloudflare.Env> extends Agent<Env> {
  /** Most model calls of one turn. */
  maxSteps = 10;
  /** About how many tokens of the transcript the model gets; older parts are summarised, then left out. */
  maxContextTokens = 60_000;
  /**
   * What happens to the text of a model call that was cut short. `"restart"`: it is dropped and the call is made again.
   * `"continue"`: it is kept and the model is asked to go on, for models that honour a partial answer.
   */
  interruptedStep: "restart" | "continue" = "restart";
  /**
   * Longest silence of a model in the middle of its answer, in milliseconds; thinking counts as speaking. After that the
   * call has failed. `0` waits forever.
   */
  chatStreamStallTimeoutMs = 30_000;
  /** Longest silence of a model before the first part of its answer, in milliseconds. `0` waits forever. */
  chatStreamFirstChunkTimeoutMs = 120_000;
  /**
   * How long one turn waits, in all, for a model server that is busy or away, in milliseconds. A server that asks for
   * more is not waited for. `0` gives up at the first failure.
   */
  modelPatienceMs = 120_000;

  /** How long the receipts of this object's deliveries are kept, in milliseconds. */
  keepDeliveriesMs = 30 * 24 * 60 * 60 * 1000;

  readonly #log: Log;
  readonly #runtime: AgentRuntime;

  constructor(ctx: AgentContext, env: Env) {
    super(ctx, env);
    keepName(ctx.storage, ctx.id.name);
    adoptConsole(console, consoleLogOf(env));
    const log = consoleLogOf(env).with({ conversation: conversationNameOf(nameOf(ctx)) });
    this.#log = log;
    let namespace: AgentNamespace | undefined;
    this.#runtime = new AgentRuntime({
      agent: this,
      name: () => nameOf(ctx) ?? this.name,
      database: durableDatabase(ctx.storage),
      deps: systemDeps,
      log,
      env,
      stub: (name) => {
        namespace ??= agentNamespace(ctx, env, this.constructor.name);
        return namespace.getByName(name);
      },
      waitUntil: (work) => ctx.waitUntil(work),
    });
    this.lifecycle.use(this.#runtime.engine.harness);
    this.lifecycle.use(this.#runtime);
    const onRequest = this.onRequest.bind(this);
    this.onRequest = (request) => answerSafely(log, "onRequest", () => onRequest(request));
    this.onStart = failSafely(log, "onStart", this.onStart.bind(this));
    this.onConnect = failSafely(log, "onConnect", this.onConnect.bind(this));
    this.onMessage = failSafely(log, "onMessage", this.onMessage.bind(this));
    this.onClose = failSafely(log, "onClose", this.onClose.bind(this));
    this.getConnectionTags = failSafely(log, "getConnectionTags", this.getConnectionTags.bind(this));
  }

  /**
   * The model of a turn: an AI SDK `LanguageModel`, or the id of a Workers AI model. Asked before every model call.
   *
   * @throws {ConfigurationError} unless overridden.
   */
  getModel(): ThinkModel {
    throw new ConfigurationError(
      "model-missing",
      `${this.constructor.name} has no model. Override getModel(), for example: getModel() { return modelFromEnv(this.env).model; }`,
    );
  }

  /** @default a short prompt for a careful assistant */
  getSystemPrompt(): string | Promise<string> {
    return DEFAULT_SYSTEM_PROMPT;
  }

  /**
   * AI SDK tools. A tool that changes nothing can carry `annotations: { readOnly: true }`, one that may safely run twice
   * `recovery: "rerun"`. Each needs an `execute`, unless the model's provider runs it, and none may have `needsApproval`.
   *
   * @default none
   */
  getTools(): ThinkTools | Promise<ThinkTools> {
    return {};
  }

  /** The messengers that this bot serves. @default none */
  getMessengers(): ThinkMessengers {
    return {};
  }

  /** Commands beside `/start`, `/help`, `/stop` and `/new`, or in place of them. @default none */
  getCommands(): ThinkCommands {
    return {};
  }

  /**
   * Returns the text that is spoken in a voice message or an audio file. The model reads it beside the line that names
   * the file. Files that `acceptsMedia` gives to the model itself are not transcribed.
   *
   * Runs before the first model call that needs the text, and again only if the process dies before the text is stored.
   * `undefined`: this file has no transcript, and the bot is asked again with the next model call. An empty text:
   * nothing is said in it. If it throws or takes longer than 30 seconds, the log says so and the model gets the line
   * alone.
   *
   * @default no transcripts
   * @example
   * override transcribe(audio: FetchableAttachment) {
   *   return transcriberFromEnv(this.env)?.(audio);
   * }
   */
  transcribe?(audio: FetchableAttachment): string | undefined | Promise<string | undefined>;

  /**
   * Hears that somebody reacted to a message, or took a reaction back, where the messenger has reactions switched on
   * (`reactions` of `telegramMessenger`). It starts no turn.
   *
   * Runs in the object of the chat, outside of its topics, whatever `conversation` says, and at least once for each
   * reaction: again if the process dies while it runs. `reaction.key` is the same then. If it throws or takes longer
   * than 30 seconds, the log says so, and it does not run again.
   *
   * @default reactions are ignored
   */
  onReaction?(reaction: MessengerContext): void | Promise<void>;

  /** The event that the running turn answers; `undefined` outside of a messenger's turn. */
  getMessengerContext(): MessengerContext | undefined {
    return getMessengerContext();
  }

  /**
   * Called when a person presses a button of a card that this conversation has posted, or writes the number of its
   * option. Called at most once for a press, also after a crash. A press is acknowledged after 10 s at the latest, and
   * a handler may take 30 s.
   *
   * @default nothing
   */
  onAction(_press: CardPress): PressAnswer | Promise<PressAnswer> {
    return undefined;
  }

  /**
   * Sends content: a text, a card with buttons, files or a place. Resolves as soon as it is stored, files included; it is
   * then sent once, whatever happens. Returns an id for `getDelivery`, `revise` and `remove`.
   *
   * @param to where it goes. @default the chat of the running turn, command or press, else the one that last wrote here
   * @throws {SwitchboardError} `chat-unknown` if this conversation knows no chat
   * @throws {InvalidInputError} if the content is not valid: the code and the message say what is wrong
   * @throws {SwitchboardError} `file-unreachable`, `file-refused`, `file-unreadable` if a file could not be read
   * @example
   * const id = await this.say({
   *   kind: "card",
   *   text: "Shall I order it?",
   *   buttons: [[{ kind: "callback", label: "Yes", payload: { order: 7 } }]],
   * });
   */
  async say(content: Content, to?: Address, options: SayOptions = {}): Promise<string> {
    return this.#runtime.speak((speech) => speech.say(content, to, options));
  }

  /**
   * Changes a card of this conversation, for as long as its rows are kept (90 days). If two revisions meet, the later one
   * wins. Returns `false` if there is no such card any more, or its chat takes no messages.
   *
   * @param id the id that `say` returned, or `press.cardId`
   * @throws {InvalidInputError} if the content is not valid; the card stays as it is
   */
  async revise(id: string, content: Content, options: ReviseOptions = {}): Promise<boolean> {
    return this.#runtime.speak((speech) => speech.revise(id, content, options));
  }

  /**
   * Takes a card of this conversation away. Where the platform does not delete the message any more, its text and buttons
   * are replaced. Returns `false` if there is no such card any more, or its chat takes no messages.
   */
  async remove(id: string): Promise<boolean> {
    return this.#runtime.speak((speech) => speech.remove(id));
  }

  /** Requests that neither a sub-agent, nor Switchboard, nor a messenger has answered. @default 404 */
  override onRequest(_request: Request): Response | Promise<Response> {
    return new Response("Not found", { status: 404 });
  }

  /**
   * Where errors of requests and connections end up. Those of a connection are logged here, as their kind and place;
   * the base class would log their text. Always throws what it is given.
   */
  override onError(connectionOrError: unknown, error?: unknown): never {
    if (error === undefined) throw connectionOrError;
    logBotFailure(this.#log, "onMessage", error);
    throw error as Error;
  }

  /**
   * Runs a turn and streams it. Resolves when it has ended.
   *
   * @param message text, or an AI SDK user message
   */
  async chat(message: string | UIMessage, callback: StreamCallback): Promise<void> {
    await this.#runtime.chat(message, callback);
  }

  /** Ends a turn that `chat` began. `false` when it is not running any more. */
  async cancelChat(requestId: string, _reason?: string): Promise<boolean> {
    return this.#runtime.cancelChat(requestId);
  }

  /**
   * An agent of its own by class and name. For a `Think` class it is a top-level object, `<this root>/<name>`, which
   * runs on a machine of its own; for any other class it is the base class's sub-agent.
   */
  override async subAgent<T extends Agent>(
    agentClass: DynamicAgentClass<T>,
    name: string,
  ): Promise<DynamicAgentStub<T>> {
    // oxlint-disable-next-line typescript/no-deprecated -- this override is what keeps the seed's name alive
    if (!(agentClass.prototype instanceof Think)) return super.subAgent(agentClass, name);
    const stub = agentNamespace(this.ctx, this.env, agentClass.name).getByName(this.#runtime.childName(name));
    return stub as unknown as DynamicAgentStub<T>;
  }

  /** The conversations of this root, the most recently active first. */
  listConversations(limit = 100): DirectoryEntry[] {
    return this.#runtime.root.directory(limit);
  }

  /**
   * What became of the replies and notices of this conversation, the newest first: states, platform message ids,
   * attempts, times and codes, never a text.
   *
   * @example await stub.listDeliveries({ state: "failed", since: Date.now() - 86_400_000 });
   */
  listDeliveries(filter: DeliveryFilter = {}): DeliveryReceipt[] {
    return this.#runtime.thread.delivery.receipts(filter);
  }

  /** The receipt of one reply of this conversation; `undefined` when there is none, or none any more. */
  getDelivery(id: string): DeliveryReceipt | undefined {
    return this.#runtime.thread.delivery.receipt(id);
  }

  /** How many updates of kinds that are not handled have come, by `<messenger>:<kind>`. */
  ignoredUpdates(): Readonly<Record<string, number>> {
    return this.#runtime.root.ignored();
  }

  /** @internal For `/health`. */
  async healthProblem(): Promise<HealthProblem | undefined> {
    return this.#runtime.health.problem();
  }

  /** @internal From the root: resolves when the events are durable here. */
  async receiveMessengerEvents(messengerId: string, events: readonly IncomingEvent[]): Promise<void> {
    await this.#runtime.receive(messengerId, events);
  }

  /** @internal The one door for what objects of this bot ask each other. */
  async inner(method: string, args: readonly unknown[]): Promise<unknown> {
    return this.#runtime.answer(method, args);
  }

  /** @internal From the object of a thread to its root: an event whose conversation could not be told at its webhook. */
  async routeMessengerEvent(messengerId: string, event: IncomingEvent): Promise<RouteResult> {
    return this.#runtime.root.route(messengerId, event);
  }

  /** @internal From a conversation to its root. */
  async chatMoved(messengerId: string, move: ChatMove): Promise<void> {
    this.#runtime.root.chatMoved(messengerId, move);
  }

  /** @internal From the root to a conversation. */
  async hasMessengerEvent(messengerId: string, key: string): Promise<boolean> {
    return this.#runtime.hasEvent(messengerId, key);
  }

  /** @internal From a conversation to its root. */
  async takeQuestion(asked: AskedQuestion): Promise<boolean> {
    return this.#runtime.root.takeQuestion(asked);
  }

  /** @internal From a conversation to its root. */
  async reportAccess(messengerId: string, refusedWith: string | undefined): Promise<void> {
    this.#runtime.reportAccess(messengerId, refusedWith);
  }

  /** @internal From a conversation to its root. */
  async botIdentity(messengerId: string): Promise<BotIdentity> {
    return this.#runtime.root.identity(messengerId);
  }
}
