import { LifecycleCapability } from "agents/lifecycle";
import type { CapabilityRequestContext, LifecycleJobContext } from "agents/lifecycle";
import type { ActionLedger } from "../../actions/ledger.ts";
import type { Broadcast } from "../../broadcasts/broadcast.ts";
import type { NewBroadcast } from "../../broadcasts/broadcasts.ts";
import type { ChatGate } from "../../core/gate.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { IncomingEvent } from "../../core/messenger.ts";
import { createBotBudget, createChatGate } from "../../../delivery/index.ts";
import type { RootBudget } from "../../../delivery/index.ts";
import type { ThinkHooks } from "../../turn/hooks.ts";
import type { TurnEngine } from "../../turn/turn-engine.ts";
import { menuOf } from "../declare/commands.ts";
import { conversationNameOf } from "../declare/conversation-name.ts";
import { answerSafely } from "../root/answer-safely.ts";
import { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { messengersReader } from "../declare/read-messengers.ts";
import { ApprovalIndex } from "../root/approval-index.ts";
import { RootRuntime } from "../root/root-runtime.ts";
import { ConversationBot } from "./conversation-bot.ts";
import { AgentActions } from "./agent-actions.ts";
import { ExecutionCalls } from "./execution-calls.ts";
import { HookDesk } from "./hook-desk.ts";
import { answerFirst } from "./answer-first.ts";
import { answeredCalls } from "./answered-calls.ts";
import type { AgentMethods } from "./agent-methods.ts";
import { BroadcastPart } from "./broadcast-part.ts";
import { ChannelPolicies } from "./channel-policies.ts";
import { createConversationEngine } from "./conversation-engine.ts";
import { BotMetrics } from "./bot-metrics.ts";
import type { FigureReport } from "../../core/figures.ts";
import { BotHealth } from "../root/bot-health.ts";
import { answerInner, callsOver, ledgerOver } from "./inner-calls.ts";
import type { InnerCalls, InnerDoor } from "./inner-calls.ts";
import { rootLinkOf } from "./root-link-of.ts";
import type { RootLink } from "../root/root-link.ts";
import { checkTasks, createPersonZoneStore } from "../../schedules/index.ts";
import type { PersonZoneStore, Schedules } from "../../schedules/index.ts";
import { ScheduleDesk } from "./schedule-desk.ts";
import { nudgeKeeper, ScheduledTurns } from "./scheduled-turns.ts";
import { SendCalls } from "./send-calls.ts";
import { SubmissionCalls } from "./submission-calls.ts";
import { ThreadRuntime } from "./thread-runtime.ts";
import { allChats } from "../root/all-chats.ts";
import { checkModels, describeModel } from "./turn-model.ts";
import { WakeUp } from "./wake-up.ts";

export interface AgentRuntimeOptions {
  readonly agent: AgentMethods;
  /** The hooks that the bot's own class has. */
  readonly hooks: () => Partial<ThinkHooks>;
  readonly name: () => string;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly env: object;
  readonly stub: (name: string) => InnerDoor;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

const DRIVE = "drive";
/** Stored work begins this soon, also after a crash. */
const HEARTBEAT_MS = 2500;
const DRIVE_JOB = "switchboard-drive-v1";
const BROADCAST = "broadcast";
const BROADCAST_JOB = "switchboard-broadcast-v1";

/**
 * All that an agent object does, as a Lifecycle capability. It connects the object's three roles and its one alarm:
 * `RootRuntime` takes webhooks, `ThreadRuntime` runs the conversation, and the gate grants calls to the chat.
 */
export class AgentRuntime extends LifecycleCapability {
  readonly engine: TurnEngine;
  readonly health: BotHealth;
  /** Turns that the bot's own code begins. */
  readonly submissions: SubmissionCalls;
  /** How turns behave on their channels. */
  readonly channels: ChannelPolicies;
  /** Messages that the bot's own code sends. */
  readonly sends: SendCalls;
  /** Approvals, as the bot's own code lists and decides them. */
  readonly executions: ExecutionCalls;
  /** Turns of scheduled tasks, of this object or another one. */
  readonly scheduledTurns: ScheduledTurns;
  /** Broadcasts and subscribers of the whole bot. */
  readonly broadcasts: BroadcastPart;
  readonly #options: AgentRuntimeOptions;
  #root: RootRuntime | undefined;
  #thread: ThreadRuntime | undefined;
  #budget: RootBudget | undefined;
  #gate: ChatGate | undefined;
  #actions: AgentActions | undefined;
  #index: ApprovalIndex | undefined;
  #schedules: ScheduleDesk | undefined;
  #zones: PersonZoneStore | undefined;
  readonly #messengers: DeclaredMessengers;
  readonly #bot: ConversationBot;
  readonly #wakeUp: WakeUp;
  readonly #metrics: BotMetrics;
  /** The calls that this object answers, as a root and as a conversation. */
  readonly #calls: InnerCalls = answeredCalls({
    gate: () => this.gate,
    budget: () => this.budget,
    root: () => this.root,
    thread: () => this.thread,
    ledger: () => this.actions.ledger,
    submissions: () => this.submissions,
    approvals: () => this.approvalIndex,
    actions: () => this.actions,
    broadcasts: () => this.broadcasts.desk,
    decideExecution: (...decided) => this.executions.decide(...decided),
    takeBroadcast: (request) => this.broadcasts.take(request),
    scheduledTurns: () => this.scheduledTurns,
    schedules: () => this.schedules.schedules,
    zones: () => (this.#zones ??= createPersonZoneStore(this.#options.database)),
    now: () => this.#options.deps.clock.now(),
    healthProblem: () => this.health.problem(),
    healthWarnings: async () => this.root.warnings(this.#metrics.notes()),
    describeBot: async () => ({
      model: describeModel(this.#options.agent),
      messengers: this.root.messengers(),
    }),
    metrics: async () => {
      const isReady = (await this.health.problem()) === undefined;
      return this.#metrics.render({ ...this.root.counts(), isReady });
    },
    receive: (...asked) => this.#receive(...asked),
  });

  constructor(options: AgentRuntimeOptions) {
    super("switchboard");
    this.#options = options;
    const { agent, deps, log } = options;
    this.#messengers = new DeclaredMessengers({
      deps,
      log,
      definitions: messengersReader(agent, log),
      root: { identity: (messengerId) => this.#rootCalls().identity(messengerId) },
    });
    this.#bot = new ConversationBot(options, this);
    this.#metrics = new BotMetrics({ name: () => options.name(), now: () => deps.clock.now() });
    this.#wakeUp = new WakeUp({
      clock: deps.clock,
      log,
      arm: async (at) => {
        const { jobs } = this.lifecycle;
        if (at === undefined) await jobs.cancel(DRIVE_JOB);
        else await jobs.push({ id: DRIVE_JOB, fn: DRIVE, time: at, singleflight: true });
      },
    });
    this.channels = new ChannelPolicies({
      channels: () => agent.configureChannels?.() ?? {},
      messengerIds: () => this.#messengers.all().map(({ id }) => id),
    });
    this.submissions = new SubmissionCalls({
      channels: this.channels,
      clock: deps.clock,
      conversation: () => conversationNameOf(this.#options.name()),
      history: () => this.engine.messagesOf(this.thread.memory.session()),
      newId: () => deps.newId(),
      ready: () => this.lifecycle.ready(),
      own: () => this.thread.own,
      engine: () => this.engine,
      root: () => this.#link(),
      stored: () => this.#stored(),
    });
    this.broadcasts = new BroadcastPart({
      ...options,
      root: () => this.root,
      budget: () => this.budget,
      thread: () => this.thread,
      messengers: this.#messengers,
      submissions: this.submissions,
      scheduledTurns: () => this.scheduledTurns,
      isRoot: () => this.#isRoot(),
      rootCalls: () => this.#rootCalls(),
      callsTo: (conversation) => this.#callsIn(conversation),
      stored: () => this.#wakeUp.stored(),
      arm: async (at) => {
        const { jobs } = this.lifecycle;
        if (at === undefined) await jobs.cancel(BROADCAST_JOB);
        else await jobs.push({ id: BROADCAST_JOB, fn: BROADCAST, time: at, singleflight: true });
      },
    });
    this.sends = new SendCalls({
      ready: () => this.lifecycle.ready(),
      thread: () => this.thread,
      stored: () => this.#wakeUp.stored(),
    });
    this.executions = new ExecutionCalls({
      desk: () => this.actions.desk,
      index: () => (this.#isRoot() ? this.approvalIndex : undefined),
      callsTo: (conversation) => this.#callsIn(conversation),
      ready: () => this.lifecycle.ready(),
      stored: () => this.#wakeUp.stored(),
    });
    this.scheduledTurns = new ScheduledTurns({
      own: () => this.thread.own,
      delivery: () => this.thread.delivery,
      engine: () => this.engine,
      session: () => this.thread.memory.session(),
      approvalsOf: (turnId) => this.actions.desk.approvals.ofTurn(turnId),
      approvalOf: (id) => this.actions.desk.approvals.get(id),
      database: options.database,
      clock: deps.clock,
      stored: () => this.#stored(),
    });
    this.health = new BotHealth({
      log,
      messengers: this.#messengers,
      getModel: () => agent.getModel(),
      checkModel: () => checkModels(agent, options.env),
      getTools: () => this.actions.declaredTools(),
      checkChannels: () => this.channels.check(),
      checkSchedules: () => checkTasks(agent.getScheduledTasks(), agent.getDefaultTimezone()),
      root: () => this.root,
    });
    this.engine = createConversationEngine({
      ...options,
      thread: () => this.thread,
      actions: () => this.actions,
      channels: this.channels,
      recited: (turnId) => this.scheduledTurns.recited(turnId),
    });
  }

  get root(): RootRuntime {
    this.#root ??= new RootRuntime({
      database: this.#options.database,
      deps: this.#options.deps,
      log: this.#options.log,
      messengers: this.#messengers,
      commands: () => menuOf(this.#bot.commands()),
      onMoved: (...moved) => this.broadcasts.desk.moved(...moved),
      later: (work) => this.#options.waitUntil(work()),
      observe: (...seen) => this.budget.noteIncoming(...seen),
      deliver: (conversation, messengerId, events) =>
        conversation === ""
          ? this.#receive(messengerId, events)
          : this.#callsTo(this.objectNameOf(conversation)).receiveEvents(messengerId, events),
      hasEvent: (conversation, messengerId, key) =>
        this.#callsTo(this.objectNameOf(conversation)).hasEvent(messengerId, key),
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
      messengers: this.#messengers,
      bot: this.#bot,
      wake: this.#wakeUp,
      approvals: this.actions.work,
      questions: this.actions.desk,
      schedules: () => this.schedules.schedules,
      runOf: (turnId) => this.scheduledTurns.runOf(turnId),
    });
    return this.#thread;
  }

  /** The scheduled tasks of this object. */
  get schedules(): ScheduleDesk {
    const { agent, database, deps, log, name } = this.#options;
    this.#schedules ??= new ScheduleDesk({
      agent,
      database,
      deps,
      log,
      name: name(),
      conversation: conversationNameOf(name()),
      root: () => this.#rootCalls(),
      broadcasts: () => this.broadcasts.calls(),
      chats: () => allChats((filter) => this.root.listChats(filter)),
      turnsOf: (conversation) => this.#callsIn(conversation),
      post: (id, address, content) => this.thread.postCard(id, address, content),
      reportCard: (id) => this.scheduledTurns.reportCard(id),
      cancelTurn: (id) => void this.thread.own.cancel(id),
      revise: (id, content) => void this.thread.cards.revise(id, content),
      isAnswered: (id) => this.thread.cards.store.read(id)?.buttons.length === 0,
      onChange: () => {
        this.#wakeUp.at(deps.clock.now() + HEARTBEAT_MS);
        this.#later(() => this.thread.poke());
      },
    });
    return this.#schedules;
  }

  /** The bot's actions in this conversation, and at the root the ledger of the whole bot. */
  get actions(): AgentActions {
    this.#actions ??= new AgentActions({
      ...this.#options,
      thread: () => this.thread,
      messengers: this.#messengers,
      switchedOn: () => this.schedules.actions(),
      botLedger: () => this.#botLedger(),
      messages: () => this.engine.messagesOf(this.thread.memory.session()),
      onlyMessenger: () => {
        const [only, ...others] = this.#messengers.all();
        return others.length === 0 ? only?.id : undefined;
      },
      resolveTarget: (to) => this.#link().resolveTarget(to),
      textSoFar: (turnId) => this.engine.textSoFar(turnId),
      runs: this.scheduledTurns.runs,
      onRunChange: (run) =>
        this.#later(() => void nudgeKeeper(this.#callsIn(run.schedule.keeper), run, this.#options.log)),
      conversation: () => conversationNameOf(this.#options.name()) ?? "",
      index: () => this.#rootCalls(),
      callsTo: (conversation) => this.#callsIn(conversation),
      wake: this.#wakeUp,
      later: (work) => this.#later(work),
    });
    return this.#actions;
  }

  /** Requests that wait for people in all conversations, if this object is the root. */
  get approvalIndex(): ApprovalIndex {
    this.#index ??= new ApprovalIndex({
      database: this.#options.database,
      clock: this.#options.deps.clock,
      callsTo: (conversation) => this.#callsIn(conversation),
      keepMs: () => this.#options.agent.keepApprovalsMs,
      titleOf: (...chat) => this.root.titleOf(...chat),
      titleOfConversation: (name) => this.root.titleOfConversation(name),
    });
    return this.#index;
  }

  #botLedger(): ActionLedger {
    return this.#isRoot() ? this.actions.ledger : ledgerOver(this.#callsTo(this.#rootName()));
  }

  /** The rate of this bot over all its chats, if this object is the root. */
  get budget(): RootBudget {
    this.#budget ??= createBotBudget({ database: this.#options.database, deps: this.#options.deps });
    return this.#budget;
  }

  /** The gate of the chats whose gate is in this object: those whose thread without a topic it is. */
  get gate(): ChatGate {
    this.#gate ??= this.#metrics.gate(
      createChatGate({
        database: this.#options.database,
        deps: this.#options.deps,
        name: this.#options.name(),
        root: this.#isRoot() ? this.budget : this.#callsTo(this.#rootName()),
        local: {
          isInDoubt: (...asked) => this.thread.delivery.isInDoubt(...asked),
          isUnresolved: (chat) => this.thread.delivery.isUnresolved(chat),
          sentIds: (...asked) => this.thread.delivery.sentIds(...asked),
          lastUsedAt: () => this.thread.delivery.lastUsedAt(),
        },
      }),
    );
    return this.#gate;
  }

  /** Answers a call of another object of this bot. */
  async answer(method: string, args: readonly unknown[], figures?: FigureReport): Promise<unknown> {
    if (figures !== undefined) this.#metrics.absorb(figures);
    await this.lifecycle.ready();
    return answerInner(this.#calls, method, args);
  }

  /** Returns the name of a conversation's object: that of the root itself for `""`. */
  objectNameOf(conversation: string): string {
    return conversation === "" ? this.#rootName() : `${this.#rootName()}/${conversation}`;
  }

  /** Runs after every start. A job of an earlier process may be due, and open turns are resumed without waiting. */
  override onStart(): void {
    const job = this.lifecycle.jobs.get(DRIVE_JOB);
    this.#wakeUp.known(job?.time);
    if (job !== undefined) this.#later(() => this.thread.poke());
    if (this.#isRoot()) this.#later(() => this.broadcasts.desk.resume());
    this.#later(() => void this.schedules.start());
  }

  async onRequest({ request }: CapabilityRequestContext): Promise<Response | undefined> {
    if (!this.#isRoot()) return undefined;
    const { log } = this.#options;
    const start = (asked: NewBroadcast): Promise<Broadcast> => this.broadcasts.desk.startBroadcast(asked);
    return answerSafely(log, "webhook", async () => {
      const answer = await this.#metrics.webhook(() => this.root.handle(request));
      return answer ?? new HookDesk({ ...this.#options, start }).handle(request);
    });
  }

  async onJob({ job }: LifecycleJobContext): Promise<void> {
    if (job.fn === BROADCAST) await this.broadcasts.desk.onAlarm((work) => this.#later(work));
    if (job.fn !== DRIVE) return;
    this.#wakeUp.known(undefined);
    await this.thread.drive();
    await this.#wakeUp.stored();
  }

  async #receive(messengerId: string, events: readonly IncomingEvent[]): Promise<void> {
    const isWorkLeft = await this.thread.receive(messengerId, events);
    if (!isWorkLeft) return;
    await this.#wakeUp.stored();
    this.#later(() => this.thread.poke(), answerFirst(this.#options.deps.clock));
  }

  /** Changes scheduled tasks of this object. Resolves when that is durable. */
  async changeSchedules<T>(body: (schedules: Schedules, desk: ScheduleDesk) => T): Promise<T> {
    await this.lifecycle.ready();
    await this.schedules.ready();
    const result = body(this.schedules.schedules, this.schedules);
    await this.#wakeUp.stored();
    return result;
  }

  async reconcileSchedules(): Promise<void> {
    await this.lifecycle.ready();
    await this.schedules.reconcile();
    await this.#wakeUp.stored();
  }

  async #stored(): Promise<void> {
    await this.#wakeUp.stored();
    this.#later(() => this.thread.poke());
  }

  #isRoot(): boolean {
    return !this.#options.name().includes("/");
  }

  #rootName(): string {
    return this.#options.name().split("/", 1)[0] ?? "";
  }

  #callsTo(name: string): InnerCalls {
    return callsOver(() => this.#options.stub(name));
  }

  /** Returns the calls to a conversation, which may be in this object. */
  #callsIn(conversation: string): InnerCalls {
    const to = this.objectNameOf(conversation);
    return to === this.#options.name() ? this.#calls : this.#callsTo(to);
  }

  #rootCalls(): InnerCalls {
    return this.#isRoot() ? this.#calls : this.#callsTo(this.#rootName());
  }

  #link(): RootLink {
    const gate = (conversation: string): ChatGate => {
      const name = this.objectNameOf(conversation);
      return name === this.#options.name() ? this.gate : this.#callsTo(name);
    };
    return rootLinkOf(
      () => this.#rootCalls(),
      gate,
      (name) => this.#callsTo(name),
    );
  }

  /** Runs after the current event, in the object's own time. */
  #later(body: () => void, before = Promise.resolve()): void {
    this.#options.waitUntil(before.then(() => this.lifecycle.ready()).then(body));
  }
}
