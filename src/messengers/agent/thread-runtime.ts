import { atOnce } from "../../core/at-once.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { Database } from "../../core/database.ts";
import type { Delivery } from "../../core/delivery.ts";
import type { Deps, Timer } from "../../core/deps.ts";
import { failureCode } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { IncomingEvent, PlatformContext } from "../../core/messenger.ts";
import type { Address, Surface } from "../../core/surface.ts";
import type { MessengerContext } from "../../core/messenger-context.ts";
import type { MessengerEvent, MessengerThread } from "../../core/messenger-event.ts";
import { inMessengerContext } from "../../core/turn-context.ts";
import { withinTime } from "../../core/within-time.ts";
import { createDelivery } from "../../../delivery/index.ts";
import type { Arrival } from "../../inbox/arrivals.ts";
import { eventFields } from "../../core/log-fields.ts";
import { createInboxStore } from "../../inbox/inbox-store.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { TurnEngine } from "../../turn/turn-engine.ts";
import { createTurnStore } from "../../turn/turn-store.ts";
import type { TurnStore } from "../../turn/turn-store.ts";
import { builtInCommands } from "../declare/commands.ts";
import type { ThinkCommands } from "../declare/commands.ts";
import { conversationNameOf, threadConversationName } from "../declare/conversation-name.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { Intake } from "../intake/intake.ts";
import { Cards } from "../replies/cards.ts";
import { MoveNews } from "../replies/move-news.ts";
import { Speech } from "../replies/speech.ts";
import { silenceInstruction } from "../replies/reply-filter.ts";
import type { RootLink } from "../root/root-link.ts";
import type { RouteResult } from "../root/root-runtime.ts";
import { createThreadMemory } from "../replies/thread-memory.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import { TurnRunner } from "../turns/turn-runner.ts";
import { EventFiles } from "../turns/event-files.ts";

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
  /** The bot's handler of presses. */
  readonly onAction: (press: CardPress) => PressAnswer | Promise<PressAnswer>;
  /** Stores an event in another object of the bot. Resolves when it is durable there. */
  readonly handOver: (name: string, messengerId: string, event: IncomingEvent) => Promise<void>;
  /** Code of the bot that hears reactions. @default none */
  readonly onReaction?: (reaction: MessengerContext) => void | Promise<void>;
  /** Whether the bot writes down what is said in audio files. @default never */
  readonly transcribes?: () => boolean;
  /** Hands an event to the conversation that the bot's resolver names. Only in the object of a thread. */
  readonly route?: (messengerId: string, event: IncomingEvent) => Promise<RouteResult>;
  /** How long receipts of deliveries are kept, in milliseconds. @default 30 days */
  readonly keepDeliveriesMs?: () => number;
  /** Asks for `drive` to be called at this time at the latest, even if the object dies meanwhile. */
  readonly wakeAt: (at: number) => void;
  /** Nothing has to be done before this time, or ever: a wake that was asked for may be put off, or dropped. */
  readonly putOffWake: (at: number | undefined) => void;
}

/** Known keys are kept this long, so that a late redelivery starts nothing (I2). */
const KEEP_KEYS_MS = 7 * 24 * 60 * 60 * 1000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
/** So soon a running turn goes on after a crash. */
const HEARTBEAT_MS = 2500;
/** A loop that fails rests for longer each time, up to this. */
const LONGEST_REST_MS = 60_000;
/** While the object lives, the wake is moved before it comes: one write, where a wake that comes takes several. */
const MOVE_WAKE_AFTER_MS = 2000;
/** A running turn waits at most this long for events to be read: reading may run code of the bot. */
const LONGEST_READING_MS = 5000;

