import { BOT_CODE_LIMIT_MS } from "../core/bot-code.ts";
import type { Delivery } from "../core/delivery.ts";
import type { Database } from "../core/database.ts";
import type { Deps } from "../core/deps.ts";
import type { Log } from "../core/log.ts";
import type { IncomingEvent, PlatformContext } from "../core/messenger.ts";
import type { MessengerCommand, MessengerEvent } from "../core/messenger-event.ts";
import { withinTime } from "../core/within-time.ts";
import { Arrivals } from "../inbox/arrivals.ts";
import type { Arrival } from "../inbox/arrivals.ts";
import { eventFields } from "../inbox/event-fields.ts";
import type { InboxRow, InboxStore } from "../inbox/inbox-store.ts";
import { PassedOverLog } from "../inbox/passed-over-log.ts";
import { sortEvent } from "../inbox/sort-event.ts";
import { completesAlbum, queueMessage, waitingMessage } from "../inbox/waiting-messages.ts";
import type { Sorting } from "../inbox/sort-event.ts";
import { Admission } from "./admission.ts";
import { runCommand } from "./command-runner.ts";
import type { CommandOutcome } from "./command-runner.ts";
import type { ThinkCommands } from "./commands.ts";
import type { NormalizedMessengerDefinition } from "./define-messengers.ts";
import { correctedEvent } from "./corrected-event.ts";
import { ReadFailures, UnresolvedError } from "./read-failures.ts";
import type { RouteResult } from "./root-runtime.ts";
import { replyPolicy, safeText } from "./texts.ts";
import type { ThreadMemory } from "./thread-memory.ts";
import type { AskedQuestion } from "./turn-limits.ts";
import { addressOf } from "./address-of.ts";

