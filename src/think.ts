import type { AgentContext } from "agents";
import type { UIMessage } from "ai";
import { BotApprovals } from "./approvals/bot-approvals.ts";
import type { ExecutionDecision } from "./approvals/rules/approval-record.ts";
import type { PendingApproval } from "./approvals/rules/pending-approval.ts";
import { adoptConsole } from "./log/adopt-console.ts";
import type { ChatFilter, ChatPage } from "./core/chat/chat.ts";
import type { ChatTarget, SayOptions } from "./core/chat/chat-target.ts";
import type { Content, ReviseOptions } from "./core/message/content.ts";
import { logBotFailure } from "./core/time/bot-code.ts";
import { ConfigurationError } from "./core/base/errors.ts";
import { MEMORY_MISSING } from "./feature/imported-feature.ts";
import type { Session } from "./feature/session.ts";
import { consoleLogOf } from "./log/console-log.ts";
import type { FigureReport } from "./core/chat/figures.ts";
import type { Log } from "./core/base/log.ts";
import type { FetchableAttachment, MessengerContext } from "./core/chat/messenger-context.ts";
import type { SentFile } from "./forms/answer-schemas.ts";
import type { StoredAttachment } from "./core/message/reply-attachment.ts";
import { getMessengerContext, getTurn } from "./core/turn/turn-context.ts";
import type { TokenUsageEntry, UsageFilter } from "./core/turn/used-tokens.ts";
import type { TurnInfo } from "./core/turn/turn-info.ts";
import type { AgentRuntime } from "./agent/agent-runtime.ts";
import { keepObject, type BotObject } from "./agent/bot-object.ts";
import { BotBroadcasts } from "./broadcasts/bot-broadcasts.ts";
import type { NoticeOptions } from "./broadcasts/notice.ts";
import type { BotQuestions } from "./questions/bot-questions.ts";
import { APPROVALS, BROADCASTS, featuresOf, QUESTIONS, SCHEDULES, SUBMISSIONS } from "./agent/features.ts";
import { runtimeOf } from "./agent/runtime-of.ts";
import { guardEvents } from "./messengers/root/answer-safely.ts";
import { conversationNameOf } from "./messengers/declare/conversation-name.ts";
import { keepName, nameOf } from "./agent/object-name.ts";
import { BotDeliveries } from "./messengers/thread/bot-deliveries.ts";
import { BotSchedules } from "./schedules/bot-schedules.ts";
import type {
  ChatOptions,
  ContinueResult,
  RunTurnOptions,
  RunTurnResult,
  SaveMessagesResult,
  Submission,
  SubmissionDeletion,
  SubmissionFilter,
  SubmitMessagesOptions,
  SubmitMessagesResult,
  WaitOptions,
} from "./submissions/submissions.ts";
import type { SubmissionInput } from "./messengers/turns/question-messages.ts";
import { ThinkAgents } from "./think-agents.ts";
import { ownHooks } from "./turn/hooks.ts";
import type { StreamCallback } from "./turn/chat-stream.ts";
import type { ChannelContext } from "./messengers/declare/channels.ts";
import type { ExtensionManager } from "./extensions/extension-manager.ts";
import type { ExtensionsFeature } from "./extensions/extensions-feature.ts";
import type { Workspace } from "./workspace/conversation-workspace.ts";
import type { WorkspaceFeature } from "./workspace/workspace-feature.ts";

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
export class Think<Env extends Cloudflare.Env = Cloudflare.Env, State = unknown> extends ThinkAgents<
  Env,
  State