/** One conversation: its inbox, its turns and its deliveries, driven by one loop. */
export class ThreadRuntime {
  readonly delivery: Delivery;
  readonly memory: ThreadMemory;
  readonly speech: Speech;
  readonly files: EventFiles;
  readonly #options: ThreadRuntimeOptions;
  readonly #inbox: InboxStore;
  readonly #turns: TurnStore;
  readonly #intake: Intake;
  readonly #runner: TurnRunner;
  readonly #moveNews: MoveNews;
  readonly #platforms = new Map<string, PlatformContext>();
  #definitions: ReadonlyMap<string, NormalizedMessengerDefinition> | undefined;
  #driving: Promise<void> | undefined;
  /** How often in a row the loop has failed, and when it is to be tried again. */
  #failures = 0;
  #retryAt: number | undefined;
  #isDirty = false;
  /** When the loop has to look at unreadable events, and at waiting messages, again. */
  #readAgainAt: number | undefined;
  #advanceAt: number | undefined;
  #heartbeat: Timer | undefined;
  #hasResumed = false;
  #takingUp: Promise<void> | undefined;
  /** No turn of an earlier life is waiting to be taken up. */
  #isFree = false;
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
      gateOf: (address) => root.gate(this.#gateName(address)),
      speaker: options.name,
      keepReceiptsMs: options.keepDeliveriesMs,
      surfaceFor: (messengerId) => this.#surface(messengerId),
      onWake: (at) => {
        if (at !== undefined) options.wakeAt(at);
        else if (this.#driving === undefined) this.#putOffWake();
      },
      onMoved: (messengerId, move) => {
        inbox.move(messengerId, move);
        turns.move(messengerId, move);
        memory.moveThread(move.from.threadId, move.to.threadId);
        memory.keepUntoldMove({ messengerId, move });
        log.info("chat.moved", {
          messenger: messengerId,
          chat: move.from.chatId,
          toChat: move.to.chatId,
        });
        // Not in the transaction that this is.
        void Promise.resolve().then(() => this.poke());
      },
      onGone: (place, code) => {
        const { chatId, messengerId, threadId } = place;
        log.warn("chat.gone", { messenger: messengerId, chat: chatId, thread: threadId, code });
        this.#runner.endings.abandon(place);
        this.poke();
      },
      onAccess: (...report) =>
        void root.reportAccess(...report).catch((error: unknown) => {
          // Told again with the next refused call.
          log.warn("access.not-reported", { code: failureCode(error) });
        }),
    });
    const cards = new Cards({ database, deps, delivery: this.delivery });
    this.speech = new Speech({
      deps,
      cards,
      definition: (messengerId) => this.#definition(messengerId),
      lastPlace: () => inbox.newestThread(),
      isKnown: (id) => this.delivery.receipt(id) !== undefined,
    });
    this.files = new EventFiles({
      definition: (messengerId) => this.#definition(messengerId),
      context: (messengerId) => this.#platform(messengerId),
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
      isDeclared: (messengerId) => this.#byId().has(messengerId),
      ...(options.transcribes !== undefined && { transcribes: options.transcribes }),
    });
    const commands = (): ThinkCommands => ({
      ...builtInCommands(commands),
      ...options.commands(),
    });
    this.#intake = new Intake({
      database,
      deps,
      log,
      inbox,
      memory,
      delivery: this.delivery,
      cards,
      speaker: options.name,
      gateOf: (address) => root.gate(this.#gateName(address)),
      isGate: (address) => conversationNameOf(options.name) === this.#gateName(address),
      isNumbered: ({ messengerId }) => this.#surface(messengerId).probing !== undefined,
      canNotify: ({ messengerId }) => this.#surface(messengerId).capabilities.notices !== false,
      handOver: options.handOver,
      onAction: options.onAction,
      definition: (messengerId) => this.#byId().get(messengerId),
      context: (messengerId) => this.#platform(messengerId),
      route: options.route,
      commands,
      host: {
        stopRunning: (by) => this.#runner.endings.stop(by),
        stop: (by) => this.#runner.endings.stopAll(by),
        openSession: () => memory.openSession(deps.newId()),
      },
      handlers: (messengerId) => {
        const { handleUpdate } = this.#definition(messengerId).platform;
        return {
          onReaction: options.onReaction,
          onUpdate: handleUpdate && ((event) => handleUpdate(event, this.#platform(messengerId))),
        };
      },
      takeQuestion: (asked) => root.takeQuestion(asked),
      mayRerun: (edit) => this.#runner.mayRerun(edit),
      rerun: (edit) => this.#runner.rerun(edit),
      keepEdit: (edit) => this.#runner.keepEdit(edit),
      stop: (press) => this.#runner.endings.stopDraft(press),
      poke: () => this.poke(),
      atCurrentPlace: (event) => ({ ...event, thread: this.#current(event.messengerId, event.thread) }),
      inContext: (event, body) => {
        const context = this.files.contextOf(event);
        return inMessengerContext(context, () => body(context));
      },
    });
    this.#moveNews = new MoveNews({ deps, log, memory, root, wakeAt: options.wakeAt });
    this.memory = memory;
  }

  /**
   * Stores events, and decides at once what becomes of them where that takes nobody else: that is one commit. When this
   * resolves, nothing is left to do for them (`false`), or a wake was asked for and `drive` is to be called (I1).
   */
  async receive(messengerId: string, events: readonly IncomingEvent[]): Promise<boolean> {
    const now = this.#options.deps.clock.now();
    const arrivals: (Arrival | undefined)[] = [];
    for (const arrived of events) {
      const event = this.#editOrNew(messengerId, this.#atCurrentPlace(messengerId, arrived), now);
      if (await this.#passOver(messengerId, event, now)) continue;
      arrivals.push(this.#store(messengerId, event, now));
    }
    if (arrivals.some((arrival) => arrival?.outcome === "open") && this.#mayReadAtOnce()) {
      const reading = this.#intake.run();
      reading.catch((error: unknown) => this.#logFailure(error));
      await atOnce(reading);
    }
    // One that is known already may have been stored by a process that died before it could ask for a wake.
    const isWorkLeft = arrivals.some((arrival) => arrival?.outcome !== "passed-over");
    if (isWorkLeft) this.#options.wakeAt(now + HEARTBEAT_MS);
    return isWorkLeft;
  }

  /**
   * An edit of a message that was never seen is a new message. The edit's own key is stored first: a redelivery of the
   * same message finds both keys, and is no edit of itself (I2).
   */
  #editOrNew(messengerId: string, { ifUnseen, ...event }: IncomingEvent, now: number): IncomingEvent {
    if (ifUnseen === undefined || this.#inbox.isKnown(messengerId, ifUnseen.key)) return event;
    this.#inbox.insertEnded(messengerId, event, now, "taken as a new message");
    return { ...event, ...ifUnseen };
  }

  /** An event that knows of a move of its chat is stored after the move, and as one of the chat that goes on. */
  #atCurrentPlace(messengerId: string, event: IncomingEvent): IncomingEvent {
    const { move } = event;
    if (move !== undefined) {
      this.delivery.move(messengerId, move);
      // The event has it from the root.
      this.memory.forgetUntoldMove({ messengerId, move });
    }
    return { ...event, thread: this.#current(messengerId, event.thread) };
  }

  #current(messengerId: string, thread: MessengerThread): MessengerThread {
    const place = this.delivery.movedTo(messengerId, thread.chatId);
    if (place === undefined) return thread;
    return { ...thread, id: place.threadId, chatId: place.chatId, formerChatId: thread.chatId };
  }

  hasEvent(messengerId: string, key: string): boolean {
    return this.#inbox.isKnown(messengerId, key);
  }

  /** Most messages of a group are not for the bot: where that is certain, the event is stored as done, in one write. */
  async #passOver(messengerId: string, event: IncomingEvent, now: number): Promise<boolean> {
    if (event.thread.isDirectMessage || !this.#mayReadAtOnce()) return false;
    const glance = await atOnce(this.#intake.glance(messengerId, event));
    if (glance === undefined) return false;
    if (!this.#inbox.insertEnded(messengerId, event, now, glance.outcome)) return false;
    this.#intake.passOver(glance.event, glance.outcome);
    return true;
  }

  #store(messengerId: string, event: IncomingEvent, now: number): Arrival | undefined {
    const row = this.#inbox.insert(messengerId, event, now);
    if (row !== undefined) return this.#intake.add(row);
    this.#options.log.info("inbox.event", {
      ...eventFields(messengerId, event),
      outcome: "known already",
    });
    return undefined;
  }

  /** A turn that a crash left has to be taken up before anything can be done to it. */
  #mayReadAtOnce(): boolean {
    this.#isFree ||= this.#hasResumed || !this.#runner.isBusy();
    return this.#isFree;
  }

  /** The event that a turn answers. */
  eventOf(turnId: string): MessengerEvent | undefined {
    return this.#turns.get(turnId)?.context;
  }

  /** The event that a turn answers as the bot's code sees it: with the files of all messages of the turn. */
  contextOf(turnId: string): MessengerContext | undefined {
    const turn = this.#turns.get(turnId);
    return turn && this.files.contextOf(turn.context, () => this.#runner.eventsOf(turn));
  }

  /** What is added to the bot's own system prompt for the turn of an event. */
  promptFor(event: MessengerEvent | undefined): string | undefined {
    const definition = event === undefined ? undefined : this.#byId().get(event.messengerId);
    return event === undefined || definition === undefined
      ? undefined
      : silenceInstruction(definition, event);
  }

  /** Before the model is called again. Stored events are read first: one of them may end the turn, or steer it. */
  async beforeStep(turnId: string): Promise<"go" | "yield"> {
    await this.#readInbox(turnId);
    return this.#runner.beforeStep(turnId);
  }

  /** Before a tool runs. Stored events are read first: a `/stop` among them keeps the tool from running. */
  async beforeTool(turnId: string, isReadOnly: boolean): Promise<"run" | "block"> {
    if (!isReadOnly) await this.#readInbox(turnId);
    return this.#runner.beforeTool(turnId, isReadOnly);
  }

  /** The model of a turn cannot answer now, for so long that the person should hear of it. */
  tellWaiting(turnId: string): void {
    this.#runner.tellWaiting(turnId);
  }

  /** The turn waits for its model no more. */
  endWaiting(turnId: string): void {
    this.#runner.endWaiting(turnId);
  }

  /** Starts the loop, or has it go round once more. */
  poke(): void {
    void this.drive();
  }

  /** Does everything that is due. Never rejects: what fails is tried again later, also when the object dies meanwhile. */
  drive(): Promise<void> {
    this.#isDirty = true;
    this.#driving ??= this.#loop();
    return this.#driving;
  }

  #logFailure(error: unknown): void {
    this.#options.log.error("thread.failed", { code: failureCode(error) });
  }

  /**
   * Waits until the stored events have been read, so that a running turn goes on in knowledge of them (I3). The process
   * may have died right after it stored one, and the turn engine may take up its operations before the loop runs.
   */
  async #readInbox(turnId: string): Promise<void> {
    if (this.#turns.get(turnId) === undefined) return;
    const reading = this.#takeUp().then(async () => {
      if (!this.#intake.hasOpen()) return;
      await this.#intake.run();
      // The loop acts on whatever was read.
      this.poke();
    });
    try {
      await withinTime(this.#options.deps.clock, LONGEST_READING_MS, reading, "reading the inbox");
    } catch {
      // It takes too long, or failed: the loop reads on, and logs the reason.
    }
  }

  /** Loads the stored text of running turns: an event that ends one of them needs it. */
  #takeUp(): Promise<void> {
    this.#takingUp ??= this.#runner.resume().catch((error: unknown) => {
      this.#takingUp = undefined;
      throw error;
    });
    return this.#takingUp;
  }

  async #loop(): Promise<void> {
    try {
      if (!this.#hasResumed) {
        await this.#takeUp();
        await this.#options.engine.resumeAll();
        this.#hasResumed = true;
      }
      while (this.#isDirty) {
        this.#isDirty = false;
        this.#readAgainAt = await this.#intake.run();
        this.#advanceAt = await this.#runner.advance();
      }
      this.#deliver();
      this.#moveNews.tell();
      this.#sweep();
      this.#failures = 0;
      this.#retryAt = undefined;
      this.#putOffWake();
    } catch (error) {
      this.#logFailure(error);
      const restMs = Math.min(HEARTBEAT_MS * 2 ** this.#failures, LONGEST_REST_MS);
      this.#failures += 1;
      this.#retryAt = this.#options.deps.clock.now() + restMs;
      this.#options.wakeAt(this.#retryAt);
    } finally {
      // At once, and not a moment later: whoever asks from now on is not heard by this loop.
      this.#driving = undefined;
    }
  }

  /** Sets the durable wake to the moment at which something has to be done, and to none when that is all. */
  #putOffWake(): void {
    const { deps, putOffWake, wakeAt } = this.#options;
    const now = deps.clock.now();
    const isBusy = this.#runner.isBusy();
    const needs = [
      this.#readAgainAt,
      this.#advanceAt,
      this.#retryAt,
      this.#moveNews.tellAgainAt,
      this.delivery.nextWakeAt(),
    ].filter((at) => at !== undefined);
    if (isBusy || (this.#intake.hasOpen() && this.#readAgainAt === undefined)) needs.push(now + HEARTBEAT_MS);
    const at = needs.length === 0 ? undefined : Math.min(...needs);
    if (at !== undefined) wakeAt(at);
    putOffWake(at);
    deps.clock.clearTimeout(this.#heartbeat);
    this.#heartbeat = isBusy ? deps.clock.setTimeout(() => this.poke(), MOVE_WAKE_AFTER_MS) : undefined;
  }

  /** Sends what is due, beside the loop: a slow platform never holds up the inbox. */
  #deliver(): void {
    this.delivery.run().catch((error: unknown) => {
      this.#options.log.error("delivery.failed", { code: failureCode(error) });
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

  /** The conversation whose object is the gate of a chat. */
  #gateName({ chatId, messengerId }: Pick<Address, "messengerId" | "chatId">): string {
    const threadId = this.#definition(messengerId).platform.chatThreadId(chatId);
    return threadConversationName(messengerId, threadId);
  }

  #surface(messengerId: string): Surface {
    return this.#definition(messengerId).platform.surface(this.#platform(messengerId));
  }

  #platform(messengerId: string): PlatformContext {
    const known = this.#platforms.get(messengerId);
    if (known !== undefined) return known;
    const { deps, log, root } = this.#options;
    const context = {
      messengerId,
      deps,
      log: log.with({ messenger: messengerId }),
      identity: () => root.identity(messengerId),
    };
    this.#platforms.set(messengerId, context);
    return context;
  }
}
