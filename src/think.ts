import { Agent } from "agents";
import type { AgentContext, DynamicAgentClass, DynamicAgentStub } from "agents";
import type { UIMessage } from "ai";
import type { ThinkActions } from "./actions/action.ts";
import type { ActionAuthorization, ActionCallContext, ActionTurnContext } from "./actions/authorize.ts";
import type { ApprovalRecord, ExecutionDecision, PendingApproval } from "./approvals/pending-approval.ts";
import type { ApprovalFilter } from "./approvals/approval-store.ts";
import { adoptConsole } from "./core/adopt-console.ts";
import type { CardPress, PressAnswer } from "./core/card-press.ts";
import type { ChatFilter, ChatPage } from "./core/chat.ts";
import type { ChatTarget, SayOptions } from "./core/chat-target.ts";
import type { Content, ReviseOptions } from "./core/content.ts";
import { logBotFailure } from "./core/bot-code.ts";
import { consoleLogOf } from "./core/console-log.ts";
import type { DeliveryFilter, DeliveryReceipt } from "./core/delivery.ts";
import { ConfigurationError } from "./core/errors.ts";
import type { Log } from "./core/log.ts";
import type { ThinkMessengers } from "./core/messenger.ts";
import type { ChatMemberEvent, FetchableAttachment, MessengerContext } from "./core/messenger-context.ts";
import { getMessengerContext, getTurn } from "./core/turn-context.ts";
import type { TurnInfo } from "./core/turn-info.ts";
import type { ThinkCommands } from "./messengers/declare/commands.ts";
import type { AgentRuntime } from "./messengers/agent/agent-runtime.ts";
import { runtimeOf } from "./messengers/agent/runtime-of.ts";
import type { ThinkModel } from "./messengers/agent/agent-methods.ts";
import { guardEvents } from "./messengers/root/answer-safely.ts";
import {
  conversationNameOf,
  listedConversationName,
  namedConversationName,
} from "./messengers/declare/conversation-name.ts";
import { agentNamespace } from "./messengers/agent/agent-namespace.ts";
import { keepName, nameOf } from "./messengers/agent/object-name.ts";
import type { DirectoryEntry } from "./messengers/root/root-store.ts";
import { submissionOf } from "./messengers/turns/submissions.ts";
import type {
  SaveMessagesResult,
  Submission,
  SubmissionFilter,
  SubmissionInput,
  SubmitMessagesOptions,
  SubmitMessagesResult,
} from "./messengers/turns/submissions.ts";
import { ownHooks } from "./turn/hooks.ts";
import type * as hook from "./turn/hooks.ts";
import type { StreamCallback } from "./turn/chat-stream.ts";
import type { ThinkTools } from "./turn/bot-tools.ts";

const DEFAULT_SYSTEM_PROMPT =
  "You are a careful assistant in a chat. Answer what was asked, briefly and plainly. Use your tools for facts you do not know, and say so when you do not know something.";

/**
 * The class that a bot extends. One class has all roles: the root takes the webhooks, every conversation has its own
 * object, named `<root>/<conversation>`, and every chat has a gate in one of these objects.
 *
 * @example
 * export class MyBot extends Think<Env> {
 *   getModel() { return modelFromEnv(this.env).model; }
 *   getMessengers() { return defineMessengers({ telegram: telegramMessenger({ token, secretToken }) }); }
 * }
 * export default createWorker(MyBot);
 */
