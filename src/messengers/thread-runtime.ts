import type { Database } from "../core/database.ts";
import type { Delivery } from "../core/delivery.ts";
import type { Deps } from "../core/deps.ts";
import type { Log } from "../core/log.ts";
import type { FetchedFile, IncomingEvent, PlatformContext } from "../core/messenger.ts";
import type { MessengerEvent } from "../core/messenger-event.ts";
import { inMessengerContext } from "../core/turn-context.ts";
import { createDelivery } from "../../delivery/index.ts";
import { eventFields } from "../inbox/event-fields.ts";
import { createInboxStore } from "../inbox/inbox-store.ts";
import type { InboxStore } from "../inbox/inbox-store.ts";
import type { TurnEngine } from "../turn/turn-engine.ts";
import { createTurnStore } from "../turn/turn-store.ts";
import type { TurnStore } from "../turn/turn-store.ts";
import { builtInCommands } from "./commands.ts";
import type { ThinkCommands } from "./commands.ts";
import type { NormalizedMessengerDefinition } from "./define-messengers.ts";
import { Intake } from "./intake.ts";
import { silenceInstruction } from "./reply-filter.ts";
import type { RootLink } from "./root-link.ts";
import type { RouteResult } from "./root-runtime.ts";
import { createThreadMemory } from "./thread-memory.ts";
import type { ThreadMemory } from "./thread-memory.ts";
import { TurnRunner } from "./turn-runner.ts";
import type { StoredFile } from "./user-message.ts";

export interface ThreadRuntimeOptions {
  /** Of the object. */
  readonly name: string;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly engine: TurnEngine;
  readonly root: RootLink;
  readonly definitions: () => readonly NormalizedMessengerDefinition[];
  readonly commands: () => ThinkCommands;
  /** Hands an event to the conversation that the bot's resolver names. Only in the object of a thread. */
  readonly route?: (messengerId: string, event: IncomingEvent) => Promise<RouteResult>;
  /** How long receipts of deliveries are kept, in milliseconds. @default 30 days */
  readonly keepDeliveriesMs?: () => number;
  /** Asks for `drive` to be called at this time even if the object dies meanwhile. */
  readonly wakeAt: (at: number) => void;
}

/** Known keys are kept this long, so that a late redelivery starts nothing (I2). */
const KEEP_KEYS_MS = 7 * 24 * 60 * 60 * 1000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
/** A running turn is looked after this often: so soon it goes on after a crash. */
const HEARTBEAT_MS = 2500;
const FILE_TIMEOUT_MS = 20_000;

/** One conversation: its inbox, its turns and its deliveries, driven by one loop. */
export class ThreadRuntime {
  readonly delivery: Delivery;
  readonly memory: ThreadMemory;
  readonly #options: ThreadRuntimeOptions;
  readonly #inbox: InboxStore;
  readonly #turns: TurnStore;
  readonly #intake: Intake;
  readonly #runner: TurnRunner;
  readonly #platforms = new Map<string, PlatformContext>();
  #definitions: ReadonlyMap<string, NormalizedMessengerDefinition> | undefined;
  #driving: Promise<void> | undefined;
  #isDirty = false;
  #hasResumed = false;
  #sweptAt = 0;

