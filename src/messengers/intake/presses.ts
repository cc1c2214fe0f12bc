import { BOT_CODE_LIMIT_MS, logBotFailure } from "../../core/time/bot-code.ts";
import { parseCardToken } from "../../core/chat/card-token.ts";
import type { FeaturePress, PressAnswer } from "../../core/chat/card-press.ts";
import type { Json } from "../../core/message/content.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { withinTime } from "../../core/time/within-time.ts";
import type { InboxRow } from "../../inbox/inbox-store.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { safeText } from "../declare/texts.ts";
import type { SafeText } from "../../core/chat/messenger-options.ts";
import { addressOf } from "../replies/address-of.ts";
import type { StoredButton, StoredCard } from "../replies/card-store.ts";
import type { Admission } from "./admission.ts";
import type { EventOutcomes } from "./event-outcomes.ts";
import { PressAnswers } from "./press-answers.ts";
import type { PressNotice } from "./press-answers.ts";
import { RepeatedPresses } from "./repeated-presses.ts";
import type { IntakeParts } from "./intake-parts.ts";

export interface PressesParts extends IntakeParts {
  readonly admission: Admission;
}

/** Stands for the payload of a message that quotes a card and is handled like a press. */
const REPLY = { isReply: true } as const;

/** Whether a press is a message that quotes the card: see `OpenQuestions.takesReply`. */
export function isReply(payload: Json): boolean {
  return typeof payload === "object" && payload !== null && "isReply" in payload;
}

/**
 * Presses of the cards that this conversation has posted.
 *
 * 1. The handler begins at most once for a press, across redelivery, crash and restart. Its beginning is stored first,
 *    or with its effect (`storesPress`): then a press that had no effect yet is handled again, and none is interrupted.
 * 2. Every press is answered: with the handler's return value, or with nothing after 10 s, also if `allow` is slow or
 *    fails. It is answered with a safe text if the handler throws, the process died while it ran, or the card has
 *    changed since. The second tap of a person on a button that the first one has replaced is answered with nothing,
 *    unless the handler of the first one has failed.
 * 3. A press ends when the call that answers it has ended. If the process dies before that, the next one answers.
 * 4. Handlers and answers run beside the intake: later events do not wait for them.
 */
export class Presses {
  readonly #options: PressesParts;
  readonly #outcomes: EventOutcomes;
  readonly #answers: PressAnswers;
  readonly #repeated: RepeatedPresses;
  /** Rows whose handler is running, or whose answer is on its way. */
  readonly #running = new Set<number>();
  /** Presses that had begun when this process first looked. */
  #begunBefore: ReadonlySet<string> | undefined;
  /** Outcomes of presses that were answered but whose end could not be stored, by row number. */
  readonly #unended = new Map<number, string>();

  constructor(options: PressesParts, outcomes: EventOutcomes) {
    this.#options = options;
    this.#outcomes = outcomes;
    this.#answers = new PressAnswers(options);
    this.#repeated = new RepeatedPresses(options.deps.clock);
  }

  /** Forgets a press that is given up. */
  forget(row: InboxRow): void {
    this.#answers.end(row);
    this.#unended.delete(row.seq);
  }

  isRunning(row: InboxRow): boolean {
    return this.#running.has(row.seq);
  }

  /** Whether the handler of an event has begun in a process that died. */
  hasBegunBefore(row: InboxRow): boolean {
    this.#begunBefore ??= new Set(this.#options.cards.store.begunPresses());
    return this.#begunBefore.has(row.key);
  }