export class Think<Env extends Cloudflare.Env = Cloudflare.Env>
  extends Agent<Env>
  implements Partial<hook.ThinkHooks>
{
  /** Most model calls of one turn. */
  maxSteps = 10;
  /** About this many tokens of the transcript reach the model. Older parts are summarized, then left out. */
  maxContextTokens = 60_000;
  /**
   * Decides about the text of an interrupted model call. `"restart"`: the text is dropped and the call is made again.
   * `"continue"`: the text is kept and the model continues it, for models that support this.
   */
  interruptedStep: "restart" | "continue" = "restart";
  /**
   * Longest silence of a model in the middle of its answer, in milliseconds. Visible thinking is not silence. After
   * that the call has failed. `0` waits forever.
   */
  chatStreamStallTimeoutMs = 30_000;
  /** Longest silence of a model before the first part of its answer, in milliseconds. `0` waits forever. */
  chatStreamFirstChunkTimeoutMs = 120_000;
  /**
   * How long one turn waits in total for a model server that is busy or away, in milliseconds. If a server asks for
   * more time, the turn does not wait. `0` gives up at the first failure.
   */
  modelPatienceMs = 120_000;
  /** Whether the callback of `chat()` gets the model's reasoning. */
  sendReasoning = true;
  /**
   * Age at which a run of an action counts as interrupted, in milliseconds. A run of an object that has restarted
   * counts as interrupted at once. Only actions with an `idempotencyKey` are then repeated; `false` repeats none.
   */
  actionLedgerPendingRetryLeaseMs: number | false = 300_000;

  /** How long receipts are kept, in milliseconds. */
  keepDeliveriesMs = 30 * 24 * 60 * 60 * 1000;

  readonly #log: Log;
  readonly #runtime: AgentRuntime;

  constructor(ctx: AgentContext, env: Env) {
    super(ctx, env);
    keepName(ctx.storage, ctx.id.name);
    adoptConsole(console, consoleLogOf(env));
    const log = consoleLogOf(env).with({ conversation: conversationNameOf(nameOf(ctx)) });
    this.#log = log;
    this.#runtime = runtimeOf(this, {
      ctx,
      env,
      log,
      hooks: () => ownHooks(this),
      name: () => this.name,
      self: this.constructor.name,
    });
    this.lifecycle.use(this.#runtime.engine.harness);
    this.lifecycle.use(this.#runtime);
    guardEvents(this, log);
  }

  /**
   * Returns the model: an AI SDK `LanguageModel`, or the id of a Workers AI model. Called before every model call.
   *
   * @throws {ConfigurationError} unless overridden
   */
  getModel(): ThinkModel {
    throw new ConfigurationError(
      "model-missing",
      `${this.constructor.name} has no model. Override getModel(), for example: getModel() { return modelFromEnv(this.env); }`,
    );
  }

  /** @default a short prompt for a careful assistant */
  getSystemPrompt(): string | Promise<string> {
    return DEFAULT_SYSTEM_PROMPT;
  }

  /**
   * Returns AI SDK tools. A tool that changes nothing can have `annotations: { readOnly: true }`. A tool that may
   * safely run twice can have `recovery: "rerun"`. Each needs an `execute`, unless the model's provider runs it, and
   * none may have `needsApproval`.
   *
   * @default none
   */
  getTools(): ThinkTools | Promise<ThinkTools> {
    return {};
  }

  /**
   * Returns actions: tools whose effects happen once. They may need a permission or a person's consent. See `action`.
   *
   * @default none
   */
  getActions(): ThinkActions {
    return {};
  }

  /**
   * Decides the permissions of a turn. It is called once for each person whose messages the turn answers, and the turn
   * has the permissions that all of them have. It is called again right before an approved action runs. If it throws,
   * nothing is allowed.
   *
   * @default everything is allowed
   */
  authorizeTurn(_context: ActionTurnContext): ActionAuthorization {
    return true;
  }

  /**
   * Decides about one call of an action, for each person whose messages the turn answers. If it throws, the call does not
   * run.
   *
   * @default whether the turn has the permissions that the action requires: `context.isGranted`
   */
  authorizeAction(context: ActionCallContext): ActionAuthorization {
    return context.isGranted;
  }

  /** Before the first model call of a turn. May change what the turn uses. */
  beforeTurn?(context: hook.TurnContext): hook.TurnConfig | void | Promise<hook.TurnConfig | void>;

  /** Before each model call. May change what the call uses. */
  beforeStep?(context: hook.PrepareStepContext): hook.StepConfig | void | Promise<hook.StepConfig | void>;

  /** Before a tool runs. May change its input, block it, or answer in its place. */
  beforeToolCall?(
    context: hook.ToolCallContext,
  ): hook.ToolCallDecision | void | Promise<hook.ToolCallDecision | void>;

  /** After each tool call, also one that did not run. */
  afterToolCall?(context: hook.ToolCallResultContext): void | Promise<void>;

  /** After each model call, before its tools run. */
  onStepFinish?(context: hook.StepContext): void | Promise<void>;

  /** For each piece that the model streams. */
  onChunk?(context: hook.ChunkContext): void | Promise<void>;

  /** After a turn has ended and its answer is stored. */
  onChatResponse?(result: hook.ChatResponseResult): void | Promise<void>;

  /** When a turn fails. Returns the error that `onChatResponse` gets; nobody in a chat sees it. */
  onChatError?(error: unknown, context: hook.ChatErrorContext): unknown;

  /** The messengers that this bot serves. @default none */
  getMessengers(): ThinkMessengers {
    return {};
  }

  /** Returns commands in addition to `/start`, `/help`, `/stop` and `/new`, or instead of them. @default none */
  getCommands(): ThinkCommands {
    return {};
  }

  /**
   * Returns the words spoken in a voice message or an audio file. The model reads them next to the line that names the
   * file. Files that `acceptsMedia` gives to the model itself are not transcribed.
   *
   * Runs before the first model call that needs the text, and again only if the process dies before the text is stored.
   * `undefined`: there is no transcript yet, and the method is called again before the next model call. An empty text:
   * nobody speaks in the file. If it throws or takes longer than 30 seconds, the log says so and the model gets the
   * line alone.
   *
   * @default no transcripts
   * @example
   * override transcribe(audio: FetchableAttachment) {
   *   return transcriberFromEnv(this.env)?.(audio);
   * }
   */
  transcribe?(audio: FetchableAttachment): string | undefined | Promise<string | undefined>;

  /**
   * Called when the bot is added, removed, blocked or unblocked, or people join or leave a group (`event.member`). Runs
   * as `onReaction` does. Content that it returns is sent to that chat once, but not if the bot has left it.
   */
  onChatMember?(event: ChatMemberEvent): Content | undefined | void | Promise<Content | undefined | void>;

  /**
   * Called when somebody reacts to a message or takes a reaction back, if the messenger has reactions switched on
   * (`reactions` of `telegramMessenger`). Starts no turn.
   *
   * Runs in the object of the chat without a topic, whatever `conversation` returns. Runs at least once for each
   * reaction: if the process dies meanwhile, it runs again with the same `reaction.key`. If it throws or takes longer
   * than 30 seconds, the log says so, and it does not run again.
   *
   * @default reactions are ignored
   */
  onReaction?(reaction: MessengerContext): void | Promise<void>;

  /** Returns the event that the running turn answers; `undefined` if no message of a person began the turn. */
  getMessengerContext(): MessengerContext | undefined {
    return getMessengerContext();
  }

  /**
   * Returns the turn in which the bot's code runs: its kind, its authors and the chats that its answer goes to.
   * Undefined outside a turn.
   */
  getTurn(): TurnInfo | undefined {
    return getTurn();
  }

  /**
   * Called when a person presses a button of a card that this conversation has posted, or writes the number of its
   * option. Called at most once for a press, even across a crash. A press is acknowledged after 10 s at the latest, and
   * a handler may take 30 s.
   *
   * @default nothing
   */
  onAction(_press: CardPress): PressAnswer | Promise<PressAnswer> {
    return undefined;
  }

  /**
   * Changes a card of this conversation, for as long as its rows are kept (90 days). The later of two revisions wins.
   * Returns `false` if the card no longer exists, or its chat accepts no messages.
   *
   * @param id the id that `say` returned, or `press.cardId`
   * @throws {InvalidInputError} if the content is not valid; the card stays as it is
   */
  async revise(id: string, content: Content, options: ReviseOptions = {}): Promise<boolean> {
    return this.#runtime.changeCards((cards) => cards.revise(id, content, options.ifDeleted));
  }

  /**
   * Removes a card of this conversation. If the platform can no longer delete the message, its text is replaced and its
   * buttons are removed. Returns `false` if the card no longer exists, or its chat accepts no messages.
   */
  async remove(id: string): Promise<boolean> {
    return this.#runtime.changeCards((cards) => cards.remove(id));
  }

  /** Handles requests that no sub-agent, messenger or other part of Switchboard has answered. @default 404 */
  override onRequest(_request: Request): Response | Promise<Response> {
    return new Response("Not found", { status: 404 });
  }

  /**
   * Receives errors of requests and connections. Errors of a connection are logged here with their kind and place,
   * because the base class would log their text. Always throws the given error.
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

  /** Ends a turn of `chat()`, also one that still waits. Returns `false` if it has ended already. */
  async cancelChat(requestId: string, _reason?: string): Promise<boolean> {
    return this.#runtime.cancel(requestId);
  }

  /**
   * Asks the model something in this conversation, as a turn of its own. Resolves when the submission is durable,
   * before the model runs. The turn waits for earlier turns and never changes them. Works over RPC.
   *
   * @throws {InvalidInputError} `submission-invalid`, `submission-too-large`, `messenger-unknown`
   * @throws {SwitchboardError} `submission-conflict` if the id and the key belong to different submissions
   *
   * @example await stub.submitMessages("Write the digest of today.", { idempotencyKey: "digest-2026-11-22" });
   */
  async submitMessages(
    messages: SubmissionInput,
    options: SubmitMessagesOptions = {},
  ): Promise<SubmitMessagesResult> {
    return this.#runtime.submitMessages(messages, options);
  }

  /**
   * Asks the model something in this conversation, and resolves when the turn has ended. If this object dies before
   * that, the call fails but the turn continues.
   *
   * @throws what `submitMessages` throws
   */
  async saveMessages(
    messages: SubmissionInput,
    options: SubmitMessagesOptions = {},
  ): Promise<SaveMessagesResult> {
    return this.#runtime.saveMessages(messages, options);
  }

  /** Returns a submission. Undefined if it does not exist. Ended submissions are kept for 30 days. */
  inspectSubmission(submissionId: string): Submission | undefined {
    const prompt = this.#runtime.thread.own.prompts.get(submissionId);
    return prompt === undefined ? undefined : submissionOf(prompt);
  }

  /** Returns the submissions of this conversation, newest first. */
  listSubmissions({ limit = 100, status }: SubmissionFilter = {}): Submission[] {
    const states = status === undefined ? undefined : [status].flat();
    const filter = { limit: Math.min(limit, 1000), ...(states !== undefined && { states }) };
    return this.#runtime.thread.own.prompts.list(filter).map(submissionOf);
  }

  /** Ends a submission that waits or runs. Returns `false` if it has ended already. */
  async cancelSubmission(submissionId: string, _reason?: string): Promise<boolean> {
    return this.#runtime.cancel(submissionId);
  }

  /** Returns the calls of actions in this conversation that wait for a person: all of them, or this one. */
  pendingApprovals(executionId?: string): PendingApproval[] {
    return this.#runtime.actions.desk.pending(executionId);
  }

  /**
   * Approves a waiting call: the action runs once, and its outcome begins a turn of its own. Resolves when that is
   * durable. A second decision changes nothing.
   */
  async approveExecution(executionId: string): Promise<ExecutionDecision> {
    return this.#runtime.decide(executionId, { kind: "approve" });
  }

  /** Refuses a waiting call. The model reads the reason. A second decision changes nothing. */
  async rejectExecution(executionId: string, reason?: string): Promise<ExecutionDecision> {
    return this.#runtime.decide(executionId, { kind: "reject", reason });
  }

  /**
   * Returns the approvals of this conversation, newest first, also ended ones, with the person, decision, time and
   * place.
   */
  listApprovals(filter: ApprovalFilter = {}): ApprovalRecord[] {
    return [...this.#runtime.actions.desk.approvals.list(filter)];
  }

  /**
   * Returns an agent by class and name. For a `Think` class it is a separate top-level object, `<this root>/<name>`.
   * For any other class it is the base class's sub-agent.
   */
  override async subAgent<T extends Agent>(
    agentClass: DynamicAgentClass<T>,
    name: string,
  ): Promise<DynamicAgentStub<T>> {
    // oxlint-disable-next-line typescript/no-deprecated -- this override is what keeps the seed's name alive
    if (!(agentClass.prototype instanceof Think)) return super.subAgent(agentClass, name);
    return this.#agentOf(agentClass, namedConversationName(name, "subAgent()"));
  }

  /**
   * Returns the agent of a conversation, by its name in `listConversations()`.
   *
   * @throws {ConfigurationError} `conversation-name-invalid` when no conversation can have this name
   * @example const agent = this.conversationAgent(MyBot, this.listConversations()[0].name);
   */
  conversationAgent<T extends Agent>(agentClass: DynamicAgentClass<T>, name: string): DynamicAgentStub<T> {
    return this.#agentOf(agentClass, listedConversationName(name, "conversationAgent()"));
  }

  #agentOf<T extends Agent>(agentClass: DynamicAgentClass<T>, conversation: string): DynamicAgentStub<T> {
    const objectName = this.#runtime.objectNameOf(conversation);
    const stub = agentNamespace(this.ctx, this.env, agentClass.name).getByName(objectName);
    return stub as unknown as DynamicAgentStub<T>;
  }

  /** Returns the conversations of this root, most recently active first. */
  listConversations(limit = 100): DirectoryEntry[] {
    return this.#runtime.root.directory(limit);
  }

  /**
   * Sends content of the bot's own code, from this object's own outbox. Returns an id when the content is stored. It is
   * sent in the background, also after a crash. The id finds its receipt (`getDelivery`), and a card for `revise` and
   * `remove`.
   *
   * @param content Markdown, or a card, files or a place
   * @param to required at the root outside of a turn. @default the chat of the running turn, else the chat in which
   * this conversation was last written to
   * @throws {SwitchboardError} `chat-unknown`, `chat-gone`, `person-not-reachable`, `messenger-unknown`,
   * `target-invalid`, `target-missing`
   * @throws {InvalidInputError} `idempotency-key-invalid`, `content-invalid`, and for a card `card-invalid`,
   * `button-invalid`, `payload-not-json`, `payload-too-large`
   * @example await this.say("Your order is on its way.", { messenger: "telegram", userId: "4711" });
   */
  async say(content: Content, to?: ChatTarget, options: SayOptions = {}): Promise<string> {
    return this.#runtime.say(content, to, options);
  }

  /** Sets or (`undefined`) takes back the bot's reaction. Returns an id for `getDelivery`. @throws as `say`, `mark-invalid` */
  async react(messageId: string, emoji: string | undefined, to?: ChatTarget): Promise<string> {
    return this.#runtime.mark({ kind: "reaction", messageId, emoji }, to);
  }

  /** Pins a message, without a notification. Otherwise as `react`; the code is `pins-unsupported`. */
  async pin(messageId: string, to?: ChatTarget): Promise<string> {
    return this.#runtime.mark({ kind: "pin", messageId }, to);
  }

  /** Takes a pinned message down, by default the one that was pinned last. Otherwise as `pin`. */
  async unpin(messageId?: string, to?: ChatTarget): Promise<string> {
    return this.#runtime.mark({ kind: "unpin", messageId }, to);
  }

  /**
   * Returns a page of the root's chats: private chats, groups and channels in which the bot was seen, with their
   * titles, topics and whether the bot can still write there. The cost of a page does not grow with the number of
   * chats.
   *
   * @throws {InvalidInputError} `chat-filter-invalid` for a cursor or limit that cannot be used
   * @example const { chats, cursor } = await stub.listChats({ kind: "private", isGone: false });
   */
  listChats(filter: ChatFilter = {}): ChatPage {
    return this.#runtime.root.listChats(filter);
  }

  /**
   * Returns the receipts of this conversation's replies and notices, newest first: states, platform message ids,
   * attempts, times and codes, never a text.
   *
   * @example await stub.listDeliveries({ state: "failed", since: Date.now() - 86_400_000 });
   */
  listDeliveries(filter: DeliveryFilter = {}): DeliveryReceipt[] {
    return this.#runtime.thread.delivery.receipts(filter);
  }

  /** Returns the receipt of one reply of this conversation. Undefined if there is none, or it was deleted. */
  getDelivery(id: string): DeliveryReceipt | undefined {
    return this.#runtime.thread.delivery.receipt(id);
  }

  /** Returns the number of ignored updates, by `<messenger>:<kind>`. */
  ignoredUpdates(): Readonly<Record<string, number>> {
    return this.#runtime.root.ignored();
  }

  /** @internal Carries the calls between objects of this bot; see `InnerCalls`. */
  async inner(method: string, args: readonly unknown[]): Promise<unknown> {
    return this.#runtime.answer(method, args);
  }
}
