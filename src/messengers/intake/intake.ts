import { BOT_CODE_LIMIT_MS } from "../../core/time/bot-code.ts";
import type { IncomingEvent } from "../../core/chat/messenger.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { Arrivals } from "../../inbox/arrivals.ts";
import type { Arrival } from "../../inbox/arrivals.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";
import { mayBeAnswered } from "../../inbox/may-be-answered.ts";
import { isThreadConversation } from "../declare/conversation-name.ts";
import { readEvent } from "../declare/read-event.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { Admission } from "./admission.ts";
import { BareWords } from "./bare-words.ts";
import { QuestionMessages } from "./question-messages.ts";
import { CardEvents, isCardPress, mayAnswerCard } from "./card-events.ts";
import { EventHandler } from "./event-handler.ts";
import { EventOutcomes, ignored, nameOf } from "./event-outcomes.ts";
import { EventSorter } from "./event-sorter.ts";
import { comesBack } from "./comes-back.ts";
import { KnownCommands } from "./known-commands.ts";
import { ReadFailures, UnresolvedError } from "./read-failures.ts";
import { atCurrentPlace } from "../replies/current-place.ts";
import { mayStaySilent } from "../replies/reply-filter.ts";
import { sendNotice } from "../replies/send-notice.ts";
import { safeText } from "../declare/texts.ts";
import type { IntakeParts } from "./intake-parts.ts";

/**
 * Looks at every stored event once, in order of arrival, and decides what to do with it. It ends where a message is
 * queued: `TurnRunner` answers queued messages.
 *
 * 1. Every stored event gets one outcome and one line in the log, which says the outcome and its reason.
 * 2. Control events, such as `/stop`, are carried out here. So they never wait behind a turn (I3).
 * 3. An event that cannot be read now stays and is tried again. It holds up no other event. After about 40 minutes it
 *    is given up, and the person is told.
 * 4. The bot's own code has a time limit, so a hanging function does not hold up later events.
 */
export class Intake {
  readonly #options: IntakeParts;
  readonly #arrivals: Arrivals;
  #isAsked = false;
  #running: Promise<number | undefined> | undefined;
  readonly #failures: ReadFailures;
  readonly #outcomes: EventOutcomes;
  readonly #commands: KnownCommands;
  readonly #sorter: EventSorter;
  readonly #handler: EventHandler;
  readonly #cards: CardEvents;

  constructor(options: IntakeParts) {
    this.#options = options;
    this.#failures = new ReadFailures(options.deps.clock);
    this.#arrivals = new Arrivals(options.inbox);
    this.#outcomes = new EventOutcomes({ ...options, arrivals: this.#arrivals });
    const outcomes = this.#outcomes;
    this.#commands = new KnownCommands(options.bot, options.questions);
    this.#sorter = new EventSorter(options, this.#commands);
    const admission = new Admission(options, outcomes);
    const words = new BareWords(options, outcomes);
    const asked = new QuestionMessages(options, outcomes);
    const parts = { sorter: this.#sorter, commands: this.#commands, outcomes, admission, words, asked };
    this.#handler = new EventHandler({ ...options, ...parts, arrivals: this.#arrivals });
    this.#cards = new CardEvents({ ...options, admission, words }, outcomes);
  }

  /** Adds an event that was stored just now. `run` looks at it. */
  add(row: InboxRow): Arrival {
    return this.#arrivals.add(row);
  }

  /**
   * Returns the outcome of an event that will be ignored, before it is stored. Undefined if that is not certain, or if
   * an earlier event is undecided. Changes nothing.
   */
  async glance(
    messengerId: string,
    { key, thread, raw }: IncomingEvent,
  ): Promise<{ readonly event: MessengerEvent; readonly outcome: string } | undefined> {
    const definition = this.#options.messengers.find(messengerId);
    if (definition === undefined || definition.toEvent !== undefined) return undefined;
    if (typeof definition.conversation === "function" || this.hasOpen()) return undefined;
    const event = await definition.platform.parse(
      { key, thread, raw },
      this.#options.messengers.context(messengerId),
    );
    const sorting = this.#sorter.sort(event, definition);
    // A message that the bot would ignore may still answer a card.
    if (event.kind === "mention" || sorting.kind !== "ignore" || mayAnswerCard(event)) return undefined;
    return { event, outcome: ignored(sorting.reason) };
  }

  /** Notes an ignored event that was stored after `glance` had decided about it. */
  passOver(event: MessengerEvent, outcome: string): void {
    comesBack(this.#options.delivery, event, true);
    this.#outcomes.logPassedOver(eventFields(event.messengerId, event), outcome);
  }

  /** Whether the intake has not looked at some events yet. */
  hasUnread(): boolean {
    for (const { outcome, row } of this.#arrivals.open()) {
      const isWaiting = this.#isRunning(row) || this.#failures.restsUntil(row.seq) !== undefined;
      if (outcome === "open" && !isWaiting) return true;
    }
    return false;
  }

  #isRunning(row: InboxRow): boolean {
    return this.#handler.isRunning(row) || this.#cards.isRunning(row);
  }

  /** Whether some events are undecided. */
  hasOpen(): boolean {
    return this.#arrivals.hasOpen();
  }

  /**
   * Sorts all new events. An event that cannot be read now (the platform could not be asked who the bot is, or the
   * bot's code threw) stays, and holds up no other. Returns the time (epoch milliseconds) to call again for such
   * events.
   */
  run(): Promise<number | undefined> {
    this.#isAsked = true;
    this.#running ??= this.#rounds();
    return this.#running;
  }

  async #rounds(): Promise<number | undefined> {
    try {
      let again: number | undefined;
      while (this.#isAsked) {
        this.#isAsked = false;
        again = await this.#round();
      }
      return again;
    } finally {
      // Cleared at once, because this run does not see requests from now on.
      this.#running = undefined;
    }
  }