> {
  readonly #log: Log;
  readonly #runtime: AgentRuntime;
  readonly #object: BotObject;

  constructor(ctx: AgentContext, env: Env) {
    super(ctx, env);
    keepName(ctx.storage, ctx.id.name);
    adoptConsole(console, consoleLogOf(env));
    const log = consoleLogOf(env).with({ conversation: conversationNameOf(nameOf(ctx)) });
    this.#log = log;
    const runtime = runtimeOf(this, {
      ctx,
      env,
      log,
      hooks: () => ownHooks(this),
      use: (harness) => this.lifecycle.use(harness),
      name: () => this.name,
      self: this.constructor.name,
      features: featuresOf(this.constructor),
    });
    this.#runtime = runtime;
    this.#object = runtime.object;
    keepObject(this, runtime.object);
    this.lifecycle.use(runtime);
    guardEvents(this, log);
  }

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

  /** The channel of the running turn, or of the event that is being handled. Undefined outside of both. */
  get activeChannel(): ChannelContext | undefined {
    return this.#object.channels.active();
  }

  /**
   * The files of this conversation.
   *
   * @throws {ConfigurationError} `feature-not-imported` in a bot without the static member `workspace`
   */
  get workspace(): Workspace {
    return this.#object.features.imported<WorkspaceFeature>("workspace").workspace;
  }

  /**
   * Changes a card of this conversation, for as long as its rows are kept (90 days). The later of two revisions wins.
   * Returns `false` if the card no longer exists, or its chat accepts no messages.
   *
   * @param id the id that `say` returned, or `press.cardId`
   * @throws {InvalidInputError} if the content is not valid; the card stays as it is
   */
  async revise(id: string, content: Content, options: ReviseOptions = {}): Promise<boolean> {
    return this.#object.sends.changeCards((cards) => cards.reviseWhenReady(id, content, options.ifDeleted));
  }

  /**
   * Removes a card of this conversation. If the platform can no longer delete the message, its text is replaced and its
   * buttons are removed. Returns `false` if the card no longer exists, or its chat accepts no messages.
   */
  async remove(id: string): Promise<boolean> {
    return this.#object.sends.changeCards((cards) => cards.remove(id));
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
  async chat(
    message: string | UIMessage,
    callback: StreamCallback,
    options: ChatOptions = {},
  ): Promise<void> {
    await this.#object.features.get(SUBMISSIONS).chat(message, callback, options);
  }

  /**
   * Ends a turn of `chat()`, also one that still waits. Returns `false` if it has ended already.
   *
   * @param reason for the bot's own code: `inspectSubmission()` returns its first 1,000 characters as `error`
   */
  async cancelChat(requestId: string, reason?: string): Promise<boolean> {
    return this.#object.features.get(SUBMISSIONS).cancel(requestId, reason);
  }

  /**
   * Asks the model something in this conversation, as a turn of its own. Resolves when the submission is durable,
   * before the model runs. The turn waits for earlier turns and never changes them. Works over RPC.
   *
   * @throws {InvalidInputError} `submission-invalid`, `submission-empty`, `submission-too-large`, `messenger-unknown`
   * @throws {SwitchboardError} `submission-conflict` if the id and the key belong to different submissions, or the
   * earlier one had other messages; or a code of `say` about the target
   *
   * @example await stub.submitMessages("Write the digest of today.", { idempotencyKey: "digest-2026-11-22" });
   */
  async submitMessages(
    messages: SubmissionInput,
    options: SubmitMessagesOptions = {},
  ): Promise<SubmitMessagesResult> {
    return this.#object.features.get(SUBMISSIONS).submitMessages(messages, options);
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
    return this.#object.features.get(SUBMISSIONS).saveMessages(messages, options);
  }

  /**
   * Asks the model to continue its last answer, as a turn of its own, and resolves when that has ended. The status is
   * `skipped` if the newest message is no answer.
   *
   * @throws what `submitMessages` throws
   */
  async continueLastTurn(options: SubmitMessagesOptions = {}): Promise<ContinueResult> {
    return this.#object.features.get(SUBMISSIONS).continueLast(options);
  }

  /**
   * Runs a turn: `wait` for its end as `saveMessages`, `submit` it as `submitMessages`, or `stream` it as `chat`.
   *
   * @throws what these throw
   * @example await this.runTurn({ mode: "wait", messages: "Write the report.", deliver: true });
   */
  async runTurn<Options extends RunTurnOptions>(options: Options): Promise<RunTurnResult<Options["mode"]>> {
    return (await this.#object.features.get(SUBMISSIONS).runTurn(options)) as RunTurnResult<Options["mode"]>;
  }

  /**
   * Waits until a submission has ended, and returns it. After `timeoutMs` it returns it as it is. Undefined if it does
   * not exist. If this object dies, the call fails but the turn continues: call it again.
   */
  async waitForSubmission(submissionId: string, options: WaitOptions = {}): Promise<Submission | undefined> {
    return this.#object.features.get(SUBMISSIONS).wait(submissionId, options);
  }

  /**
   * Deletes ended submissions, the oldest first. Returns their number. Their idempotency keys are free again, and their
   * messages stay in the transcript.
   */
  async deleteSubmissions(which: SubmissionDeletion = {}): Promise<number> {
    return this.#object.features.get(SUBMISSIONS).remove(which);
  }

  /** Returns a submission. Undefined if it does not exist. Ended submissions are kept for 30 days. */
  inspectSubmission(submissionId: string): Submission | undefined {
    return this.#object.features.get(SUBMISSIONS).inspect(submissionId);
  }

  /** Returns the submissions of this conversation, newest first. */
  listSubmissions(filter: SubmissionFilter = {}): Submission[] {
    return this.#object.features.get(SUBMISSIONS).list(filter);
  }

  /** Ends a submission that waits or runs, like `cancelChat`. Returns `false` if it has ended already. */
  async cancelSubmission(submissionId: string, reason?: string): Promise<boolean> {
    return this.#object.features.get(SUBMISSIONS).cancel(submissionId, reason);
  }

  /**
   * Returns what actions have attached to a reply, in order, as copies. Kept for 30 days.
   *
   * @param requestId the turn's id. @default the running turn, else the newest one
   */
  replyAttachments(requestId?: string): StoredAttachment[] {
    const { attachments, own } = this.#object.thread;
    return attachments.of(requestId ?? getTurn()?.id ?? own.newest() ?? "");
  }

  /** Questions of the bot's own code, whose answers go to `onAnswer`. */
  get questions(): Pick<BotQuestions, "ask"> {
    return this.#object.features.get(QUESTIONS).ofBot;
  }

  /** People's consent to actions. */
  get approvals(): BotApprovals {
    return new BotApprovals(this.#object.features.get(APPROVALS));
  }

  /** Think's name for `approvals.pending()`. */
  pendingApprovals(executionId?: string): PendingApproval[] {
    return this.#object.features.get(APPROVALS).executions.pending(executionId);
  }

  /** Think's name for `approvals.approve()`. */
  async approveExecution(executionId: string): Promise<ExecutionDecision> {
    return this.#object.features.get(APPROVALS).executions.decideExecution(executionId, { kind: "approve" });
  }

  /** Think's name for `approvals.reject()`. */
  async rejectExecution(
    executionId: string,
    reason?: string,
    { autoContinue }: { readonly autoContinue?: boolean } = {},
  ): Promise<ExecutionDecision> {
    return this.#object.features
      .get(APPROVALS)
      .executions.decideExecution(executionId, { kind: "reject", reason, autoContinue });
  }

  /**
   * Returns a file or photo that a person has sent as an answer, with the methods that fetch its bytes.
   *
   * @example const { bytes } = await this.sentFile(answer.value.photo).fetch();
   */
  sentFile(answer: SentFile): FetchableAttachment {
    return this.#object.thread.files.fetchable(answer.messengerId, answer);
  }

  /**
   * Sends content of the bot's own code, from this object's own outbox. Returns an id when the content is stored. It is
   * sent in the background, also after a crash. The id finds its receipt (`deliveries.get`), and a card for `revise` and
   * `remove`.
   *
   * @param content Markdown, or a card, files or a place
   * @param to required at the root outside of a turn. @default the chat of the running turn, else the chat in which
   * this conversation was last written to
   * @throws {SwitchboardError} `chat-unknown`, `chat-gone`, `window-closed`, `person-not-reachable`, `messenger-unknown`,
   * `target-invalid`, `target-missing`
   * @throws {InvalidInputError} `say-option-invalid`, `idempotency-key-invalid`, `content-invalid`, and for a card
   * `card-invalid`, `button-invalid`, `payload-not-json`, `payload-too-large`
   * @example await this.say("Your order is on its way.", { messenger: "telegram", userId: "4711" });
   */
  async say(content: Content, to?: ChatTarget, options: SayOptions = {}): Promise<string> {
    return this.#object.sends.say(content, to, options);
  }

  /**
   * Sets or (`undefined`) takes back the bot's reaction. Returns an id for `deliveries.get`. @throws as `say`,
   * `mark-invalid`
   */
  async react(messageId: string, emoji: string | undefined, to?: ChatTarget): Promise<string> {
    return this.#object.sends.mark({ kind: "reaction", messageId, emoji }, to);
  }

  /** Pins a message, without a notification. Otherwise as `react`; the code is `pins-unsupported`. */
  async pin(messageId: string, to?: ChatTarget): Promise<string> {
    return this.#object.sends.mark({ kind: "pin", messageId }, to);
  }

  /** Takes a pinned message down, by default the one that was pinned last. Otherwise as `pin`. */
  async unpin(messageId?: string, to?: ChatTarget): Promise<string> {
    return this.#object.sends.mark({ kind: "unpin", messageId }, to);
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
    return this.#object.directories.listChats(filter);
  }

  /** Messages to many chats, and the chats that have subscribed to them. */
  get broadcasts(): BotBroadcasts {
    const { channels, features, sends } = this.#object;
    return new BotBroadcasts({ feature: features.get(BROADCASTS), sends, channels });
  }

  /** `broadcasts.notify()`, under Think's name. */
  async deliverNotice(content: Content, options: NoticeOptions = {}): Promise<string> {
    return this.broadcasts.notify(content, options);
  }

  /** The receipts of this conversation's replies and notices. */
  get deliveries(): BotDeliveries {
    return new BotDeliveries(this.#object.thread.delivery);
  }

  /** The scheduled tasks of this object. */
  get schedules(): BotSchedules {
    return new BotSchedules(this.#object.features.get(SCHEDULES));
  }

  /** `schedules.reconcile()`, under Think's name. */
  async internal_reconcileScheduledTasks(): Promise<void> {
    await this.schedules.reconcile();
  }

  /**
   * Returns the tokens that people have used, by day, chat and person. Call it at the root. Turns are kept for
   * `keepUsageMs`. Turns of an answer that a crash has cut count from the restart.
   *
   * @example this.usage({ since: Date.now() - 86_400_000, by: ["person"] })
   */
  usage(filter: UsageFilter = {}): readonly TokenUsageEntry[] {
    return this.#object.directories.usage(filter);
  }

  /**
   * Offers this conversation's model the actions with this name in their `contexts`, until `deactivateContext`.
   *
   * @throws {ConfigurationError} `context-name`
   */
  activateContext(name: string): void {
    this.#object.actions.states.setContext(name, true);
  }

  /** @throws {ConfigurationError} `context-name` */
  deactivateContext(name: string): void {
    this.#object.actions.states.setContext(name, false);
  }

  /**
   * The extensions of this conversation.
   *
   * @throws {ConfigurationError} `feature-not-imported` in a bot without the static member `extensions`
   */
  get extensionManager(): ExtensionManager {
    return this.#object.features.imported<ExtensionsFeature>("extensions").manager;
  }

  /**
   * The memory of this conversation.
   *
   * @throws {ConfigurationError} `feature-not-imported` in a bot without `memory()` of `switchboard/memory`
   */
  get session(): Session {
    const { session } = this.#object.features;
    if (session !== undefined) return session;
    throw new ConfigurationError("feature-not-imported", MEMORY_MISSING);
  }

  /** Keeps a value of the bot's own code in this object, as JSON, until another one is given. Nobody else sees it. */
  configure<Config>(config: Config): void {
    this.#object.actions.states.write("config", { value: JSON.stringify(config), version: 1 }, "any");
  }

  /** Returns the value of `configure`. `null` if there is none. */
  getConfig<Config>(): Config | null {
    return JSON.parse(this.#object.actions.states.read("config")?.value ?? "null") as Config | null;
  }

  /** Returns the number of ignored updates, by `<messenger>:<kind>`. */
  ignoredUpdates(): Readonly<Record<string, number>> {
    return this.#object.directories.ignored();
  }

  /** @internal Carries the calls between objects of this bot; see `callsOver`. */
  async inner(method: string, args: readonly unknown[], figures?: FigureReport): Promise<unknown> {
    return this.#runtime.answer(method, args, figures);
  }
}