export interface IntakeOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly inbox: InboxStore;
  readonly memory: ThreadMemory;
  readonly delivery: Delivery;
  readonly definition: (messengerId: string) => NormalizedMessengerDefinition | undefined;
  readonly context: (messengerId: string) => PlatformContext;
  /** Hands an event to the conversation that the bot's resolver names; absent in that conversation itself. */
  readonly route?: (messengerId: string, event: IncomingEvent) => Promise<RouteResult>;
  readonly commands: () => ThinkCommands;
  /** Asks the root whether a person may ask for one more answer, and counts it. */
  readonly takeQuestion: (asked: AskedQuestion) => Promise<boolean>;
  /** Whether `rerun` would do something. */
  readonly mayRerun: (edit: MessengerEvent) => boolean;
  /** Answers the last answered message anew, if the edit is of it and the messenger wants that. */
  readonly rerun: (edit: MessengerEvent) => boolean;
  /** Ends the answer whose stop button was pressed; `false` when it has ended already. */
  readonly stop: (press: MessengerEvent) => boolean;
  /** Has the loop go round once more. */
  readonly poke: () => void;
  /** Runs code of the bot so that it can ask which event it serves. */
  readonly inContext: <T>(event: MessengerEvent, body: () => T) => T;
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
  /** Rows whose command is running. */
  readonly #beside = new Set<number>();
  readonly #failures: ReadFailures;
  readonly #admission: Admission;
  readonly #passedOver: PassedOverLog;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#failures = new ReadFailures(options.deps.clock);
    this.#passedOver = new PassedOverLog({ clock: options.deps.clock, log: options.log });
    this.#admission = new Admission({
      ...options,
      reply: (id, event, definition, text) => this.#reply(id, event, definition, text),
      end: (row, outcome) => this.#end(row, outcome),
    });
    this.#arrivals = new Arrivals(options.inbox);
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
    const sorting = this.#sorting(event, definition);
    if (event.kind === "mention" || sorting.kind !== "ignore") return undefined;
    if (completesAlbum(this.#options.inbox, event)) return undefined;
    return { event, outcome: ignored(sorting.reason) };
  }

  /** An event that was stored after `glance` had told what becomes of it. */
  passOver(event: MessengerEvent, outcome: string): void {
    if (isFromPerson(event)) this.#options.delivery.revive(event.thread.chatId);
    this.#passedOver.add(eventFields(event.messengerId, event), outcome);
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
      if (this.#beside.has(row.seq)) continue;
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
      this.#arrivals.forgetDecided(row);
    }
    return again === Infinity ? undefined : again;
  }

  /** The person hears of it, once until something of theirs can be read again. */
  async #giveUp(row: InboxRow, code: string): Promise<void> {
    const { database, definition: definitionOf, memory } = this.#options;
    const definition = definitionOf(row.messengerId);
    const { thread } = row.incoming;
    const event = definition === undefined ? undefined : await this.#readable(row, definition);
    // What cannot be read at all was meant for the bot where nobody else listens.
    const isAwaited = event === undefined ? thread.isDirectMessage : this.#isAwaited(event, definition);
    database.transaction(() => {
      const isTold = definition !== undefined && isAwaited && memory.reportGivenUpOnce(thread.id);
      if (isTold) {
        const text = safeText(definition.delivery, "errorResponseText", event, this.#options.log);
        this.#reply(
          `given-up:${row.seq}`,
          event ?? { messengerId: row.messengerId, thread },
          definition,
          text,
        );
      }
      this.#end(row, `given up: ${code}${isTold ? ", the person is told" : ""}`);
    });
    this.#failures.forget(row.seq);
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
    const sorting = this.#sorting(event, definition);
    return (
      sorting.kind === "answer" || sorting.kind === "command" || (sorting.kind === "press" && sorting.answer)
    );
  }

  async #take(row: InboxRow): Promise<void> {
    const definition = this.#options.definition(row.messengerId);
    if (definition === undefined) {
      this.#end(row, `the messenger "${row.messengerId}" is not declared any more`);
      return;
    }
    if (typeof definition.conversation === "function" && this.#options.route !== undefined) {
      const result = await this.#options.route(row.messengerId, row.incoming);
      if (result.kind === "unresolved") throw new UnresolvedError(result.code);
      this.#options.memory.isReadable(row.incoming.thread.id);
      this.#end(row, "passed on to its conversation");
      return;
    }
    let event = await definition.platform.parse(row.incoming, this.#options.context(row.messengerId));
    if (definition.toEvent !== undefined) {
      const input = { event, eventKind: event.kind, thread: event.thread, raw: event.raw };
      event = await this.#inTime("toEvent", definition.toEvent(input));
    }
    await this.#sort(row, event, definition);
  }

  async #sort(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<void> {
    const { delivery, memory } = this.#options;
    if (await this.#subscribes(event, definition)) memory.subscribe(event.thread.id);
    const sorted = this.#sorting(event, definition);
    const sorting: Sorting =
      sorted.kind === "ignore" && completesAlbum(this.#options.inbox, event) ? { kind: "answer" } : sorted;
    if (isFromPerson(event)) delivery.revive(event.thread.chatId);
    switch (sorting.kind) {
      case "ignore":
        this.#end(row, ignored(sorting.reason), "passed-over");
        return;
      case "membership":
        this.#end(row, `membership: ${event.detail ?? "changed"}`);
        return;
      case "stop":
        this.#end(row, this.#options.stop(event) ? "stopped" : "ignored: the answer has ended already");
        return;
      case "correct":
        await this.#correct(row, event, definition);
        return;
      case "withdraw":
        this.#withdraw(row, event);
        return;
      case "press": {
        if (event.action !== undefined) void delivery.answerAction(addressOf(event), event.action.id);
        if (!sorting.answer) this.#end(row, "button answered");
        else if (await this.#admission.isAllowed(row, event, definition))
          await this.#queue(row, event, definition);
        return;
      }
      case "command":
        if (await this.#admission.isAllowed(row, event, definition))
          await this.#command(row, event, sorting.command, definition);
        return;
      case "answer":
        if (await this.#admission.isAllowed(row, event, definition))
          await this.#queue(row, event, definition);
        return;
    }
  }

  #sorting(event: MessengerEvent, { respondTo }: NormalizedMessengerDefinition): Sorting {
    const commands = this.#options.commands();
    return sortEvent(event, {
      respondTo,
      isSubscribed: this.#options.memory.isSubscribed(event.thread.id),
      hasCommand: (name) => Object.hasOwn(commands, name),
    });
  }

  /** Only who may use the bot makes it listen: otherwise a stranger could have it answer what nobody asked it. */
  async #subscribes(event: MessengerEvent, definition: NormalizedMessengerDefinition): Promise<boolean> {
    if (event.kind !== "mention" || !definition.subscribeOnMention || event.author?.isBot === true)
      return false;
    return (
      !this.#options.memory.isSubscribed(event.thread.id) && (await this.#admission.mayUse(event, definition))
    );
  }

  async #queue(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<void> {
    const { database, deps, inbox, memory } = this.#options;
    if (!(await this.#admission.hasRoom(row, event, definition))) return;
    memory.isReadable(event.thread.id);
    database.transaction(() => queueMessage(inbox, row, event, deps.clock.now()));
    this.#arrivals.decide(row, "handled");
    this.#log(row, "queued");
  }

  async #correct(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<void> {
    const target = waitingMessage(this.#options.inbox, event);
    if (target !== undefined) {
      this.#options.inbox.correct(target.seq, correctedEvent(target, event));
      this.#end(row, "edit applied to the waiting message");
    } else if (!this.#options.mayRerun(event)) {
      this.#end(row, ignored("edit of a message that is not waiting"), "passed-over");
    } else if (!(await this.#admission.isWithinLimits(row, event, definition))) {
      this.#end(row, ignored("edit over the limit"), "passed-over");
    } else {
      const isRerun = this.#options.rerun(event);
      this.#end(row, isRerun ? "edit: answered anew" : ignored("edit of a message that is not waiting"));
    }
  }

  #withdraw(row: InboxRow, event: MessengerEvent): void {
    const target = waitingMessage(this.#options.inbox, event);
    if (target !== undefined) this.#end(target, "withdrawn by its author");
    this.#end(row, target === undefined ? "deletion recorded" : "deletion applied to the waiting message");
  }

  /** A handler that takes its time runs beside the intake: later events, `/stop` among them, do not wait for it. */
  async #command(
    row: InboxRow,
    event: MessengerEvent,
    command: MessengerCommand,
    definition: NormalizedMessengerDefinition,
  ): Promise<void> {
    const { commands, deps, inContext, log } = this.#options;
    const reply = (index: number, text: string): void =>
      this.#reply(`command:${row.seq}:${index}`, event, definition, text);
    const runner = { clock: deps.clock, log, commands, limitMs: BOT_CODE_LIMIT_MS, inContext, reply };
    const outcome = runCommand(command, event, definition.delivery, runner);
    if (!(outcome instanceof Promise)) {
      await this.#endCommand(row, event, command, definition, outcome);
      return;
    }
    this.#beside.add(row.seq);
    void outcome
      .then((done) => this.#endCommand(row, event, command, definition, done))
      .then(() => this.#arrivals.forgetDecided(row))
      .catch((error: unknown) => log.error("inbox.unreadable", { ...nameOf(row), code: errorName(error) }))
      .finally(() => {
        this.#beside.delete(row.seq);
        this.#options.poke();
      });
  }

  async #endCommand(
    row: InboxRow,
    event: MessengerEvent,
    command: MessengerCommand,
    definition: NormalizedMessengerDefinition,
    { prompt }: CommandOutcome,
  ): Promise<void> {
    if (prompt === undefined || event.message === undefined) {
      this.#end(row, `command: ${command.name}`);
      return;
    }
    const { command: _command, ...message } = event.message;
    await this.#queue(row, { ...event, message: { ...message, text: prompt } }, definition);
  }

  /** What hangs would hold up every later event, also `/stop`. */
  #inTime<T>(method: string, work: T | Promise<T>): Promise<T> {
    return withinTime(this.#options.deps.clock, BOT_CODE_LIMIT_MS, work, method);
  }

  #reply(
    id: string,
    event: Pick<MessengerEvent, "messengerId" | "thread" | "message">,
    definition: NormalizedMessengerDefinition,
    text: string,
  ): void {
    this.#options.delivery.send(
      {
        id,
        address: addressOf(event),
        policy: replyPolicy(definition.delivery),
        ...(event.message !== undefined && { seenMessageId: event.message.id }),
      },
      text,
    );
  }

  #end(row: InboxRow, outcome: string, arrival: "passed-over" | "handled" = "handled"): void {
    this.#options.inbox.end([row.seq], outcome);
    this.#arrivals.decide(row, arrival);
    if (arrival === "passed-over") this.#passedOver.add(nameOf(row), outcome);
    else this.#log(row, outcome);
  }

  #log(row: InboxRow, outcome: string): void {
    this.#options.log.info("inbox.event", { ...nameOf(row), outcome });
  }
}

function nameOf({ incoming, messengerId }: InboxRow): ReturnType<typeof eventFields> {
  return eventFields(messengerId, incoming);
}

function ignored(reason: string): string {
  return `ignored: ${reason}`;
}

function isFromPerson(event: MessengerEvent): boolean {
  return (
    event.message !== undefined ||
    event.action !== undefined ||
    (event.kind === "membership" && event.detail !== "blocked" && event.detail !== "removed")
  );
}

function errorName(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
