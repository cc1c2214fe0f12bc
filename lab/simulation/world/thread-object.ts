import { createBotBudget } from "../../../delivery/index.ts";
import { quietRoot } from "../../support/quiet-root.ts";
import { declaredOf } from "../../../lab/support/messenger-events.ts";
import type { RootBudget } from "../../../delivery/index.ts";
import type { BotBudget, ChatGate } from "../../../src/core/gate.ts";
import type { Database } from "../../../src/core/database.ts";
import type { Delivery } from "../../../src/core/delivery.ts";
import type { Deps } from "../../../src/core/deps.ts";
import type { Log } from "../../../src/core/log.ts";
import type { IncomingEvent } from "../../../src/core/messenger.ts";
import type { NormalizedMessengerDefinition } from "../../../src/messengers/declare/define-messengers.ts";
import { fileContent } from "../../../src/messengers/turns/file-content.ts";
import type { PromptRequest } from "../../../src/messengers/turns/prompts.ts";
import { ScheduledTurns } from "../../../src/scheduled-runs/scheduled-turns.ts";
import { ThreadRuntime } from "../../../src/messengers/thread/thread-runtime.ts";
import { parseStoredFile } from "../../../src/messengers/turns/user-message.ts";
import type { TurnEngine } from "../../../src/turn/turn-engine.ts";
import type { Cards } from "../../../src/messengers/replies/cards.ts";
import { say } from "../../../src/messengers/replies/say.ts";
import type { NodeDatabase } from "../../support/node-database.ts";
import type { OperationStore } from "../oracle/contract.ts";
import type { Life } from "../machine/life.ts";
import type { BotCode } from "./bot-code.ts";
import type { ChatTarget, Resolution } from "../../../src/core/chat-target.ts";
import type { Content } from "../../../src/core/content.ts";
import type { Address } from "../../../src/core/surface.ts";
import { threadConversationName } from "../../../src/messengers/declare/conversation-name.ts";
import { startGate } from "./gate-object.ts";
import type { Oracle } from "../oracle/oracle.ts";
import { ModelEngine } from "./model-engine.ts";
import type { ModelEngineOptions } from "./model-engine.ts";
import type { Mutant, OnAction } from "../machine/mutant.ts";
import type { Place } from "../plan/plan.ts";
import { gateName, objectName, ROOT } from "../plan/route-places.ts";
import { returnStorage, takeStorage } from "../machine/storage.ts";

export interface ThreadObjectOptions {
  readonly name: string;
  /** The places in which it speaks: one, or several for a conversation that does not belong to one place. */
  readonly places: readonly Place[];
  /** The chat whose gate it is, if it is one. */
  readonly gateOfChat: string | undefined;
  readonly newLife: () => Life;
  readonly deps: (life: Life) => Deps;
  readonly log: Log;
  readonly root: (life: Life) => BotBudget;
  /** Returns the gate of a chat in another object, by the name of that object's conversation. */
  readonly gateOf: (conversation: string, life: Life) => ChatGate;
  /** Stores an event in another object, by the name that it has among them. */
  readonly handOver: (name: string, event: IncomingEvent, life: Life) => Promise<void>;
  readonly resolveTarget: (to: ChatTarget) => Resolution;
  readonly bot: BotCode;
  readonly oracle: Oracle;
  readonly definition: (life: Life) => NormalizedMessengerDefinition;
  readonly engine: Omit<ModelEngineOptions, "life" | "operations" | OfThread>;
  /** Called with the delivery before it is used. May wrap it. */
  readonly onDelivery: (delivery: Delivery, life: Life) => void;
  readonly mutant: Mutant | undefined;
  /** Calls `onAlarm` at that time, unless the machine is down then. */
  readonly scheduleAlarm: (at: number) => void;
}

/** The functions of the thread that the model's engine calls. */
type OfThread = "onSettled" | "beforeStep" | "beforeTool" | "beginCall" | "resolveFile";

interface Live {
  readonly life: Life;
  readonly database: Database;
  readonly runtime: ThreadRuntime;
  readonly engine: ModelEngine;
  readonly gate: () => ChatGate;
  budget: RootBudget | undefined;
  /** Time of the durable wake-up, as far as this process knows. */
  armedAt: number | undefined;
  arming: Promise<void>;
}

/** Wakes closer together than this are one. */
const SAME_WAKE_MS = 5;
const PUT_OFF_FROM_MS = 1000;
const PUT_OFF_WITHIN_MS = 600;

