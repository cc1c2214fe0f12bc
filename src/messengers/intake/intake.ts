import { BOT_CODE_LIMIT_MS } from "../../core/bot-code.ts";
import type { IncomingEvent, PlatformContext } from "../../core/messenger.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import { withinTime } from "../../core/within-time.ts";
import { Arrivals } from "../../inbox/arrivals.ts";
import type { Arrival } from "../../inbox/arrivals.ts";
import { eventFields } from "../../core/log-fields.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";
import { sortEvent } from "../../inbox/sort-event.ts";
import type { Sorting } from "../../inbox/sort-event.ts";
import { completesAlbum } from "../../inbox/waiting-messages.ts";
import type { ThinkCommands } from "../declare/commands.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { CardEvents, isCardPress, mayAnswerCard } from "./card-events.ts";
import type { CardEventsOptions } from "./card-events.ts";
import { EventHandler } from "./event-handler.ts";
import type { EventHandlerOptions } from "./event-handler.ts";
import { EventOutcomes, ignored, nameOf } from "./event-outcomes.ts";
import { isFromPerson } from "./is-from-person.ts";
import { ReadFailures, UnresolvedError } from "./read-failures.ts";
import { mayStaySilent } from "../replies/reply-filter.ts";
import type { RouteResult } from "../root/root-runtime.ts";
import { sendNotice } from "../replies/send-notice.ts";
import { safeText } from "../declare/texts.ts";

export interface IntakeOptions extends Omit<EventHandlerOptions, "sort">, Omit<CardEventsOptions, "mayUse"> {
  readonly definition: (messengerId: string) => NormalizedMessengerDefinition | undefined;
  readonly context: (messengerId: string) => PlatformContext;
  /** Hands an event to the conversation that the bot's resolver names; absent in that conversation itself. */
  readonly route?: (messengerId: string, event: IncomingEvent) => Promise<RouteResult>;
}

