import type { ChatTarget } from "../../core/chat/chat-target.ts";
import type { CardContent } from "../../core/message/content.ts";
import type { Delivery } from "../../core/chat/delivery.ts";
import type { IncomingEvent } from "../../core/chat/messenger.ts";
import type { MessengerContext } from "../../core/chat/messenger-context.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import { createDelivery } from "../../../delivery/index.ts";
import { createNoteStore } from "../../inbox/note-store.ts";
import { createPromptStore } from "../../inbox/prompt-store.ts";
import { createInboxStore } from "../../inbox/inbox-store.ts";
import type { InboxStore } from "../../inbox/inbox-store.ts";
import type { EngineTurns } from "../../turn/turn-engine-options.ts";
import { createTurnStore } from "../../turn/turn-store.ts";
import type { TurnStore } from "../../turn/turn-store.ts";
import { conversationNameOf } from "../declare/conversation-name.ts";
import { HEARTBEAT_MS } from "../declare/wake.ts";
import { replyPolicy } from "../declare/texts.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { ChatGates } from "../root/chats/chat-gates.ts";
import { ChatNews } from "./chat-news.ts";
import { EventReception } from "./event-reception.ts";
import { ThreadLoop } from "./thread-loop.ts";
import type { ThreadRuntimeOptions } from "./thread-runtime-options.ts";
import { createUnsentNotes } from "./unsent-notes.ts";
import { threadSweep } from "./thread-sweep.ts";
import { Intake } from "../intake/intake.ts";
import type { Loop } from "../intake/loop.ts";
import { Cards } from "../replies/cards.ts";
import { RootNews } from "../replies/root-news.ts";
import { silenceInstruction } from "../replies/reply-filter.ts";
import type { SayHost, Served } from "../replies/say.ts";
import { createThreadMemory } from "../replies/thread-memory.ts";
import type { ThreadMemory } from "../replies/thread-memory.ts";
import { OwnTurns } from "./own-turns.ts";
import { TurnAttachments } from "../turns/turn-attachments.ts";
import { turnOfReply } from "../turns/turn-replies.ts";
import { TurnRunner } from "../turns/turn-runner.ts";
import { EventFiles } from "../turns/event-files.ts";
import { UsageNews } from "./usage-news.ts";
import type { CountedTokens, Payer } from "./usage-news.ts";

