import type { LifecycleJob } from "agents/lifecycle";
import type { ModelMessage } from "ai";
import type { SampleRequest } from "../actions/declare/sample.ts";
import type { ActionStates } from "../actions/memory/action-states.ts";
import type { ActionLedger } from "../actions/ledger/ledger.ts";
import { BUDGET } from "../core/chat/gate.ts";
import type { ChatGate } from "../core/chat/gate.ts";
import type { Database } from "../core/store/database.ts";
import type { Deps } from "../core/base/deps.ts";
import type { FigureReport } from "../core/chat/figures.ts";
import type { InnerDoor } from "../core/chat/inner-calls.ts";
import type { Log } from "../core/base/log.ts";
import { createChatGate } from "../../delivery/index.ts";
import type { RootBudget } from "../../delivery/index.ts";
import { DurableAlarm } from "../feature/durable-alarm.ts";
import type { AlarmJobs, AlarmName } from "../feature/durable-alarm.ts";
import { FeatureList } from "../feature/feature-list.ts";
import { DeclaredMessengers } from "../messengers/declare/declared-messengers.ts";
import { withWords } from "../messengers/declare/commands.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import { HEARTBEAT_MS } from "../messengers/declare/wake.ts";
import { messengersReader } from "../messengers/declare/read-messengers.ts";
import { BotObjects } from "../messengers/root/bot-objects.ts";
import { PLATFORM, PlatformKeepers } from "../messengers/root/platform-keepers.ts";
import { ROOT } from "../messengers/root/root-link.ts";
import type { RootRuntime } from "../messengers/root/root-runtime.ts";
import { ThreadRuntime } from "../messengers/thread/thread-runtime.ts";
import { OwnSends } from "../messengers/thread/own-sends.ts";
import { WakeUp } from "../messengers/thread/wake-up.ts";
import { BotActions } from "../messengers/tools/bot-actions.ts";
import type { BotActionsHost, Sampler } from "../messengers/tools/bot-actions-host.ts";
import { ChannelPolicies } from "../messengers/turns/channel-policies.ts";
import type { AcceptedPrompt, PromptRequest } from "../messengers/turns/prompts.ts";
import { ScheduledTurns } from "../scheduled-runs/scheduled-turns.ts";
import type { ScheduledTurnsHost } from "../scheduled-runs/scheduled-turns.ts";
import type { TurnOperations } from "../turn/tools/turn-operations.ts";
import type { AgentMethods } from "./agent-methods.ts";
import { answerCall, answering } from "./answering.ts";
import type { AnsweringHost } from "./answering.ts";
import { BotMetrics } from "./bot-metrics.ts";
import { BotRoot } from "./bot-root.ts";
import { ConversationBot } from "./conversation-bot.ts";
import type { AnyFeature } from "./features.ts";
import type { ObjectHost } from "./object-host.ts";
import { ledgerOver, statesOver } from "./ledger-over.ts";
import { sampleModel } from "./sample-model.ts";

export interface BotObjectOptions {
  readonly agent: AgentMethods;
  /** Creates the engine of the object's turns. */
  readonly engine: (object: ObjectHost) => TurnOperations;
  readonly name: () => string;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly env: object;
  /** The class of the object. */
  readonly className: string;
  /** The class of the bot's root. */
  readonly rootClass: () => string;
  /** Stores that the object belongs to the bot of another class's root. */
  readonly belongTo: (rootClass: string) => void;
  readonly stub: (className: string, name: string) => InnerDoor;
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** The features of the bot, in their order. */
  readonly features: readonly AnyFeature[];
}

/** The platform's side of an object. */
export interface ObjectLife {
  /** Resolves when the object can be used. */
  ready(): Promise<void>;
  readonly jobs: AlarmJobs;
}

/** The alarm of everything that an object does, unless a feature has one of its own. */
const DRIVE = { id: "switchboard-drive-v1", fn: "drive" };

/**
 * One object of a bot with the parts of its three roles: `BotRoot` is there for the whole bot, `ThreadRuntime` runs the
 * conversation, and the gate grants calls to the chat. Features are a list beside them.
 *
 * 1. A part with rows of its own is created when it is used first, so an object has the tables of its roles only.
 * 2. A call that changes stored work resolves when its wake-up is durable, too.
 */
export class BotObject implements AnsweringHost, BotActionsHost, ScheduledTurnsHost {
  readonly agent: AgentMethods;
  readonly env: object;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly messengers: DeclaredMessengers;
  readonly objects: BotObjects;
  readonly channels: ChannelPolicies;
  readonly engine: TurnOperations;
  readonly metrics: BotMetrics;
  /** The parts for the whole bot, if this object is the root. */
  readonly root: BotRoot;
  /** Messages that the bot's own code sends. */
  readonly sends: OwnSends;
  readonly wakeUp: WakeUp;
  /** The alarm of the object's loop. */
  readonly drive: DurableAlarm;
  readonly #options: BotObjectOptions;
  readonly #life: ObjectLife;
  readonly #bot: ConversationBot;
  #thread: ThreadRuntime | undefined;
  #gate: ChatGate | undefined;
  #actions: BotActions | undefined;
  #runs: ScheduledTurns | undefined;
  #features: FeatureList | undefined;
  #platforms: PlatformKeepers | undefined;

