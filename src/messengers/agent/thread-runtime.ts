import { atOnce } from "../../core/at-once.ts";
import type { ChatTarget } from "../../core/chat-target.ts";
import type { CardContent } from "../../core/content.ts";
import type { Delivery } from "../../core/delivery.ts";
import type { Timer } from "../../core/deps.ts";
import { failureCode } from "../../core/errors.ts";
import type { IncomingEvent } from "../../core/messenger.ts";
import type { MessengerContext } from "../../core/messenger-context.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import type { Address } from "../../core/surface.ts";
import { withinTime } from "../../core/within-time.ts";
import { createDelivery } from "../../../delivery/index.ts";
import type { Arrival } from "../../inbox/arrivals.ts";
import { eventFields } from "../../core/log-fields.ts";
import { createInboxStore } from "../../inbox/inbox-store.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { EngineTurns } from "../../turn/turn-engine-options.ts";
import { createTurnStore } from "../../turn/turn-store.ts";
import type { TurnStore } from "../../turn/turn-store.ts";
import { conversationNameOf } from "../declare/conversation-name.ts";
import { replyPolicy } from "../declare/texts.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { ChatGates } from "../root/chat-gates.ts";
import { ChatNews } from "./chat-news.ts";
import type { ThreadRuntimeOptions } from "./thread-runtime-options.ts";
import { Intake } from "../intake/intake.ts";
import type { Loop } from "../intake/loop.ts";
import { Cards } from "../replies/cards.ts";
import { currentThread } from "../replies/current-place.ts";
import { RootNews } from "../replies/root-news.ts";
import { silenceInstruction } from "../replies/reply-filter.ts";
import type { SayHost, Served } from "../replies/say.ts";
import { createThreadMemory } from "../replies/thread-memory.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import { OwnTurns } from "./own-turns.ts";
import { TurnAttachments } from "../turns/turn-attachments.ts";
import { TurnRunner } from "../turns/turn-runner.ts";
import { EventFiles } from "../turns/event-files.ts";
import { usageNews } from "./usage-news.ts";

/** Known keys are kept this long, so that a late redelivery starts nothing (I2). */
const KEEP_KEYS_MS = 7 * 24 * 60 * 60 * 1000;
/** Ended prompts are kept this long, so that bot code can ask for their outcome. */
const KEEP_PROMPTS_MS = 30 * 24 * 60 * 60 * 1000;
/** Receipts are kept this long, unless the bot says otherwise. */
const KEEP_DELIVERIES_MS = 30 * 24 * 60 * 60 * 1000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
/** A running turn continues this soon after a crash. */
const HEARTBEAT_MS = 2500;
/** Longest rest after a failure of the loop. Each rest is longer than the one before. */
const LONGEST_REST_MS = 60_000;
/** While the object lives, its wake-up is moved before it fires. A move is one write, a wake-up several. */
const MOVE_WAKE_AFTER_MS = 2000;
/** A running turn waits at most this long for events to be read, because reading may run the bot's own code. */
const LONGEST_READING_MS = 5000;

/**
 * One conversation: connects its inbox, its turns and its deliveries, and drives them with one loop. It stores incoming
 * events, and calls `Intake` to decide about them, `TurnRunner` to answer messages, and the delivery to send replies.
 * It makes no such decision itself.
 *
 * 1. `receive` resolves only after its events are stored, and a wake-up is set if work is left (I1).
 * 2. The loop can stop at any point and start again, because its work follows from stored rows. A failure of the loop
 *    is tried again later, also after a restart.
 * 3. Running turns of an earlier process are resumed before anything can change them.
 * 4. Deliveries run beside the loop, so a slow platform never holds up the inbox.
 * 5. Before each model call and each tool with an effect, a turn reads the inbox first, also right after a crash (I3).
 */
