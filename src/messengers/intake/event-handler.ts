import { runBotCode } from "../../core/time/bot-code.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { ChatMemberEvent, MessengerContext } from "../../core/chat/messenger-context.ts";
import type { MessengerCommand, MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { Arrivals } from "../../inbox/arrivals.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";
import type { EventHook } from "../../inbox/sort-event.ts";
import { isInvitation } from "../../inbox/may-be-answered.ts";
import { isOfMessage, queueMessage, waitingMessage } from "../../inbox/waiting-messages.ts";
import { addressOf } from "../replies/address-of.ts";
import type { Admission } from "./admission.ts";
import type { BareWords } from "./bare-words.ts";
import type { QuestionMessages } from "./question-messages.ts";
import { comesBack } from "./comes-back.ts";
import { eventHandlers } from "./bot-handlers.ts";
import type { HookContent } from "./bot-handlers.ts";
import { runCommand } from "./command-runner.ts";
import type { CommandOutcome } from "./command-runner.ts";
import { correctedEvent } from "../../inbox/corrected-event.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { ignored } from "./event-outcomes.ts";
import type { EventOutcomes } from "./event-outcomes.ts";
import type { ReadyContent } from "../replies/cards.ts";
import { postingOf } from "../replies/send-notice.ts";
import { atCurrentPlace } from "../replies/current-place.ts";
import type { EventSorter } from "./event-sorter.ts";
import type { KnownCommands } from "./known-commands.ts";
import { pressOf } from "./press-answers.ts";
import type { IntakeParts } from "./intake-parts.ts";

interface EventHandlerParts extends IntakeParts {
  readonly arrivals: Arrivals;
  readonly sorter: EventSorter;
  readonly commands: KnownCommands;
  readonly outcomes: EventOutcomes;
  readonly admission: Admission;
  readonly words: BareWords;
  readonly asked: QuestionMessages;
}

/** A command whose handler has run. */
interface RunCommand {
  readonly event: MessengerEvent;
  readonly command: MessengerCommand;
  readonly definition: NormalizedMessengerDefinition;
  readonly outcome: CommandOutcome;
}

/** An event whose handler has run. */
interface HandedOver {
  readonly outcome: string;
  /** Sends what the handler returned. */
  readonly post?: (() => void) | undefined;
}

/** Carries out the decision about a sorted event, and records its outcome. */
export class EventHandler {
  readonly #options: EventHandlerParts;
  /** Rows whose command is running. */
  readonly #beside = new Set<number>();
  /** Messages about which nothing could be decided yet, by row number. */
  readonly #held = new Map<number, MessengerEvent>();
  /** Commands that have run but whose end could not be stored, by the number of their row. */
  readonly #unended = new Map<number, RunCommand>();
  /** Events whose handler has run but whose end could not be stored, by row number. */
  readonly #handedOver = new Map<number, HandedOver>();

  constructor(options: EventHandlerParts) {
    this.#options = options;
  }

  /** Tells whether the event's command is still running. */
  isRunning(row: InboxRow): boolean {
    return this.#beside.has(row.seq);
  }

  /** Whether an earlier event of the chat, which may be the message that this one changes, must be decided first. */
  isBehind(row: InboxRow): boolean {
    const earlier = this.#options.arrivals.before(row);
    return earlier.some(({ seq }) => this.#held.has(seq) || !this.#beside.has(seq));
  }

  /** Stores the end of an event whose code has run, without running it again. Returns false if there is none. */
  async resume(row: InboxRow): Promise<boolean> {
    const ran = this.#handedOver.get(row.seq);
    if (ran !== undefined) {
      // Together, so that the content of an event is sent once.
      this.#options.database.transaction(() => {
        ran.post?.();
        this.#options.outcomes.end(row, ran.outcome);
      });
      this.#handedOver.delete(row.seq);
      return true;
    }
    const run = this.#unended.get(row.seq);
    if (run === undefined) return false;
    await this.#endCommand(row, run);
    this.#unended.delete(row.seq);
    return true;
  }

  /** Forgets an event that needs nothing more. */
  forget(row: InboxRow): void {
    this.#held.delete(row.seq);
    this.#unended.delete(row.seq);
    this.#handedOver.delete(row.seq);
  }

  async handle(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<void> {
    const { delivery, memory } = this.#options;
    this.#held.delete(row.seq);
    if (await this.#subscribes(event, definition)) memory.subscribe(event.thread.id);
    const sorting = this.#options.sorter.sort(event, definition);
    comesBack(delivery, event, sorting.kind === "ignore");
    switch (sorting.kind) {
      case "ignore":
        this.#options.outcomes.passOver(row, ignored(sorting.reason));
        return;
      case "membership":
        this.#options.outcomes.end(row, `membership: ${event.detail ?? "changed"}`);
        return;
      case "hand-over":
        if (sorting.to !== "onReaction" || (await this.#options.admission.mayUse(event, definition)))
          this.#handOver(row, event, sorting.to, definition);
        else this.#options.outcomes.end(row, "ignored: not allowed");
        return;
      case "stop":
        this.#options.outcomes.end(
          row,
          this.#options.answers.stopDraft(event) ? "stopped" : "ignored: the answer has ended already",
        );
        return;
      case "correct":
        await this.#correct(row, event, definition);
        return;
      case "withdraw":
        this.#withdraw(row, event);
        return;
      case "press": {
        const { action } = event;
        const answered =
          action === undefined
            ? Promise.resolve()
            : delivery.answerAction(addressOf(event), pressOf(event, action));
        if (!sorting.answer)
          this.#endAfter(
            row,
            answered.then(() => ({ outcome: "button answered" })),
          );
        else if (await this.#options.admission.admit(row, event, definition))
          await this.#queue(row, event, definition);
        return;
      }
      case "command":
        if (await this.#options.admission.admit(row, event, definition))
          await this.#command(row, event, sorting.command, definition);
        return;
      case "answer": {
        if (!(await this.#options.admission.admit(row, event, definition))) return;
        const taken = this.#options.asked.take(row, event, definition);
        if (typeof taken === "object") {
          this.#held.set(row.seq, event);
          // The intake looks at it again afterwards.
          this.#letRun(row, taken);
        }
        if (taken !== false) return;
        if (!(await this.#options.words.take(row, event, definition)))
          await this.#queue(row, event, definition);
        return;
      }
    }
  }

  /**
   * Tells whether the event subscribes the thread. Only people who may use the bot can do that; otherwise a stranger
   * could make it answer messages that nobody meant for it.
   */
  async #subscribes(event: MessengerEvent, definition: NormalizedMessengerDefinition): Promise<boolean> {
    if (!isInvitation(event) || !definition.subscribeOnMention) return false;
    return (
      !this.#options.memory.isSubscribed(event.thread.id) &&
      (await this.#options.admission.mayUse(event, definition))
    );
  }

  async #queue(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<void> {
    const { database, delivery, deps, inbox, memory } = this.#options;
    if (!(await this.#options.admission.admitToQueue(row, event, definition))) return;
    memory.endGivenUp(event.thread.id);
    // The limit check is asynchronous, so the state may have changed since.
    const current = atCurrentPlace(delivery, event);
    database.transaction(() => queueMessage(inbox, row, current, deps.clock.now()));
    this.#options.outcomes.queued(row);
  }

  async #correct(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<void> {
    const target = waitingMessage(this.#options.inbox, event);
    if (target !== undefined) {
      this.#options.inbox.correct(target.seq, correctedEvent(target, event));
      this.#options.outcomes.end(row, "edit applied to the waiting message");
    } else if (!this.#options.answers.mayRerun(event)) {
      if (this.isBehind(row)) return this.#options.outcomes.left(row);
      this.#options.answers.keepEdit(event);
      this.#options.outcomes.passOver(row, ignored("edit of a message that is not waiting"));
    } else if (!(await this.#options.admission.takeFromLimits(row, event, definition))) {
      this.#options.answers.keepEdit(event);
      this.#options.outcomes.passOver(row, ignored("edit over the limit"));
    } else {
      const isRerun = this.#options.answers.rerun(event);
      // The limit check is asynchronous, so the state may have changed since.
      if (!isRerun) this.#options.answers.keepEdit(event);
      this.#options.outcomes.end(
        row,
        isRerun ? "edit: answered again" : ignored("edit of a message that is not waiting"),
      );
    }
  }

  #withdraw(row: InboxRow, event: MessengerEvent): void {
    const { inbox, outcomes, questions } = this.#options;
    const target = waitingMessage(inbox, event) ?? this.#heldFor(row, event);
    if (target === undefined) {
      questions?.messageDeleted(event);
      if (this.isBehind(row)) return outcomes.left(row);
    } else {
      outcomes.end(target, "withdrawn by its author");
      outcomes.settle(target);
      this.#held.delete(target.seq);
    }
    outcomes.end(row, target === undefined ? "deletion recorded" : "deletion applied to the waiting message");
  }

  /** Returns the held message that a deletion belongs to. */
  #heldFor(row: InboxRow, deletion: MessengerEvent): InboxRow | undefined {
    return this.#options.arrivals.before(row).find(({ seq }) => isOfMessage(deletion, this.#held.get(seq)));
  }

  /** Runs a command. A slow handler runs beside the intake, so later events, such as `/stop`, do not wait for it. */
  async #command(
    row: InboxRow,
    event: MessengerEvent,
    command: MessengerCommand,
    definition: NormalizedMessengerDefinition,
  ): Promise<void> {
    const { bot, cards } = this.#options;
    const end = async (outcome: CommandOutcome): Promise<void> => {
      this.#unended.set(row.seq, { event, command, definition, outcome });
      await this.resume(row);
    };
    const reply = (index: number, content: ReadyContent): void =>
      cards.post(
        {
          id: `command:${row.seq}:${index}`,
          ...postingOf(event, definition),
          owner: bot.ownerOf?.(command.name),
        },
        content,
      );
    const outcome = runCommand(command, event, definition.delivery, this.#options, reply);
    if (!(outcome instanceof Promise)) {
      await end(outcome);
      return;
    }
    this.#letRun(row, outcome.then(end));
  }

  /** Lets work go on beside the intake. It must end with the end of the row. */
  #letRun(row: InboxRow, work: Promise<unknown>): void {
    this.#beside.add(row.seq);
    void work
      .then(() => this.#options.outcomes.settle(row))
      .catch(() => {
        // The intake resumes the event and logs the failure.
      })
      .finally(() => {
        this.#beside.delete(row.seq);
        this.#options.loop.poke();
      });
  }

  /**
   * Runs the bot's handler beside the intake. Its event is done when the handler has ended. So the handler runs again
   * only if the process dies before that.
   */
  #handOver(
    row: InboxRow,
    event: MessengerEvent,
    hook: EventHook,
    definition: NormalizedMessengerDefinition,
  ): void {
    const { cards, contexts, deps, log } = this.#options;
    const own = { clock: deps.clock, log: log.with(eventFields(event.messengerId, event)) };
    const run = async (): Promise<HandedOver> => {
      try {
        const content = await runBotCode(own, hook, async () => {
          const returned = await contexts.inContext(event, (context) => this.#callHook(hook, event, context));
          return returned ? cards.prepareOrTell(event.messengerId, returned) : undefined;
        });
        const outcome = `handed to ${hook}`;
        if (content === undefined) return { outcome };
        if (hasLeft(event)) return { outcome: `${outcome}; the bot cannot write there any more` };
        const post = (): void =>
          cards.post({ id: `event:${row.seq}`, ...postingOf(event, definition) }, content);
        return { outcome, post };
      } catch {
        // The log has the reason. The handler may already have done something, so it does not run again.
        return { outcome: `handed to ${hook}, which failed` };
      }
    };
    this.#endAfter(row, run());
  }

  /** Ends an event when its code has run, beside the intake. */
  #endAfter(row: InboxRow, running: Promise<HandedOver>): void {
    const end = (ran: HandedOver): Promise<boolean> => {
      this.#handedOver.set(row.seq, ran);
      return this.resume(row);
    };
    this.#letRun(row, running.then(end));
  }

  async #callHook(hook: EventHook, event: MessengerEvent, context: MessengerContext): Promise<HookContent> {
    const { bot, messengers } = this.#options;
    const { onChatMember, onReaction, onUpdate } = eventHandlers(messengers, bot, event.messengerId);
    if (hook === "onUpdate") await onUpdate?.(event);
    else if (hook === "onReaction") await onReaction?.(context);
    else if (isMemberEvent(context)) return onChatMember?.(context);
    return undefined;
  }

  async #endCommand(row: InboxRow, { command, definition, event, outcome }: RunCommand): Promise<void> {
    const { post, prompt } = outcome;
    if (prompt === undefined || event.message === undefined) {
      // Together, so that the reply is sent once.
      this.#options.database.transaction(() => {
        post?.();
        this.#options.outcomes.end(row, `command: ${command.name}`);
      });
      return;
    }
    const { command: _command, ...message } = event.message;
    await this.#queue(row, { ...event, message: { ...message, text: prompt } }, definition);
  }
}

function isMemberEvent(context: MessengerContext): context is ChatMemberEvent {
  return context.member !== undefined;
}

function hasLeft({ member }: MessengerEvent): boolean {
  return member?.change === "blocked" || member?.change === "removed";
}