  constructor(options: BotObjectOptions, life: ObjectLife) {
    this.#options = options;
    this.#life = life;
    const { agent, className, database, deps, env, log, name, rootClass, stub } = options;
    this.agent = agent;
    this.env = env;
    this.database = database;
    this.deps = deps;
    this.log = log;
    const own = (group: string): object => answering(this, group);
    this.objects = new BotObjects({ name, className, rootClass, stub, own, clock: deps.clock });
    const { objects } = this;
    this.messengers = new DeclaredMessengers({
      deps,
      log,
      read: messengersReader(agent, log, env),
      root: {
        identity: (messengerId) => objects.root(ROOT).identity(messengerId),
        platform: ({ root, shard }, ...call) =>
          objects.beside(PLATFORM, shard === undefined ? "" : `state:${shard}`, root).call(...call),
      },
    });
    this.metrics = new BotMetrics({ name, clock: deps.clock });
    this.drive = this.alarm(DRIVE);
    this.wakeUp = new WakeUp({ clock: deps.clock, log, alarm: this.drive });
    this.channels = new ChannelPolicies(agent, this.messengers);
    this.#bot = new ConversationBot(this);
    this.root = new BotRoot(this, options.waitUntil);
    this.sends = new OwnSends(this);
    this.engine = options.engine(this);
  }

  /** Runs after every start. A job of an earlier process may be due, and open turns are resumed without waiting. */
  start(): void {
    const wakeAt = this.drive.time();
    this.wakeUp.known(wakeAt);
    if (wakeAt !== undefined) this.later(() => this.thread.poke());
    this.features.start();
  }

  /** Does the work of a job that is due. */
  async onJob(job: LifecycleJob): Promise<void> {
    await this.features.onJob(job);
    if (!this.drive.isOf(job)) return;
    this.wakeUp.known(undefined);
    await this.thread.drive();
    await this.wakeUp.stored();
  }

  /** Answers a call of another object of this bot. */
  async answer(method: string, args: readonly unknown[], figures?: FigureReport): Promise<unknown> {
    if (figures !== undefined) this.metrics.absorb(figures);
    await this.ready();
    return answerCall(this, method, args);
  }

  name(): string {
    return this.#options.name();
  }

  belongTo(rootClass: string): void {
    this.#options.belongTo(rootClass);
  }

  get features(): FeatureList {
    this.#features ??= new FeatureList(
      this.#options.features.map((kind) => kind.create(this)),
      this,
    );
    return this.#features;
  }

  /** The conversation of this object. */
  get thread(): ThreadRuntime {
    this.#thread ??= new ThreadRuntime({
      name: this.objects.speaker(),
      database: this.database,
      deps: this.deps,
      log: this.log,
      engine: this.engine,
      root: this.objects.link,
      messengers: this.messengers,
      bot: this.#bot,
      wake: this.wakeUp,
      features: this.features,
      runs: this.runs,
    });
    return this.#thread;
  }

  get actions(): BotActions {
    this.#actions ??= new BotActions(this);
    return this.#actions;
  }

  get runs(): ScheduledTurns {
    this.#runs ??= new ScheduledTurns(this);
    return this.#runs;
  }

  /** What the platforms keep in this object for the whole bot. */
  get platforms(): PlatformKeepers {
    this.#platforms ??= new PlatformKeepers(this);
    return this.#platforms;
  }

  get directories(): RootRuntime {
    return this.root.runtime;
  }

  get budget(): RootBudget {
    return this.root.budget;
  }

  /** The gate of the chats whose gate is in this object: those whose thread without a topic it is. */
  get gate(): ChatGate {
    const { database, deps, objects } = this;
    this.#gate ??= this.metrics.gate(
      createChatGate({
        database,
        deps,
        name: this.name(),
        root: objects.root(BUDGET),
        local: this.thread.delivery,
      }),
    );
    return this.#gate;
  }

  /** The ledger of the whole bot, which the root has. */
  botLedger(): ActionLedger {
    return this.objects.isRoot() ? this.actions.ledger : ledgerOver(this.objects);
  }

  /** What actions keep for people and for the whole bot, which the root has. */
  botStates(): ActionStates {
    return this.objects.isRoot() ? this.actions.states : statesOver(this.objects);
  }

  /** The conversation's messages, as the model would read them now. */
  messages(): Promise<readonly ModelMessage[]> {
    return this.engine.messagesOf(this.thread.memory.session());
  }

  sample(sampler: Sampler, asked: SampleRequest, signal: AbortSignal): Promise<unknown> {
    return sampleModel(this, sampler, asked, signal);
  }

  /** The commands of the bot and of the product. */
  commands(): ThinkCommands {
    return withWords(this.features.commands(), this.agent.getCommands());
  }

  alarm(name: AlarmName): DurableAlarm {
    return new DurableAlarm(name, this.#life);
  }

  ready(): Promise<void> {
    return this.#life.ready();
  }

  durable(): Promise<void> {
    return this.wakeUp.stored();
  }

  async stored(): Promise<void> {
    await this.durable();
    this.later(() => this.thread.poke());
  }

  wakeSoon(): void {
    this.wakeUp.at(this.deps.clock.now() + HEARTBEAT_MS);
    this.later(() => this.thread.poke());
  }

  later(work: () => void, before = Promise.resolve()): void {
    this.#options.waitUntil(before.then(() => this.ready()).then(work));
  }

  async submit(request: PromptRequest): Promise<AcceptedPrompt> {
    await this.ready();
    const accepted = this.thread.own.submit(request);
    await this.stored();
    return accepted;
  }
}

const objects = new WeakMap<object, BotObject>();

/** Keeps the object of an agent, for the classes that its class extends. */
export function keepObject(agent: object, object: BotObject): void {
  objects.set(agent, object);
}

export function objectOf(agent: object): BotObject {
  const found = objects.get(agent);
  if (found === undefined) throw new Error("The agent is used before it is put together");
  return found;
}
