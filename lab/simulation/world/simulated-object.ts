import type { LifecycleJob } from "agents/lifecycle";
import type { AgentMethods } from "../../../src/agent/agent-methods.ts";
import { BotObject } from "../../../src/agent/bot-object.ts";
import type { BotObjectOptions, ObjectLife } from "../../../src/agent/bot-object.ts";
import type { AnyFeature } from "../../../src/agent/features.ts";
import { QUESTIONS } from "../../../src/agent/features.ts";
import type { HandOver, HandOverResult } from "../../../src/core/turn/broadcast.ts";
import type { ChatTarget, Resolution } from "../../../src/core/chat/chat-target.ts";
import type { BotQuestion } from "../../../src/core/chat/question.ts";
import type { Content } from "../../../src/core/message/content.ts";
import type { Database, SqlValue } from "../../../src/core/store/database.ts";
import type { Delivery } from "../../../src/core/chat/delivery.ts";
import type { Deps } from "../../../src/core/base/deps.ts";
import type { ChatGate } from "../../../src/core/chat/gate.ts";
import type { InnerDoor } from "../../../src/core/chat/inner-calls.ts";
import type { Log } from "../../../src/core/base/log.ts";
import type { IncomingEvent } from "../../../src/core/chat/messenger.ts";
import { guardVersions } from "../../../src/agent/store-versions.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import type { AlarmJob } from "../../../src/feature/durable-alarm.ts";
import { threadConversationName } from "../../../src/messengers/declare/conversation-name.ts";
import type { Cards } from "../../../src/messengers/replies/cards.ts";
import type { PromptRequest } from "../../../src/messengers/turns/prompts.ts";
import type { NodeDatabase } from "../../support/node-database.ts";
import type { Life } from "../machine/life.ts";
import type { Mutant } from "../machine/mutant.ts";
import { returnStorage, takeStorage } from "../machine/storage.ts";
import type {
  CountedTurn,
  EndedChildTurn,
  OperationStore,
  StoredAgentRun,
  StoredCodeRun,
} from "../oracle/contract.ts";
import { EFFECTS } from "../oracle/extension-watch.ts";
import type { Oracle } from "../oracle/oracle.ts";
import type { Place } from "../plan/plan.ts";
import { gateName, objectName, ROOT } from "../plan/route-places.ts";
import { ChildEngine } from "./child-engine.ts";
import type { ChildOperations } from "./child-engine.ts";
import type { ChildWatch } from "../oracle/child-watch.ts";
import type { CodeBot } from "./code-bot.ts";
import { filesOf } from "./extension-bot.ts";
import { ModelEngine } from "./model-engine.ts";
import type { ModelEngineOptions } from "./model-engine.ts";
import { watchGate } from "./watch-gate.ts";
import { watchCode } from "./watch-code.ts";
import { watchQuestions } from "./watch-questions.ts";
import { watchOutcomes } from "./watch-outcomes.ts";

export interface SimulatedObjectOptions {
  readonly name: string;
  /** The places in which it speaks: one, or several for a conversation that does not belong to one place. */
  readonly places: readonly Place[];
  /** The chat whose gate it is, if it is one. */
  readonly gateOfChat: string | undefined;
  readonly newLife: () => Life;
  readonly deps: (life: Life) => Deps;
  readonly log: Log;
  /** The bot's own class, in a process. */
  readonly agent: (life: Life, cards: () => Cards, object: () => BotObject) => AgentMethods;
  /** Set for the object of an agent that works for others: its class and whole name. */
  readonly agentObject?:
    | { readonly className: string; readonly name: string; readonly watch: ChildWatch }
    | undefined;
  /** The bot's features. */
  readonly features: readonly AnyFeature[];
  /** Returns another object, by the name that it has among them. */
  readonly stub: (name: string, caller: Life, className: string) => InnerDoor;
  readonly resolveTarget: (to: ChatTarget) => Resolution;
  readonly oracle: Oracle;
  readonly engine: Omit<ModelEngineOptions, "life" | "operations" | "object" | "mutant">;
  /** Called with the delivery before it is used. May wrap it. */
  readonly onDelivery: (delivery: Delivery, life: Life) => void;
  readonly mutant: Mutant | undefined;
  /** Calls `onAlarm` at the time of the next job, unless the machine is down then. */
  readonly scheduleAlarm: () => void;
}

/** A job of the object's Lifecycle. */
interface Job extends AlarmJob {
  /** Whether its work is running. It runs again if the process dies before its end. */
  isRunning: boolean;
}