/**
 * Looks at every stored event once, in order of arrival, and decides what becomes of it. Control events are carried
 * out here, so they never wait behind a turn (I3). Each event leaves one line in the log that says what and why.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #arrivals: Arrivals;
  #isAsked = false;
  #running: Promise<number | undefined> | undefined;
  readonly #failures: ReadFailures;
  readonly #outcomes: EventOutcomes;
  readonly #handler: EventHandler;
  readonly #cards: CardEvents;

  constructor(options: IntakeOptions) {
    const { deps, inbox, log } = options;
    this.#options = options;
    this.#failures = new ReadFailures(deps.clock);
    this.#arrivals = new Arrivals(inbox);
    this.#outcomes = new EventOutcomes({ clock: deps.clock, log, inbox, arrivals: this.#arrivals });
    const sort = (event: MessengerEvent, definition: NormalizedMessengerDefinition): Sorting =>
      this.#sort(event, definition);
    this.#handler = new EventHandler({ ...options, sort }, this.#outcomes);
    const mayUse = this.#handler.mayUse.bind(this.#handler);
    this.#cards = new CardEvents({ ...options, mayUse }, this.#outcomes);
  }

  /** An event that was stored just now; `run` looks at it. */
  add(row: InboxRow): Arrival {
    return this.#arrivals.add(row);
  }

  /**
   * What `run` would say of an event from which nothing follows, asked before it is stored; nothing where that is not
   * certain, or where an earlier event is not decided. Changes nothing.
   */
  async glance(
    messengerId: string,
    { key, thread, raw }: IncomingEvent,
  ): Promise<{ readonly event: MessengerEvent; readonly outcome: string } | undefined> {
    const definition = this.#options.definition(messengerId);
    if (definition === undefined || definition.toEvent !== undefined) return undefined;
    if (typeof definition.conversation === "function" || this.hasOpen()) return undefined;
    const event = await definition.platform.parse({ key, thread, raw }, this.#options.context(messengerId));
    const sorting = this.#sort(event, definition);
    // An answer to a card may be no question to the bot.
    if (event.kind === "mention" || sorting.kind !== "ignore" || mayAnswerCard(event)) return undefined;
    return { event, outcome: ignored(sorting.reason) };
  }

  /** An event that was stored after `glance` had told what becomes of it. */
  passOver(event: MessengerEvent, outcome: string): void {
    if (isFromPerson(event)) this.#options.delivery.revive(event.thread.chatId);
    this.#outcomes.logPassedOver(eventFields(event.messengerId, event), outcome);
  }

  /** Whether there are events of which it is not decided what becomes of them. */
  hasOpen(): boolean {
    return this.#arrivals.hasOpen();
  }

  /**
   * Sorts all events that have not been looked at. An event that cannot be read now (the platform could not be asked
   * who the bot is, code of the bot threw) stays, and holds up no other. Returns when to call again for such a one.
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
      // At once, and not a moment later: whoever asks from now on is not heard by these rounds.
      this.#running = undefined;
    }
  }

  async #round(): Promise<number | undefined> {
    let again = Infinity;
    for (const arrival of this.#arrivals.open()) {
      const { row } = arrival;
      if (this.#handler.isRunning(row) || this.#cards.isRunning(row)) continue;
      const restsUntil = this.#failures.restsUntil(row.seq);
      if (restsUntil !== undefined) {
        again = Math.min(again, restsUntil);
        continue;
      }
      // What was decided before has been undone with its transaction.
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

  /** The person hears of it, once until something of theirs can be read again. */
  async #giveUp(row: InboxRow, code: string): Promise<void> {
    const { database, definition: definitionOf, delivery, memory } = this.#options;
    const definition = definitionOf(row.messengerId);
    const { thread } = row.incoming;
    const event = definition === undefined ? undefined : await this.#readable(row, definition);
    // What cannot be read at all was meant for the bot where nobody else listens.
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
  }

  async #readable(
    row: InboxRow,
    { platform }: NormalizedMessengerDefinition,
  ): Promise<MessengerEvent | undefined> {
    try {
      return await platform.parse(row.incoming, this.#options.context(row.messengerId));
    } catch {
      // It may be this that has failed all the time; the log has said so.
      return undefined;
    }
  }

  #isAwaited(event: MessengerEvent, definition: NormalizedMessengerDefinition | undefined): boolean {
    if (definition === undefined) return false;
    const sorting = this.#sort(event, definition, this.#commandsIfAny());
    return (
      (sorting.kind === "answer" && !mayStaySilent(definition, [event])) ||
      sorting.kind === "command" ||
      (sorting.kind === "press" && sorting.answer)
    );
  }

  async #take(row: InboxRow): Promise<void> {
    if (await this.#handler.resume(row)) return;
    const definition = this.#options.definition(row.messengerId);
    if (definition === undefined) {
      this.#outcomes.end(row, `the messenger "${row.messengerId}" is not declared any more`);
      return;
    }
    if (this.#options.route !== undefined && (await this.#isRouted(row, definition))) {
      const result = await this.#options.route(row.messengerId, row.incoming);
      if (result.kind === "unresolved") throw new UnresolvedError(result.code);
      this.#options.memory.isReadable(row.incoming.thread.id);
      this.#outcomes.end(row, "passed on to its conversation");
      return;
    }
    let event = await definition.platform.parse(row.incoming, this.#options.context(row.messengerId));
    if (definition.toEvent !== undefined) {
      const input = { event, eventKind: event.kind, thread: event.thread, raw: event.raw };
      event = await this.#inTime("toEvent", definition.toEvent(input));
    }
    event = this.#options.atCurrentPlace(event);
    if (await this.#cards.take(row, event, definition)) return;
    await this.#handler.handle(row, event, definition);
  }

  /** Whether the bot's function names the conversation of the event. That of a card is the card's; a reaction has none. */
  async #isRouted(row: InboxRow, definition: NormalizedMessengerDefinition): Promise<boolean> {
    if (typeof definition.conversation !== "function") return false;
    const event = await this.#readable(row, definition);
    if (event?.kind === "reaction" || event?.kind === "update") return false;
    return event === undefined || !isCardPress(event);
  }

  #commandsIfAny(): ThinkCommands {
    try {
      return this.#options.commands();
    } catch {
      // It may be this that has failed all the time; the log has said so.
      return {};
    }
  }

  #sort(
    event: MessengerEvent,
    { respondTo }: NormalizedMessengerDefinition,
    known = this.#options.commands(),
  ): Sorting {
    const { inbox, memory } = this.#options;
    const sorting = sortEvent(event, {
      respondTo,
      isSubscribed: memory.isSubscribed(event.thread.id),
      hasCommand: (name) => Object.hasOwn(known, name),
      hears: (handler) => this.#options.handlers(event.messengerId)[handler] !== undefined,
    });
    return sorting.kind === "ignore" && completesAlbum(inbox, event) ? { kind: "answer" } : sorting;
  }

  /** What hangs would hold up every later event, also `/stop`. */
  #inTime<T>(method: string, work: T | Promise<T>): Promise<T> {
    return withinTime(this.#options.deps.clock, BOT_CODE_LIMIT_MS, work, method);
  }
}