export class ThreadRuntime implements EngineTurns, Loop {
  readonly delivery: Delivery;
  readonly memory: ThreadMemory;
  readonly cards: Cards;
  readonly files: EventFiles;
  /** Content that actions have added to replies. */
  readonly attachments: TurnAttachments;
  /** Prompts, and stored facts about turns for the bot's own code. */
  readonly own: OwnTurns;
  readonly #options: ThreadRuntimeOptions;
  readonly #inbox: InboxStore;
  readonly #turns: TurnStore;
  readonly #intake: Intake;
  readonly #runner: TurnRunner;
  readonly #rootNews: RootNews;
  readonly #messengers: DeclaredMessengers;
  #driving: Promise<void> | undefined;
  /** Number of consecutive failures of the loop. `#retryAt` is the time of its next try. */
  #failures = 0;
  #retryAt: number | undefined;
  #isDirty = false;
  /** Time at which the loop must look at unreadable events again. `#advanceAt` is the time for waiting messages. */
  #readAgainAt: number | undefined;
  #advanceAt: number | undefined;
  #heartbeat: Timer | undefined;
  #hasResumed = false;
  #takingUp: Promise<void> | undefined;
  /** True if no turn of an earlier process is waiting to be resumed. */
  #isFree = false;
  #sweptAt = 0;