  async #round(): Promise<number | undefined> {
    let again = Infinity;
    for (const arrival of this.#arrivals.open()) {
      const { row } = arrival;
      if (this.#isRunning(row) || (arrival.outcome === "left" && this.#handler.isBehind(row))) continue;
      const restsUntil = this.#failures.restsUntil(row.seq);
      if (restsUntil !== undefined) {
        again = Math.min(again, restsUntil);
        continue;
      }
      // The earlier decision was undone with its transaction.
      arrival.outcome = "open";
      try {
        await this.#take(row);
        this.#failures.forget(row.seq);
      } catch (error) {
        const { attempts, code, retryAt } = this.#failures.add(row.seq, error);
        this.#options.log.error("inbox.unreadable", { ...nameOf(row), code, attempts });
        arrival.outcome = "open";
        if (retryAt === undefined) await this.#giveUp(row, code);
        else again = Math.min(again, retryAt);
      }
      this.#outcomes.settle(row);
    }
    return again === Infinity ? undefined : again;
  }

  /** Gives up an event and tells the person, once until another of their events can be read. */
  async #giveUp(row: InboxRow, code: string): Promise<void> {
    const { database, delivery, memory, messengers } = this.#options;
    const definition = messengers.find(row.messengerId);
    const { thread } = row.incoming;
    const event = definition === undefined ? undefined : await this.#readable(row, definition);
    // In a private chat, a completely unreadable message was certainly meant for the bot.
    const isAwaited = event === undefined ? thread.isDirectMessage : this.#isAwaited(event, definition);
    database.transaction(() => {
      const isTold = definition !== undefined && isAwaited && memory.reportGivenUpOnce(thread.id);
      if (isTold) {
        const text = safeText(definition.delivery, "errorResponseText", event, this.#options.log);
        const to = event ?? { messengerId: row.messengerId, thread };
        sendNotice(delivery, `given-up:${row.seq}`, to, definition, text);
      }
      this.#outcomes.end(row, `given up: ${code}${isTold ? ", the person is told" : ""}`);
    });
    this.#failures.forget(row.seq);
    this.#handler.forget(row);
    this.#cards.forget(row);
  }

  async #readable(
    row: InboxRow,
    { platform }: NormalizedMessengerDefinition,
  ): Promise<MessengerEvent | undefined> {
    try {
      return await platform.parse(row.incoming, this.#options.messengers.context(row.messengerId));
    } catch {
      // This may be the reason of all earlier failures. The log has named it already.
      return undefined;
    }
  }

  #isAwaited(event: MessengerEvent, definition: NormalizedMessengerDefinition | undefined): boolean {
    if (definition === undefined) return false;
    const sorting = this.#sorter.sort(event, definition, this.#commands.ifAny());
    return (
      (sorting.kind === "answer" && !mayStaySilent(definition, [event])) ||
      sorting.kind === "command" ||
      (sorting.kind === "press" && sorting.answer)
    );
  }

  async #take(row: InboxRow): Promise<void> {
    if (await this.#handler.resume(row)) return;
    const definition = this.#options.messengers.find(row.messengerId);
    if (definition === undefined) {
      this.#outcomes.end(row, `the messenger "${row.messengerId}" is not declared any more`);
      return;
    }
    if (await this.#passOn(row, definition)) return;
    const event = atCurrentPlace(this.#options.delivery, await this.#read(row, definition));
    if (await this.#cards.take(row, event, definition)) return;
    await this.#handler.handle(row, event, definition);
  }

  #read(
    { incoming, messengerId }: InboxRow,
    definition: NormalizedMessengerDefinition,
  ): Promise<MessengerEvent> {
    return readEvent(definition, incoming, this.#options.messengers.context(messengerId), BOT_CODE_LIMIT_MS);
  }

  /**
   * Hands an event that may be answered to the conversation that the bot's function names. `false` if the event stays
   * here: nobody answers it, or the bot has no such function.
   */
  async #passOn(row: InboxRow, definition: NormalizedMessengerDefinition): Promise<boolean> {
    const { gates, memory, root } = this.#options;
    // Other objects were named by the function.
    if (typeof definition.conversation !== "function" || !isThreadConversation(gates.speaker)) return false;
    if (!(await this.#mayBeAnswered(row, definition))) return false;
    const result = await root.routeEvent(row.messengerId, row.incoming);
    if (result.kind === "unresolved") throw new UnresolvedError(result.code);
    if (result.kind === "not-answered") return false;
    memory.endGivenUp(row.incoming.thread.id);
    this.#outcomes.end(row, "passed on to its conversation");
    return true;
  }

  /** `true` also if the event cannot be read here: the root may be able to. */
  async #mayBeAnswered(row: InboxRow, definition: NormalizedMessengerDefinition): Promise<boolean> {
    const { respondTo } = definition;
    try {
      const event = await this.#read(row, definition);
      // The gate finds the conversation of a card.
      if (isCardPress(event)) return false;
      return mayBeAnswered(event, { respondTo, hasCommand: (name) => this.#commands.mayHave(name) });
    } catch {
      // The root reads it too, and logs the failure.
      return true;
    }
  }
}
