import { LifecycleCapability } from "agents/lifecycle";
import type { CapabilityRequestContext, LifecycleJobContext } from "agents/lifecycle";
import type { ActionLedger } from "../../actions/ledger.ts";
import type { ChatGate } from "../../core/gate.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { ScheduledRun } from "../../core/scheduled-run.ts";
import type { IncomingEvent } from "../../core/messenger.ts";
import { createChatGate } from "../../../delivery/index.ts";
import type { ThinkHooks } from "../../turn/hooks.ts";
import type { TurnEngine } from "../../turn/turn-engine.ts";
import { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { HEARTBEAT_MS } from "../declare/wake.ts";
import { messengersReader } from "../declare/read-messengers.ts";
import { ConversationBot } from "./conversation-bot.ts";
import { AgentActions } from "./agent-actions.ts";
import { ExecutionCalls } from "./execution-calls.ts";
import { answerFirst } from "./answer-first.ts";
import { answeredCalls } from "./answered-calls.ts";
import type { AgentMethods } from "./agent-methods.ts";
import { BotObjects } from "./bot-objects.ts";
import { BotRoot } from "./bot-root.ts";
import { BroadcastPart } from "./broadcast-part.ts";
import { ChannelPolicies } from "./channel-policies.ts";
import { createConversationEngine } from "./conversation-engine.ts";
import { BotMetrics } from "./bot-metrics.ts";
import type { FigureReport } from "../../core/figures.ts";
import { DurableAlarm } from "./durable-alarm.ts";
import { answerInner, ledgerOver } from "./inner-calls.ts";
import type { InnerCalls, InnerDoor } from "./inner-calls.ts";
import type { Schedules } from "../../schedules/index.ts";
import { ScheduleDesk } from "./schedule-desk.ts";
import { nudgeKeeper, ScheduledTurns } from "./scheduled-turns.ts";
import { SendCalls } from "./send-calls.ts";
import { SubmissionCalls } from "./submission-calls.ts";
import { ThreadRuntime } from "./thread-runtime.ts";
import { allChats } from "../root/all-chats.ts";
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

/** The alarm of everything that an object does, but broadcasts. */
const DRIVE = { id: "switchboard-drive-v1", fn: "drive" };
const BROADCAST = { id: "switchboard-broadcast-v1", fn: "broadcast" };

/**
 * All that an agent object does, as a Lifecycle capability. It puts the parts of the object's three roles together, and
 * passes its starts, requests and alarms to them: `BotRoot` is there for the whole bot, `ThreadRuntime` runs the
 * conversation, and the gate grants calls to the chat.
 *
 * 1. A part with rows of its own is created when it is needed first, so an object has the tables of its roles only.
 * 2. Whatever changes stored work resolves when its wake-up is durable, too.
 */
export class AgentRuntime extends LifecycleCapability {
  readonly engine: TurnEngine;
  /** The other objects of the bot. */
  readonly objects: BotObjects;
  /** The parts for the whole bot, if this object is the root. */
  readonly root: BotRoot;
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
  #thread: ThreadRuntime | undefined;
  #gate: ChatGate | undefined;
  #actions: AgentActions | undefined;
  #schedules: ScheduleDesk | undefined;
  readonly #messengers: DeclaredMessengers;
  readonly #bot: ConversationBot;
  readonly #driveAlarm: DurableAlarm;
  readonly #broadcastAlarm: DurableAlarm;
  readonly #wakeUp: WakeUp;
  readonly #metrics: BotMetrics;
  /** The calls that this object answers, as a root and as a conversation. */
  readonly #calls: InnerCalls;

  constructor(options: AgentRuntimeOptions) {
    super("switchboard");
    this.#options = options;
    const { agent, deps, log, name, stub } = options;
    const ready = (): Promise<void> => this.lifecycle.ready();
    this.#calls = answeredCalls(this);
    this.objects = new BotObjects({ name, stub, own: this.#calls, ownGate: () => this.gate });
    this.#messengers = new DeclaredMessengers({
      deps,
      log,
      definitions: messengersReader(agent, log),
      root: { identity: (messengerId) => this.objects.root().identity(messengerId) },
    });
    this.#bot = new ConversationBot(options, this);
    this.#metrics = new BotMetrics({ name, now: () => deps.clock.now() });
    this.#driveAlarm = new DurableAlarm(DRIVE, () => this.lifecycle.jobs);
    this.#broadcastAlarm = new DurableAlarm(BROADCAST, () => this.lifecycle.jobs);
    this.#wakeUp = new WakeUp({ clock: deps.clock, log, arm: (at) => this.#driveAlarm.set(at) });
    this.channels = new ChannelPolicies({
      channels: () => agent.configureChannels?.() ?? {},
      messengerIds: () => this.#messengers.all().map(({ id }) => id),
    });
    this.root = new BotRoot({
      ...options,
      messengers: this.#messengers,
      objects: this.objects,
      metrics: this.#metrics,
      channels: this.channels,
      broadcasts: () => this.broadcasts.desk,
      commands: () => this.#bot.commands(),
      declaredTools: () => this.actions.declaredTools(),
    });
    this.submissions = new SubmissionCalls({
      channels: this.channels,
      clock: deps.clock,
      conversation: () => this.objects.conversation(),
      history: () => this.engine.messagesOf(this.thread.memory.session()),
      newId: () => deps.newId(),
      ready,
      own: () => this.thread.own,
      engine: () => this.engine,
      root: () => this.objects.link,
      stored: () => this.#stored(),
    });
    this.broadcasts = new BroadcastPart({
      ...options,
      root: () => this.root,
      objects: this.objects,
      thread: () => this.thread,
      messengers: this.#messengers,
      submissions: this.submissions,
      scheduledTurns: () => this.scheduledTurns,
      onRunEnded: (run) => this.#runChanged(run),
      stored: () => this.#wakeUp.stored(),
      alarm: this.#broadcastAlarm,
    });
    this.sends = new SendCalls({
      ready,
      thread: () => this.thread,
      stored: () => this.#wakeUp.stored(),
    });
    this.executions = new ExecutionCalls({
      desk: () => this.actions.desk,
      index: () => (this.objects.isRoot() ? this.root.approvals : undefined),
      callsTo: (conversation) => this.objects.callsTo(conversation),
      ready,
      stored: () => this.#wakeUp.stored(),
    });
    this.scheduledTurns = new ScheduledTurns({
      own: () => this.thread.own,
      delivery: () => this.thread.delivery,
      engine: () => this.engine,
      session: () => this.thread.memory.session(),
      approvalsOf: (turnId) => this.actions.desk.approvals.ofTurn(turnId),
      approvalOf: (id) => this.actions.desk.approvals.get(id),
      takeBack: (turnId) => this.actions.desk.approvals.dropRun(turnId),
      database: options.database,
      clock: deps.clock,
      stored: () => this.#stored(),
    });
    this.engine = createConversationEngine({
      ...options,
      thread: () => this.thread,
      actions: () => this.actions,
      channels: this.channels,
      recited: (turnId) => this.scheduledTurns.recited(turnId),
    });
  }

  /** The conversation of this object. */
  get thread(): ThreadRuntime {
    const { database, deps, log, name } = this.#options;
    this.#thread ??= new ThreadRuntime({
      name: name(),
      database,
      deps,
      log,
      engine: this.engine,
      root: this.objects.link,
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
      conversation: this.objects.conversation(),
      root: () => this.objects.root(),
      broadcasts: () => this.broadcasts.calls(),
      chats: () => allChats((filter) => this.root.runtime.listChats(filter)),
      turnsOf: (conversation) => this.objects.callsTo(conversation),
      post: (id, address, content) => this.thread.postCard(id, address, content),
      reportCard: (id) => this.scheduledTurns.reportCard(id),
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
      resolveTarget: (to) => this.objects.link.resolveTarget(to),
      textSoFar: (turnId) => this.engine.textSoFar(turnId),
      runs: this.scheduledTurns.runs,
      onRunChange: (run) => this.#runChanged(run),
      conversation: () => this.objects.conversation() ?? "",
      index: () => this.objects.root(),
      callsTo: (conversation) => this.objects.callsTo(conversation),
      wake: this.#wakeUp,
      later: (work) => this.#later(work),
    });
    return this.#actions;
  }

  #botLedger(): ActionLedger {
    return this.objects.isRoot() ? this.actions.ledger : ledgerOver(this.objects.root());
  }

  /** The gate of the chats whose gate is in this object: those whose thread without a topic it is. */
  get gate(): ChatGate {
    const { database, deps, name } = this.#options;
    this.#gate ??= this.#metrics.gate(
      createChatGate({
        database,
        deps,
        name: name(),
        root: this.objects.isRoot() ? this.root.budget : this.objects.root(),
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

  /** Runs after every start. A job of an earlier process may be due, and open turns are resumed without waiting. */
  override onStart(): void {
    const wakeAt = this.#driveAlarm.time();
    this.#wakeUp.known(wakeAt);
    if (wakeAt !== undefined) this.#later(() => this.thread.poke());
    if (this.objects.isRoot()) this.#later(() => this.broadcasts.desk.resume());
    this.#later(() => void this.schedules.start());
  }

  async onRequest({ request }: CapabilityRequestContext): Promise<Response | undefined> {
    return this.objects.isRoot() ? this.root.handle(request) : undefined;
  }

  async onJob({ job }: LifecycleJobContext): Promise<void> {
    if (this.#broadcastAlarm.isOf(job)) await this.broadcasts.desk.onAlarm((work) => this.#later(work));
    if (!this.#driveAlarm.isOf(job)) return;
    this.#wakeUp.known(undefined);
    await this.thread.drive();
    await this.#wakeUp.stored();
  }

  /** Stores events of this conversation, and works on them as soon as the webhook is answered. */
  async receive(messengerId: string, events: readonly IncomingEvent[]): Promise<void> {
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

  /** Resolves when the wake-up for what was stored is durable. The loop works on it right away. */
  async #stored(): Promise<void> {
    await this.#wakeUp.stored();
    this.#later(() => this.thread.poke());
  }

  #runChanged(run: ScheduledRun): void {
    const { log } = this.#options;
    this.#later(() => void nudgeKeeper((conversation) => this.objects.callsTo(conversation), run, log));
  }

  /** Runs after the current event, in the object's own time. */
  #later(body: () => void, before = Promise.resolve()): void {
    this.#options.waitUntil(before.then(() => this.lifecycle.ready()).then(body));
  }
}