  /** Ends a message whose handler has begun in a process that died. Its card may ask for something else by now. */
  begunBefore(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<void> {
    return this.#take(row, event, definition, undefined, undefined);
  }

  /** Handles a press of a button. */
  async pressed(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): Promise<void> {
    const token = parseCardToken(event.action?.data ?? "");
    const card = token === undefined ? undefined : this.#options.cards.find(token.key, addressOf(event));
    const button = card?.buttons.find((one) => one.button === token?.button);
    const messageId = event.action?.messageId;
    if (card !== undefined && messageId !== undefined)
      this.#options.delivery.learnMessage(card.id, addressOf(event), messageId);
    await this.#take(row, event, definition, card, button);
  }

  /** Whether the card's owner handles a message that quotes it. */
  takesReply(event: MessengerEvent, key: string): boolean {
    const card = this.#options.cards.find(key, addressOf(event));
    return card !== undefined && this.#options.questions?.takesReply(card.id, event) === true;
  }

  /** Handles a message that quotes a card, for which `takesReply` is true. */
  async replied(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
    key: string,
  ): Promise<void> {
    const card = this.#options.cards.find(key, addressOf(event));
    await this.#take(row, event, definition, card, { button: "", label: "", payload: REPLY });
  }

  /** Handles a message that is the number of an option. */
  async typed(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
    key: string,
    option: number,
  ): Promise<void> {
    const card = this.#options.cards.find(key, addressOf(event));
    await this.#take(row, event, definition, card, card?.buttons[option - 1]);
  }

  async #take(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
    card: StoredCard | undefined,
    button: StoredButton | undefined,
  ): Promise<void> {
    const { admission, cards, deps } = this.#options;
    const unended = this.#unended.get(row.seq);
    if (unended !== undefined) return this.#end(row, unended);
    this.#answers.begin(row, event, definition, card);
    const answer = (notice: PressNotice | undefined, outcome: string): void => {
      this.#beside(row, async () => {
        await this.#answers.give(row, notice);
        return outcome;
      });
    };
    const refuse = (text: SafeText, outcome: string): void =>
      answer(this.#notice(text, event, definition), outcome);
    if (!(await admission.mayUse(event, definition)))
      return refuse("refusedResponseText", "refused: not allowed");
    // Its handler may have changed the card before the process died.
    const begun = cards.store.begunPress(row.key);
    if (begun?.isHandled === true) return answer(undefined, "press: handled");
    if (begun !== undefined) {
      this.#options.log.warn("press.interrupted", eventFields(event.messengerId, event));
      return refuse("interruptedActionResponseText", "press: interrupted, not handled again");
    }
    if (card !== undefined && button === undefined && this.#repeated.has(card, event))
      return answer(undefined, "ignored: pressed a moment ago");
    if (card === undefined || button === undefined) {
      const reason = card === undefined ? "its card is gone" : "its card has changed";
      return refuse("staleActionResponseText", `ignored: ${reason}`);
    }
    if (this.#options.questions?.storesPress?.(card.id, card.owner) !== true)
      cards.store.beginPress(row.key, deps.clock.now(), false);
    this.#repeated.begin(card, event);
    this.#beside(row, () => this.#handle(row, event, definition, card, button));
  }

  /** Ends a press with the outcome of work that goes on beside the intake. */
  #beside(row: InboxRow, work: () => Promise<string>): void {
    this.#running.add(row.seq);
    void work()
      .then((outcome) => {
        this.#unended.set(row.seq, outcome);
        this.#end(row, outcome);
        this.#outcomes.settle(row);
      })
      .catch(() => {
        // The end of the press could not be stored. The intake takes it again, and logs the failure.
      })
      .finally(() => {
        this.#running.delete(row.seq);
        this.#options.loop.poke();
      });
  }

  #end(row: InboxRow, outcome: string): void {
    const { cards, database } = this.#options;
    database.transaction(() => {
      this.#outcomes.end(row, outcome);
      cards.store.endPress(row.key);
    });
    this.forget(row);
  }

  async #handle(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
    card: StoredCard,
    button: StoredButton,
  ): Promise<string> {
    const { hasFailed, notice, outcome } = await this.#run(row, event, definition, card, button);
    const isStillThere = this.#options.cards.store
      .read(card.id)
      ?.buttons.some((one) => one.button === button.button);
    if (hasFailed || isStillThere === true) this.#repeated.forget(card, event);
    await this.#answers.give(row, notice);
    return outcome;
  }

  /** Runs the bot's handler. Never throws. */
  async #run(
    row: InboxRow,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
    card: StoredCard,
    { label, payload }: StoredButton,
  ): Promise<{
    readonly notice: PressNotice | undefined;
    readonly outcome: string;
    readonly hasFailed: boolean;
  }> {
    const { bot, cards, contexts, deps, log } = this.#options;
    const press: FeaturePress = {
      cardId: card.id,
      payload,
      label,
      person: event.author,
      chat: event.thread,
      isTyped: event.action === undefined,
      event,
      handled: () => cards.store.beginPress(row.key, deps.clock.now(), true),
    };
    try {
      const running = contexts.inContext(event, () => bot.onAction(press, card.owner));
      const answer = await withinTime(deps.clock, BOT_CODE_LIMIT_MS, running, "onAction()");
      const notice = noticeOf(answer, card.owner !== "");
      return { notice, outcome: "press: handled", hasFailed: false };
    } catch (error) {
      logBotFailure(log.with(eventFields(event.messengerId, event)), "onAction", error);
      const notice = this.#notice("errorResponseText", event, definition);
      return { notice, outcome: "press: its handler failed", hasFailed: true };
    }
  }

  #notice(
    text: SafeText,
    event: MessengerEvent,
    definition: NormalizedMessengerDefinition,
  ): PressNotice | undefined {
    const words = safeText(definition.delivery, text, event, this.#options.log);
    return noticeOf({ text: words, alert: true }, true);
  }
}

/** @throws {TypeError} if the bot's handler returned anything else */
function noticeOf(answer: PressAnswer, isForAll: boolean): PressNotice | undefined {
  if (answer === undefined) return undefined;
  const notice = typeof answer === "string" ? { text: answer } : answer;
  if (typeof notice?.text !== "string")
    throw new TypeError("onAction() must return a text, { text, alert } or nothing.");
  return notice.text === "" ? undefined : { ...notice, isForAll };
}