  constructor(options: ThreadRuntimeOptions) {
    this.#options = options;
    const { database, deps, engine, log, root } = options;
    this.#messengers = options.messengers;
    const inbox = createInboxStore(database);
    const turns = createTurnStore(database);
    const memory = createThreadMemory(database);
    const own = new OwnTurns({
      ...options,
      turns,
      inbox,
      messengers: this.#messengers,
      placeOf: ({ chatId, messengerId }) => this.delivery.movedTo(messengerId, chatId),
      cancel: (promptId) => this.#runner.endings.cancel(promptId),
    });
    const { prompts } = own;
    this.#inbox = inbox;
    this.#turns = turns;
    const gates = new ChatGates(options);
    this.own = own;
    this.delivery = createDelivery({
      database,
      deps,
      log,
      gates,
      keepReceiptsMs: () => options.bot.keepDeliveriesMs ?? KEEP_DELIVERIES_MS,
      fileIds: root,
      messengers: this.#messengers,
      onWake: (at) => {
        if (at !== undefined) options.wake.at(at);
        else if (this.#driving === undefined) this.#putOffWake();
      },
      listener: new ChatNews({
        ...options,
        inbox,
        turns,
        prompts,
        memory,
        abandon: (place) => {
          this.#runner.endings.abandon(place);
          options.questions?.chatGone(place);
        },
        loop: this,
      }),
    });
    this.cards = new Cards({ database, deps, delivery: this.delivery });
    this.files = new EventFiles({
      messengers: this.#messengers,
    });
    this.attachments = new TurnAttachments({
      database,
      deps,
      log,
      prompts,
      delivery: this.delivery,
      cards: this.cards,
      messengers: this.#messengers,
      render: options.bot.renderAttachment,
    });
    this.#runner = new TurnRunner({
      database,
      deps,
      log,
      inbox,
      turns,
      prompts,
      notes: own.notes,
      memory,
      delivery: this.delivery,
      engine,
      messengers: this.#messengers,
      bot: options.bot,
      responses: this.own.responses,
      attachments: this.attachments,
      approvals: options.approvals,
      hasUnread: () => this.#intake.hasUnread(),
      onUsed: usageNews(options.deps, options.bot, memory, this.#messengers, options.runOf),
    });
    this.#intake = new Intake({
      database,
      deps,
      log,
      inbox,
      memory,
      delivery: this.delivery,
      cards: this.cards,
      messengers: this.#messengers,
      root,
      gates,
      bot: options.bot,
      answers: this.#runner,
      questions: options.questions,
      contexts: this.files,
      loop: this,
    });
    this.#rootNews = new RootNews({ deps, log, memory, root, wake: options.wake });
    this.memory = memory;
  }

  /**
   * Stores events, and decides about them in the same commit if no other object is needed. When this resolves, nothing
   * is left to do (`false`), or a wake-up is set and the caller must call `drive` (I1).
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
    // A known event may come from a process that died before it could set a wake-up.
    const isWorkLeft = arrivals.some((arrival) => arrival?.outcome !== "passed-over");
    if (isWorkLeft) this.#options.wake.at(now + HEARTBEAT_MS);
    return isWorkLeft;
  }

  /**
   * Turns an edit of an unseen message into a new message. The edit's own key is stored first, so a redelivery finds
   * both keys and does not count as an edit of itself (I2).
   */
  #editOrNew(messengerId: string, { ifUnseen, ...event }: IncomingEvent, now: number): IncomingEvent {
    if (ifUnseen === undefined || this.#inbox.isKnown(messengerId, ifUnseen.key)) return event;
    this.#inbox.insertEnded(messengerId, event, now, "taken as a new message");
    return { ...event, ...ifUnseen };
  }

  /** Stores the move that an event reports, and returns the event with its new address. */
  #atCurrentPlace(messengerId: string, event: IncomingEvent): IncomingEvent {
    const { move } = event;
    if (move !== undefined) {
      this.delivery.move(messengerId, move);
      // The event got the move from the root, so the root knows it.
      this.memory.forgetUntold({ kind: "moved", messengerId, move });
    }
    return { ...event, thread: currentThread(this.delivery, messengerId, event.thread) };
  }

  /** Returns the parts that `say` and similar calls need to write from this object. */
  sayHost(served: Served): SayHost {
    const { deps, name, root } = this.#options;
    return {
      delivery: this.delivery,
      cards: this.cards,
      messengers: this.#messengers,
      resolveTarget: (target: ChatTarget) => root.resolveTarget(target),
      newId: () => deps.newId(),
      wakeSoon: () => this.#options.wake.at(deps.clock.now() + HEARTBEAT_MS),
      served,
      conversation: conversationNameOf(name),
    };
  }

  /** Posts a card of the application once, in a chat whose messenger the bot has. */
  postCard(id: string, address: Address, content: CardContent): void {
    const policy = replyPolicy(this.#messengers.get(address.messengerId).delivery);
    this.cards.post({ id, address, policy }, content);
  }

  hasEvent(messengerId: string, key: string): boolean {
    return this.#inbox.isKnown(messengerId, key);
  }

  /**
   * Ignores an event that is certainly not for the bot, with one write that stores it as done. Most messages of a group
   * are like this.
   */
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

  /** Tells whether events may be read at once. A turn that was cut by a crash must be resumed first. */
  #mayReadAtOnce(): boolean {
    this.#isFree ||= this.#hasResumed || !this.#runner.isBusy();
    return this.#isFree;
  }

  /** Returns the event of a turn as the bot's code sees it: with the files of all messages of the turn. */
  contextOf(turnId: string): MessengerContext | undefined {
    const event = this.own.info(turnId)?.event;
    return event && this.files.contextOf(event, () => this.#runner.questions.eventsById(turnId));
  }

  /** Returns the addition to the bot's own system prompt for the turn of an event. */
  promptFor(event: MessengerEvent | undefined): string | undefined {
    const definition = event === undefined ? undefined : this.#messengers.find(event.messengerId);
    return event === undefined || definition === undefined
      ? undefined
      : silenceInstruction(definition, event);
  }

  /**
   * Called before the model is called again. Stored events are read first, because one of them may end or steer the
   * turn.
   */
  async beforeStep(turnId: string): Promise<"go" | "yield"> {
    await this.#readInbox(turnId);
    return this.#runner.beforeStep(turnId);
  }

  /** Before a tool with an effect runs. Stored events are read first: a `/stop` among them keeps the tool from running. */
  async beforeTool(turnId: string): Promise<"run" | "block"> {
    await this.#readInbox(turnId);
    return this.#runner.beforeTool(turnId);
  }

  /** Tells the person that the turn is waiting for its model. */
  tellWaiting(turnId: string): void {
    this.#runner.tellWaiting(turnId);
  }

  /** Notes that the turn no longer waits for its model. */
  endWaiting(turnId: string): void {
    this.#runner.endWaiting(turnId);
  }

  /** Starts the loop, or makes a running loop go around once more. */
  poke(): void {
    void this.drive();
  }

  /** Does all work that is due. Never rejects: failed work is tried again later, even if the object dies before. */
  drive(): Promise<void> {
    this.#isDirty = true;
    this.#driving ??= this.#loop();
    return this.#driving;
  }

  #logFailure(error: unknown): void {
    this.#options.log.error("thread.failed", { code: failureCode(error) });
  }

  /**
   * Waits until the stored events have been read, so that a running turn knows them (I3). The process may have died
   * right after it stored one, and the turn engine may resume its operations before the loop runs.
   */
  async #readInbox(turnId: string): Promise<void> {
    if (this.#turns.get(turnId) === undefined) return;
    const reading = this.#takeUp().then(async () => {
      if (!this.#intake.hasOpen()) return;
      await this.#intake.run();
      // The loop acts on the events that were read.
      this.poke();
    });
    try {
      await withinTime(this.#options.deps.clock, LONGEST_READING_MS, reading, "reading the inbox");
    } catch {
      // Reading takes too long, or failed. The loop continues it, and logs the reason.
    }
  }

  /** Loads the stored text of running turns, which an event that ends one of them needs. */
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
        void this.#options.approvals?.work().catch((error: unknown) => this.#logFailure(error));
        this.#readAgainAt = await this.#intake.run();
        this.#advanceAt = await this.#runner.advance();
      }
      this.#options.schedules?.().work();
      this.#deliver();
      this.#rootNews.tell();
      this.own.responses.run();
      this.#sweep();
      this.#failures = 0;
      this.#retryAt = undefined;
      this.#putOffWake();
    } catch (error) {
      this.#logFailure(error);
      const restMs = Math.min(HEARTBEAT_MS * 2 ** this.#failures, LONGEST_REST_MS);
      this.#failures += 1;
      this.#retryAt = this.#options.deps.clock.now() + restMs;
      this.#options.wake.at(this.#retryAt);
    } finally {
      // Cleared at once, because this loop does not see requests from now on.
      this.#driving = undefined;
    }
  }

  /** Moves the durable wake-up to the next time with work to do, or removes it. */
  #putOffWake(): void {
    const { approvals, deps, wake } = this.#options;
    const schedules = this.#options.schedules?.();
    const now = deps.clock.now();
    const isBusy = this.#runner.isBusy() || approvals?.isBusy() === true || schedules?.isBusy() === true;
    const needs = [
      this.#readAgainAt,
      this.#advanceAt,
      this.#retryAt,
      this.#rootNews.tellAgainAt,
      this.own.responses.runAgainAt,
      approvals?.nextWakeAt(),
      schedules?.nextWakeAt(),
      this.delivery.nextWakeAt(),
    ].filter((at) => at !== undefined);
    if (isBusy || (this.#intake.hasOpen() && this.#readAgainAt === undefined)) needs.push(now + HEARTBEAT_MS);
    const at = needs.length === 0 ? undefined : Math.min(...needs);
    if (at !== undefined) wake.at(at);
    wake.putOff(at);
    deps.clock.clearTimeout(this.#heartbeat);
    this.#heartbeat = isBusy ? deps.clock.setTimeout(() => this.poke(), MOVE_WAKE_AFTER_MS) : undefined;
  }

  /** Sends the due replies beside the loop, so a slow platform never holds up the inbox. */
  #deliver(): void {
    this.delivery.run().catch((error: unknown) => {
      this.#options.log.error("delivery.failed", { code: failureCode(error) });
      this.#options.wake.at(this.#options.deps.clock.now() + HEARTBEAT_MS);
    });
  }

  #sweep(): void {
    const now = this.#options.deps.clock.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    this.#inbox.sweep(now - KEEP_KEYS_MS);
    this.own.prompts.sweep(now - KEEP_PROMPTS_MS);
    this.own.notes.sweep(now - KEEP_PROMPTS_MS);
  }
}