  constructor(options: ThreadRuntimeOptions) {
    this.#options = options;
    const { database, deps, engine, log, root } = options;
    const inbox = createInboxStore(database);
    const turns = createTurnStore(database);
    const memory = createThreadMemory(database);
    this.#inbox = inbox;
    this.#turns = turns;
    this.delivery = createDelivery({
      database,
      deps,
      log,
      budget: root.budget,
      speaker: options.name,
      keepReceiptsMs: options.keepDeliveriesMs,
      surfaceFor: (messengerId) =>
        this.#definition(messengerId).platform.surface(this.#platform(messengerId)),
      onWake: (at) => {
        if (at !== undefined) options.wakeAt(at);
      },
      onGone: (chatId, code) => {
        log.warn("chat.gone", { chatId, code });
        this.#runner.abandon(chatId);
        this.poke();
      },
    });
    this.#runner = new TurnRunner({
      database,
      deps,
      log,
      inbox,
      turns,
      memory,
      delivery: this.delivery,
      engine,
      definition: (messengerId) => this.#definition(messengerId),
    });
    const commands = (): ThinkCommands => ({
      ...builtInCommands(
        { stop: (by) => this.#runner.stop(by), openSession: () => memory.openSession(deps.newId()) },
        commands,
      ),
      ...options.commands(),
    });
    this.#intake = new Intake({
      database,
      deps,
      log,
      inbox,
      memory,
      delivery: this.delivery,
      definition: (messengerId) => this.#byId().get(messengerId),
      context: (messengerId) => this.#platform(messengerId),
      route: options.route,
      commands,
      rerun: (edit) => this.#runner.rerun(edit),
      stop: (press) => this.#runner.stopDraft(press),
      poke: () => this.poke(),
      inContext: inMessengerContext,
    });
    this.memory = memory;
  }

  /** Stores events; when this returns they are durable and will be looked at whatever happens (I1). */
  receive(messengerId: string, events: readonly IncomingEvent[]): void {
    const now = this.#options.deps.clock.now();
    for (const event of events) {
      if (this.#inbox.insert(messengerId, event, now) === "known") {
        this.#options.log.info("inbox.event", {
          ...eventFields(messengerId, event),
          outcome: "known already",
        });
      }
    }
    this.#options.wakeAt(now + HEARTBEAT_MS);
  }

  /** The event that a turn answers. */
  contextOf(turnId: string): MessengerEvent | undefined {
    return this.#turns.get(turnId)?.context;
  }

  /** What is added to the bot's own system prompt for the turn of an event. */
  promptFor(event: MessengerEvent | undefined): string | undefined {
    const definition = event === undefined ? undefined : this.#byId().get(event.messengerId);
    return event === undefined || definition === undefined
      ? undefined
      : silenceInstruction(definition, event);
  }

  beforeStep(turnId: string): "go" | "yield" {
    return this.#runner.beforeStep(turnId);
  }

  beforeTool(turnId: string, isRepeatable: boolean): Promise<"run" | "block"> {
    return this.#runner.beforeTool(turnId, isRepeatable);
  }

  /** Starts the loop, or has it go round once more. Never throws. */
  poke(): void {
    this.drive().catch((error: unknown) => {
      this.#options.log.error("thread.failed", { code: error instanceof Error ? error.name : "unknown" });
      this.#options.wakeAt(this.#options.deps.clock.now() + HEARTBEAT_MS);
    });
  }

  /** Does everything that is due. */
  drive(): Promise<void> {
    this.#isDirty = true;
    this.#driving ??= this.#loop().finally(() => {
      this.#driving = undefined;
    });
    return this.#driving;
  }

  /** The bytes of a file that somebody sent. */
  async fetchFile(file: StoredFile, signal?: AbortSignal): Promise<FetchedFile> {
    const definition = this.#definition(file.messengerId);
    const timeout = AbortSignal.timeout(FILE_TIMEOUT_MS);
    return definition.platform.fetchAttachment(file.reference, this.#platform(file.messengerId), {
      maxBytes: definition.maxMediaBytes,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  }

  async #loop(): Promise<void> {
    const { deps, engine, wakeAt } = this.#options;
    if (!this.#hasResumed) {
      await this.#resume();
      await engine.resumeAll();
      this.#hasResumed = true;
    }
    while (this.#isDirty) {
      this.#isDirty = false;
      const readAgainAt = await this.#intake.run();
      if (readAgainAt !== undefined) wakeAt(readAgainAt);
      const again = await this.#runner.advance();
      if (again !== undefined) wakeAt(again);
    }
    this.#deliver();
    // Delivery tells of changes only, and a wake that was set for an earlier moment has swallowed a later one.
    const deliverAt = this.delivery.nextWakeAt();
    if (deliverAt !== undefined) wakeAt(deliverAt);
    if (this.#runner.isBusy()) wakeAt(deps.clock.now() + HEARTBEAT_MS);
    this.#sweep();
  }

  /** After a start: what is stored of running turns is known before the first new token of theirs arrives. */
  async #resume(): Promise<void> {
    for (const turn of this.#turns.unfinished()) {
      await this.#options.engine.follow(turn.id, turn.session, this.#runner.replies.sinkOf(turn));
    }
  }

  /** Sends what is due, beside the loop: a slow platform never holds up the inbox. */
  #deliver(): void {
    this.delivery.run().catch((error: unknown) => {
      this.#options.log.error("delivery.failed", { code: error instanceof Error ? error.name : "unknown" });
      this.#options.wakeAt(this.#options.deps.clock.now() + HEARTBEAT_MS);
    });
  }

  #sweep(): void {
    const now = this.#options.deps.clock.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    this.#inbox.sweep(now - KEEP_KEYS_MS);
  }

  #byId(): ReadonlyMap<string, NormalizedMessengerDefinition> {
    this.#definitions ??= new Map(
      this.#options.definitions().map((definition) => [definition.id, definition]),
    );
    return this.#definitions;
  }

  #definition(messengerId: string): NormalizedMessengerDefinition {
    const definition = this.#byId().get(messengerId);
    if (definition !== undefined) return definition;
    throw new Error(`The messenger "${messengerId}" is not declared`);
  }

  #platform(messengerId: string): PlatformContext {
    const known = this.#platforms.get(messengerId);
    if (known !== undefined) return known;
    const { deps, log, root } = this.#options;
    const context = { messengerId, deps, log, identity: () => root.identity(messengerId) };
    this.#platforms.set(messengerId, context);
    return context;
  }
}