/**
 * One conversation's Durable Object, which may be the root as well: the thread's real runtime over storage that outlives it, with the alarm that the
 * agent's runtime keeps for it (one durable job, run at least once).
 */
export class ThreadObject {
  readonly database: NodeDatabase;
  readonly operations: OperationStore = new Map();
  readonly #options: ThreadObjectOptions;
  #alarmAt: number | undefined;
  /** Whether the alarm's work is running. It runs again if the process dies before its end. */
  #isRunning = false;
  #live: Live | undefined;

  constructor(options: ThreadObjectOptions) {
    this.#options = options;
    this.database = takeStorage(this.#storage);
  }

  /** Kind of the storage. A root has more tables than other conversations. */
  get #storage(): string {
    return this.#options.name === ROOT ? "self" : "thread";
  }

  get name(): string {
    return this.#options.name;
  }

  get alarmAt(): number | undefined {
    return this.#alarmAt;
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

  /** Whether a tool with an effect has begun in a turn, as far as is stored. */
  hasActed(turnId: string): boolean {
    return this.database.all("SELECT id FROM turn_v1 WHERE id = ? AND acted = 1", turnId).length > 0;
  }

  /** Returns the delivery of the living process. Starts a process if there is none. */
  delivery(): Delivery {
    return this.#ensure().runtime.delivery;
  }

  gate(): ChatGate {
    return this.#ensure().gate();
  }

  /** Returns the rate of the bot, if this object is the root. */
  root(): { readonly life: Life; readonly budget: RootBudget } {
    const live = this.#ensure();
    const { deps, mutant } = this.#options;
    const database = mutant?.rootDatabase?.(live.database) ?? live.database;
    live.budget ??= createBotBudget({ database, deps: deps(live.life) });
    return { life: live.life, budget: live.budget };
  }

  /** Stores events. Resolves when they are durable. Rejects, or never resolves, if the process dies before. */
  async receive(events: readonly IncomingEvent[]): Promise<void> {
    const live = this.#ensure();
    const isWorkLeft = await live.runtime.receive("sim", events);
    await live.arming;
    live.life.boundary("before stored");
    if (isWorkLeft) this.#later(live);
  }

  /** Submits a prompt of the bot's own code. Resolves when it is durable. */
  async submit(request: PromptRequest): Promise<void> {
    const live = this.#ensure();
    live.runtime.own.submit(request);
    await live.arming;
    live.life.boundary("before stored");
    this.#later(live);
  }

  /** Another object asks for a turn of a scheduled task, or about one. */
  async scheduled<Value>(body: (turns: ScheduledTurns) => Promise<Value>): Promise<Value> {
    const live = this.#ensure();
    const { engine, runtime } = live;
    return body(
      new ScheduledTurns({
        thread: runtime,
        engine,
        features: { runQuestions: undefined },
        database: live.database,
        deps: { clock: live.life.clock },
        stored: async () => {
          await live.arming;
          live.life.boundary("before stored");
          this.#later(live);
        },
      }),
    );
  }

  /** The bot's own code posts something. Resolves when it is durable. */
  async say(content: Content, address: Address, idempotencyKey: string): Promise<void> {
    const live = this.#ensure();
    const { chatId, messengerId, topicId } = address;
    const to = { messenger: messengerId, chatId, ...(topicId !== undefined && { topicId }) };
    await say(live.runtime.sayHost({ event: undefined, turn: undefined }), content, to, { idempotencyKey });
    await live.arming;
    this.#later(live);
  }

  /** The bot's own code changes a card. Resolves when that is durable. */
  async changeCards(change: (cards: Cards) => Promise<void>): Promise<void> {
    const live = this.#ensure();
    await change(live.runtime.cards);
    await live.arming;
    live.life.boundary("before stored");
    this.#later(live);
  }

  onAlarm(): void {
    const live = this.#ensure();
    void live.life.guard(async () => {
      this.#isRunning = true;
      live.armedAt = undefined;
      await live.runtime.drive();
      await live.arming;
      if (!this.#isRunning) return;
      live.life.write("alarm done", () => {
        this.#isRunning = false;
        this.#alarmAt = undefined;
      });
    });
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
    const { options, life } = { options: this.#options, life: this.#options.newLife() };
    const hooked = this.database.withHooks({
      beforeWrite: () => life.boundary("before write"),
      afterWrite: () => life.boundary("after write"),
    });
    const database = options.mutant?.threadDatabase?.(hooked) ?? hooked;
    const engine = new ModelEngine({
      ...options.engine,
      life,
      operations: this.operations,
      onSettled: () => live.runtime.poke(),
      beforeStep: async (id) => options.mutant?.beforeStep?.() ?? live.runtime.beforeStep(id),
      beforeTool: async (id) => options.mutant?.beforeTool?.() ?? live.runtime.beforeTool(id),
      beginCall: (id) => live.runtime.own.calls.begin(id, "0"),
      resolveFile: async (url, mediaType, name) => {
        const stored = parseStoredFile(url);
        if (stored === undefined) return undefined;
        try {
          return fileContent(
            await live.runtime.files.fetch(stored.messengerId, stored.reference),
            mediaType,
            name,
          );
        } catch (error) {
          if (options.mutant?.isFileVital === true) throw error;
          return { kind: "text", text: "[document] (it could not be loaded)" };
        }
      },
    });
    const { name, gateOfChat } = options;
    const memory = new Map<string, number>();
    let gate: ChatGate | undefined;
    const ownGate = (): ChatGate =>
      (gate ??= startGate({
        name,
        chatId: gateOfChat ?? "",
        life,
        database,
        deps: options.deps(life),
        root: options.root(life),
        local: runtime.delivery,
        oracle: options.oracle,
        mutant: options.mutant,
      }));
    const ownConversation =
      gateOfChat === undefined ? undefined : threadConversationName("sim", gateName(gateOfChat));
    const gateFor = (conversation: string): ChatGate => {
      const reached = conversation === ownConversation ? ownGate() : options.gateOf(conversation, life);
      const { clock } = options.deps(life);
      return options.mutant?.gateClient?.(reached, { clock, memory }) ?? reached;
    };
    const definitions = [options.definition(life)];
    const { clock } = life;
    const onAction: OnAction = (press) => options.bot.onAction(press, runtime.cards, clock);
    const runtime: ThreadRuntime = new ThreadRuntime({
      name: objectName(name),
      database,
      deps: options.deps(life),
      log: options.log,
      // The model engine implements the part of the contract that a thread uses.
      engine: engine as unknown as TurnEngine,
      root: quietRoot({
        gate: gateFor,
        resolveTarget: (to) => Promise.resolve(options.resolveTarget(to)),
        handOver: (to, _messengerId, event) =>
          options.mutant?.handOver?.() ?? options.handOver(to, event, life),
      }),
      messengers: declaredOf(() => definitions, options.deps(life), { log: options.log }),
      bot: {
        commands: () => options.bot.commands(),
        onAction: options.mutant?.onAction?.(onAction, clock) ?? onAction,
      },
      wake: {
        at: (at) => this.#wakeAt(live, at),
        putOff: (at) => this.#putOffWake(live, at),
      },
    });
    const live: Live = {
      life,
      database: hooked,
      runtime,
      engine,
      gate: ownGate,
      budget: undefined,
      armedAt: this.#alarmAt,
      arming: Promise.resolve(),
    };
    this.#live = live;
    options.mutant?.onThreadStart?.(this.database);
    options.mutant?.delivery?.(runtime.delivery, {
      gateOf: ({ chatId }) => gateFor(threadConversationName("sim", gateName(chatId))),
      clock: life.clock,
    });
    options.onDelivery(runtime.delivery, life);
    options.mutant?.saying?.(runtime.delivery);
    life.started();
    if (this.#alarmAt !== undefined) this.#later(live);
    return live;
  }

  #wakeAt(live: Live, at: number): void {
    if (live.armedAt !== undefined && live.armedAt <= at + SAME_WAKE_MS) return;
    this.#arm(live, at);
  }

  #putOffWake(live: Live, at: number | undefined): void {
    if (live.armedAt === undefined) return;
    const soon = this.#options.deps(live.life).clock.now() + PUT_OFF_WITHIN_MS;
    const isWorthIt = at === undefined || (live.armedAt <= soon && live.armedAt <= at - PUT_OFF_FROM_MS);
    if (isWorthIt) this.#arm(live, at);
  }

  #arm(live: Live, at: number | undefined): void {
    live.armedAt = at;
    const push = (): void => {
      if (at === undefined && this.#alarmAt === undefined) return;
      live.life.write("alarm", () => {
        this.#alarmAt = at;
        this.#isRunning = false;
      });
      if (at !== undefined) this.#options.scheduleAlarm(at);
    };
    live.arming = live.arming.then(push, push);
    live.arming.catch(() => {
      live.armedAt = undefined;
    });
  }

  #later(live: Live): void {
    void Promise.resolve().then(() => {
      if (!live.life.isDead) live.runtime.poke();
    });
  }
}