interface Live {
  readonly life: Life;
  readonly object: BotObject;
}

/** The class of all objects. */
const CLASS = "SimulatedBot";

/**
 * One Durable Object of the bot, in any of its roles: the real composition with all its features, over storage and jobs
 * that outlive the process. The model is played.
 */
export class SimulatedObject {
  readonly database: NodeDatabase;
  readonly operations: OperationStore = new Map();
  /** Turns of an agent that works for others. */
  readonly tasks: ChildOperations = new Map();
  readonly #options: SimulatedObjectOptions;
  readonly #jobs = new Map<string, Job>();
  #live: Live | undefined;
  #starts = 0;

  constructor(options: SimulatedObjectOptions) {
    this.#options = options;
    this.database = takeStorage(this.#storage);
  }

  /** Kind of the storage. A root has more tables than other objects. */
  get #storage(): string {
    return this.#options.name === ROOT ? "root" : "conversation";
  }

  get name(): string {
    return this.#options.name;
  }

  /** Time of the next job. */
  get alarmAt(): number | undefined {
    const times = [...this.#jobs.values()].map(({ time }) => time);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  get places(): readonly Place[] {
    return this.#options.places;
  }

  /** The chat whose gate it is, if it is one. */
  get gateOfChat(): string | undefined {
    return this.#options.gateOfChat;
  }

  /** Whether the model is working. */
  get isBusy(): boolean {
    return [...this.operations.values()].some(({ status }) => status === "running");
  }

  get life(): Life | undefined {
    return this.#live?.life.isDead === false ? this.#live.life : undefined;
  }

  /** Returns the stored state of an event, by its key. */
  inboxState(key: string): string | undefined {
    const tables = this.database.all("SELECT name FROM sqlite_master WHERE name = 'inbox_v1'");
    if (tables.length === 0) return undefined;
    const query = "SELECT state FROM inbox_v1 WHERE key = ?";
    return this.database.all<{ state: string }>(query, `sim|${key}`)[0]?.state;
  }

  /** Returns what has become of an event, by its key. Undefined while it is not over. */
  outcomeOf(key: string): string | undefined {
    if (this.database.all("SELECT name FROM sqlite_master WHERE name = 'inbox_v1'").length === 0)
      return undefined;
    const query = "SELECT outcome FROM inbox_v1 WHERE key = ?";
    return this.database.all<{ outcome: string | null }>(query, `sim|${key}`)[0]?.outcome ?? undefined;
  }

  /** Returns everything that is stored, by table. */
  tables(): ReadonlyMap<string, string> {
    const names = this.database.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
    return new Map(
      names.map(({ name }) => [
        `${name} of ${this.name}`,
        JSON.stringify(this.database.all(`SELECT * FROM "${name}"`), (_key, value: unknown) =>
          typeof value === "bigint" || ArrayBuffer.isView(value) ? "bytes" : value,
        ),
      ]),
    );
  }

  /** Whether a question is open, by its words. */
  hasOpen(question: string): boolean {
    const tables = this.database.all("SELECT name FROM sqlite_master WHERE name = 'question_v1'");
    if (tables.length === 0) return false;
    const query = 'SELECT 1 FROM question_v1 WHERE message = ? AND "end" IS NULL';
    return this.database.all(query, question).length > 0;
  }

  /** Whether a tool with an effect has begun in a turn, as far as is stored. */
  hasActed(turnId: string): boolean {
    return this.database.all("SELECT id FROM turn_v1 WHERE id = ? AND acted = 1", turnId).length > 0;
  }

  /** The runs of code, as they are stored. */
  codeRuns(): readonly StoredCodeRun[] {
    const made = this.database.all("SELECT name FROM sqlite_master WHERE name = 'code_run_v1'");
    if (made.length === 0) return [];
    return this.database.all<StoredCodeRun & Record<string, SqlValue>>(
      "SELECT id, code, state, is_resumed AS isResumed, result, ended_at AS endedAt FROM code_run_v1",
    );
  }

  /** The runs of other agents that it has begun, as they are stored. */
  agentRuns(): readonly StoredAgentRun[] {
    const made = this.database.all("SELECT name FROM sqlite_master WHERE name = 'agent_run_v1'");
    if (made.length === 0) return [];
    return this.database.all<StoredAgentRun & Record<string, SqlValue>>(
      'SELECT id, request_id AS requestId, state, "end", is_told AS isTold FROM agent_run_v1',
    );
  }

  childTurns(): readonly EndedChildTurn[] {
    return [...this.tasks.values()].map(({ id, status, task }) => {
      return { id, task, isDone: status === "done", isUncut: this.#starts === 1 };
    });
  }

  /** The tokens of turns, if it is the root. */
  countedTurns(): readonly CountedTurn[] {
    const made = this.database.all("SELECT name FROM sqlite_master WHERE name = 'token_usage_v1'");
    if (made.length === 0) return [];
    return this.database.all<CountedTurn & Record<string, SqlValue>>(
      "SELECT turn_id AS turnId, user_id AS userId, input_tokens + output_tokens AS tokens FROM token_usage_v1",
    );
  }

  /** The bot's own code undoes a run of code. */
  async rollBack(executionId: string): Promise<void> {
    const { life, object } = this.#ensure();
    const { code } = object.agent as AgentMethods & { readonly code?: CodeBot };
    await life.untilDeath(code?.runtime().rollback({ executionId }) ?? Promise.resolve([]));
  }

  /** Shows the oracle the effects of extensions, as they are stored. */
  async showEffects(): Promise<void> {
    const { life, object } = this.#ensure();
    const files = filesOf(object);
    if (files.stat(EFFECTS) === undefined) return;
    this.#options.oracle.extensions.shows(new TextDecoder().decode(await files.readFile(EFFECTS)), life);
  }

  /** Returns the object in the living process. Starts a process if there is none. */
  object(): BotObject {
    return this.#ensure().object;
  }

  /** Returns the delivery of the living process. Starts a process if there is none. */
  delivery(): Delivery {
    return this.object().thread.delivery;
  }

  /** Answers a call of another object, or of the worker. Rejects if the process dies before. */
  async answer(method: string, args: readonly unknown[]): Promise<unknown> {
    const { life, object } = this.#ensure();
    return life.untilDeath(object.answer(method, args));
  }

  /** Stores events. Resolves when they are durable. Rejects if the process dies before. */
  async receive(events: readonly IncomingEvent[]): Promise<void> {
    const { life } = this.#ensure();
    await this.answer("thread.receiveEvents", ["sim", events]);
    life.boundary("before stored");
  }

  /** Submits a prompt of the bot's own code. Resolves when it is durable. */
  async submit(request: PromptRequest): Promise<void> {
    const { life, object } = this.#ensure();
    await object.submit(request);
    life.boundary("before stored");
  }

  /** The bot's own code asks something. Returns the id of the question when it is durable. */
  async ask(to: ChatTarget, question: BotQuestion): Promise<string> {
    const { life, object } = this.#ensure();
    const id = await object.features.get(QUESTIONS).ofBot.ask(to, question);
    life.boundary("before stored");
    return id;
  }

  /** Takes the delivery of a scheduled task for one of its chats. */
  take(request: HandOver): Promise<HandOverResult> {
    return this.answer("broadcasts.takeBroadcast", [request]) as Promise<HandOverResult>;
  }

  /** The bot's own code posts something. Resolves when it is durable. */
  async say(content: Content, address: Address, idempotencyKey: string): Promise<void> {
    const { chatId, messengerId, topicId } = address;
    const to = { messenger: messengerId, chatId, ...(topicId !== undefined && { topicId }) };
    await this.object().sends.say(content, to, { idempotencyKey });
  }

  /** The bot's own code changes a card. Resolves when that is durable. */
  async changeCards(change: (cards: Cards) => Promise<void>): Promise<void> {
    const { life, object } = this.#ensure();
    await object.sends.changeCards(change);
    life.boundary("before stored");
  }

  /** Runs the jobs that are due. */
  onAlarm(): void {
    const live = this.#ensure();
    const now = live.life.clock.now();
    for (const job of this.#jobs.values())
      if (job.time <= now) void live.life.guard(() => this.#run(live, job));
  }

  async #run({ life, object }: Live, job: Job): Promise<void> {
    job.isRunning = true;
    await object.onJob({ id: job.id, fn: job.fn, time: job.time } as LifecycleJob);
    // The job may have been set again, or the process may have died and another one runs it.
    if (life.isDead || this.#jobs.get(job.id) !== job || !job.isRunning) return;
    life.write("alarm done", () => this.#jobs.delete(job.id));
    this.#options.scheduleAlarm();
  }

  kill(): void {
    this.#live?.life.kill();
    this.#live = undefined;
  }

  close(): void {
    this.kill();
    returnStorage(this.#storage, this.database);
  }

  #ensure(): Live {
    if (this.#live !== undefined && !this.#live.life.isDead) return this.#live;
    const {
      agent,
      agentObject,
      deps,
      engine,
      gateOfChat,
      log,
      mutant,
      name,
      newLife,
      onDelivery,
      oracle,
      stub,
    } = this.#options;
    const life = newLife();
    this.#starts += 1;
    const database = this.#databaseOf(life);
    const options: BotObjectOptions = {
      agent: agent(
        life,
        () => object.thread.cards,
        () => object,
      ),
      engine: (parts) =>
        agentObject !== undefined
          ? new ChildEngine({ life, watch: agentObject.watch, operations: this.tasks, object: parts })
          : // The played engine has the operations of a turn engine, and no harness.
            new ModelEngine({ ...engine, life, mutant, operations: this.operations, object: parts }),
      name: () => agentObject?.name ?? objectName(name),
      database,
      deps: deps(life),
      log,
      env: {},
      className: agentObject?.className ?? CLASS,
      rootClass: () => CLASS,
      belongTo: () => undefined,
      stub: (className, to) => stub(to, life, className),
      // A process that has died does nothing any more.
      waitUntil: (work) => void life.guard(async () => void (await work)),
      features: this.#options.features,
    };
    const watch = (gate: ChatGate): ChatGate =>
      watchGate(mutant?.gate?.(gate) ?? gate, { life, oracle, chatId: gateOfChat ?? "" });
    const object = new WatchedObject(options, this.#lifeOf(life), watch);
    this.#live = { life, object };
    this.#breakLinks(object, life);
    // A process makes its tables before it can die.
    const { delivery } = object.thread;
    if (name === ROOT) void [object.root.runtime, object.budget];
    if (gateOfChat !== undefined) void object.gate;
    mutant?.onThreadStart?.(this.database);
    mutant?.delivery?.(delivery, {
      gateOf: ({ chatId }) => object.objects.link.gate(threadConversationName("sim", gateName(chatId))),
      clock: life.clock,
    });
    onDelivery(delivery, life);
    mutant?.saying?.(delivery);
    mutant?.object?.(object);
    watchOutcomes(object, life, oracle.inbox);
    life.started();
    object.start();
    return this.#live;
  }

  #databaseOf(life: Life): Database {
    const { mutant } = this.#options;
    const hooked = this.database.withHooks({
      beforeWrite: () => life.boundary("before write"),
      afterWrite: () => life.boundary("after write"),
    });
    const watched = watchCode(watchQuestions(hooked, life), life);
    const changes = [mutant?.threadDatabase, mutant?.gateDatabase, mutant?.rootDatabase];
    return guardVersions(
      changes.reduce<Database>((changed, change) => change?.(changed) ?? changed, watched),
    );
  }

  /** Puts the defects of a mutant into the object's calls to others. */
  #breakLinks({ objects }: BotObject, life: Life): void {
    const { gateClient, handOver } = this.#options.mutant ?? {};
    const { link } = objects;
    Object.assign(link, { resolveTarget: async (to: ChatTarget) => this.#options.resolveTarget(to) });
    if (handOver !== undefined) Object.assign(link, { handOver });
    if (gateClient === undefined) return;
    const memory = new Map<string, number>();
    const gate = link.gate.bind(link);
    Object.assign(link, {
      gate: (conversation: string) => gateClient(gate(conversation), { clock: life.clock, memory }),
    });
  }

  #lifeOf(life: Life): ObjectLife {
    return {
      ready: () => (life.isDead ? new Promise(() => {}) : Promise.resolve()),
      jobs: {
        get: (id) => this.#jobs.get(id),
        push: async (job) => {
          life.write("alarm", () => this.#jobs.set(job.id, { ...job, isRunning: false }));
          this.#options.scheduleAlarm();
        },
        cancel: async (id) => {
          if (this.#jobs.has(id)) life.write("alarm", () => this.#jobs.delete(id));
        },
      },
    };
  }
}

/** An object whose gate is watched. */
class WatchedObject extends BotObject {
  readonly #watch: (gate: ChatGate) => ChatGate;
  #watched: ChatGate | undefined;

  constructor(options: BotObjectOptions, life: ObjectLife, watch: (gate: ChatGate) => ChatGate) {
    super(options, life);
    this.#watch = watch;
  }

  override get gate(): ChatGate {
    return (this.#watched ??= this.#watch(super.gate));
  }
}