/** Receipts are kept this long, unless the bot says otherwise. */
const KEEP_DELIVERIES_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * One conversation: puts its inbox, its turns and its deliveries together, and is their face to the rest of the object.
 * `EventReception` stores incoming events, `Intake` decides about them, `TurnRunner` answers messages, the delivery
 * sends replies, and `ThreadLoop` drives them all.
 *
 * 1. Before each model call and each tool with an effect, a turn reads the inbox first, also right after a crash (I3).
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
  readonly #runner: TurnRunner;
  readonly #reception: EventReception;
  readonly #loop: ThreadLoop;
  readonly #messengers: DeclaredMessengers;
  readonly #usage: UsageNews;

  constructor(options: ThreadRuntimeOptions) {
    this.#options = options;
    const { database, deps, engine, log, root } = options;
    this.#messengers = options.messengers;
    const inbox = createInboxStore(database);
    const turns = createTurnStore(database);
    const memory = createThreadMemory(database);
    const promptStore = createPromptStore(database);
    const notes = createNoteStore(database);
    this.#inbox = inbox;
    this.#turns = turns;
    const gates = new ChatGates(options);
    const loop = new ThreadLoop(options);
    this.#loop = loop;
    const unsent = createUnsentNotes(options, notes);
    const news = new ChatNews({ ...options, inbox, turns, prompts: promptStore, memory, unsent, loop });
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
        else loop.needsLess();
      },
      onEnded: (replyId, outcome) =>
        engine.events.emit(turnOfReply(replyId), { kind: "delivery-ended", replyId, outcome }),
      listener: news,
      isEventOpen: (seq) => inbox.rows([seq]).some(({ state }) => state !== "done"),
    });
    const own = new OwnTurns({ ...options, turns, inbox, delivery: this.delivery, notes, promptStore, loop });
    const { prompts } = own;
    this.own = own;
    this.#usage = new UsageNews(options, memory, own);
    engine.events.listen(this.#usage.listener);
    this.cards = new Cards({ database, deps, delivery: this.delivery, unsent });
    this.files = new EventFiles(options);
    this.attachments = new TurnAttachments({
      ...options,
      prompts,
      delivery: this.delivery,
      cards: this.cards,
      render: options.bot.renderAttachment,
    });
    this.#runner = new TurnRunner({
      ...options,
      inbox,
      turns,
      prompts,
      notes,
      memory,
      delivery: this.delivery,
      responses: own.responses,
      attachments: this.attachments,
      consent: options.features,
    });
    const intake = new Intake({
      ...options,
      inbox,
      memory,
      delivery: this.delivery,
      cards: this.cards,
      gates,
      answers: this.#runner,
      questions: options.features,
      contexts: this.files,
      loop,
    });
    news.start(this.#runner.endings, own);
    loop.start({
      intake,
      runner: this.#runner,
      delivery: this.delivery,
      rootNews: new RootNews({ ...options, memory }),
      responses: own.responses,
      sweep: threadSweep(database, deps.clock),
    });
    this.#reception = new EventReception({
      ...options,
      inbox,
      intake,
      delivery: this.delivery,
      memory,
      loop,
    });
    this.memory = memory;
  }

  /** Stores events: see `EventReception`. If this resolves with `true`, the caller must call `drive`. */
  receive(messengerId: string, events: readonly IncomingEvent[]): Promise<boolean> {
    return this.#reception.receive(messengerId, events);
  }

  /** Starts the loop, or makes a running loop go around once more. */
  poke(): void {
    this.#loop.poke();
  }

  /** Counts the tokens of a model call outside of turns. */
  countTokens(payer: Payer, used: CountedTokens, keepMs?: number): void {
    this.#usage.ofCall(payer, used, keepMs);
    this.poke();
  }

  /** How long the tokens of people of a messenger are kept, in milliseconds. */
  keepUsageMsOf(messengerId: string): number {
    return this.#usage.keepMsOf(messengerId);
  }

  /** Does all work that is due: see `ThreadLoop`. Never rejects. */
  drive(): Promise<void> {
    return this.#loop.drive();
  }

  /** Ends a prompt that waits or runs. Returns `false` if it has ended already, or does not exist. */
  cancel(promptId: string, reason?: string): boolean {
    const isCancelled = this.#runner.endings.cancel(promptId, reason);
    if (isCancelled) this.#loop.expect();
    return isCancelled;
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

  /** Posts a card of a feature once, in a chat whose messenger the bot has. */
  postCard(id: string, address: Address, content: CardContent, owner: string): void {
    const policy = replyPolicy(this.#messengers.get(address.messengerId).delivery);
    this.cards.post({ id, address, policy, owner }, content);
  }

  hasEvent(messengerId: string, key: string): boolean {
    return this.#inbox.isKnown(messengerId, key);
  }

  /** Returns a turn as the bot's code sees it, and its event with the files of all messages of the turn. */
  shownIn(turnId: string): readonly [turn: TurnInfo | undefined, event: MessengerContext | undefined] {
    const turn = this.own.info(turnId);
    const event = turn?.event;
    return [turn, event && this.files.contextOf(event, () => this.#runner.questions.eventsById(turnId))];
  }

  /** Returns the people's messages that a turn answers. */
  messagesOf(turnId: string): readonly MessengerEvent[] {
    return this.#runner.questions.eventsById(turnId);
  }

  /** Returns the addition to the bot's own system prompt for the turn of an event. */
  promptFor(event: MessengerEvent | undefined): string | undefined {
    const definition = event === undefined ? undefined : this.#messengers.find(event.messengerId);
    return event === undefined || definition === undefined
      ? undefined
      : silenceInstruction(definition, event);
  }

  arrivedAt(turnId: string): number | undefined {
    return this.own.arrivedAt(turnId);
  }

  addTokens(turnId: string, tokens: number): void {
    this.#turns.addTokens(turnId, tokens);
  }

  usedTokens(turnId: string): number {
    return this.#turns.get(turnId)?.usedTokens ?? 0;
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

  /** Reads the stored events, so that a running turn knows them. An ended turn needs none. */
  async #readInbox(turnId: string): Promise<void> {
    if (this.#turns.get(turnId) !== undefined) await this.#loop.readInbox();
  }
}
