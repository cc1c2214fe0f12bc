import type { SchemaIssue } from "../core/json/check-value.ts";
import type { Json } from "../core/message/content.ts";
import type { MessengerAuthor } from "../core/chat/messenger-event.ts";
import { Sweep } from "../core/store/sweep-store.ts";
import type { FormEvent, FormStep } from "../forms/form.ts";
import { stepForm } from "../forms/step-form.ts";
import type { QuestionsHost } from "./bot-methods.ts";
import type { QuestionCards } from "./question-cards.ts";
import type { QuestionStore } from "./question-store.ts";
import { isSensitive } from "./question.ts";
import type { Question, QuestionEnd } from "./question.ts";

export interface QuestionsOptions {
  readonly host: Pick<QuestionsHost, "database" | "deps" | "log" | "wakeSoon">;
  readonly cards: QuestionCards;
  readonly store: QuestionStore;
  /** Gives the answer to the call that waits for it. Called in the transaction that stores the end, once. */
  readonly onEnded: (question: Question, answer: Json, end: QuestionEnd) => void;
}

/** Stands for the value of a sensitive field. */
const HIDDEN = "•••";
/** A question that is open again. */
const REOPENED = {
  end: undefined,
  endedAt: undefined,
  answer: undefined,
  by: undefined,
  isUnchecked: false,
} as const;
const KEEP_MS = 90 * 24 * 60 * 60 * 1000;

/**
 * The questions of one conversation, from their cards to their answers.
 *
 * 1. A question has one end. It is stored in one transaction with the answer for whoever waits, and with the cards.
 * 2. Only the person who was asked at a place moves the form of that place.
 * 3. Values of sensitive fields are gone from the question when it has ended.
 * 4. An open question wakes the object for its reminder and its expiry, and for nothing else.
 * 5. An answer with a secret is unchecked until its schema has accepted it: a person may send a better one before.
 */
export class Questions {
  readonly store: QuestionStore;
  readonly #options: QuestionsOptions;
  readonly #sweep: Sweep;
  #checked = Promise.withResolvers<void>();

  constructor(options: QuestionsOptions) {
    const { database, deps } = options.host;
    this.#options = options;
    this.store = options.store;
    const old = [
      { table: "question_v1", key: "id", where: "is_delivered = 1", since: "ended_at", keepMs: KEEP_MS },
    ];
    this.#sweep = new Sweep(database, deps.clock, old);
  }

  /** Stores a question and its cards. Only inside a transaction. */
  ask(question: Question): void {
    this.store.insert(question);
    const { cards } = this.#options;
    cards.draw(question);
    for (const earlier of this.store.unchecked())
      if (earlier.call?.id === question.call?.id) cards.draw(earlier, true);
    this.#tellChecked();
    this.#log(question, "asked");
  }

  /** Returns the outcome of an event at a place, and stores nothing. */
  look(question: Question, place: number, event: FormEvent): FormStep | undefined {
    const [state, asked] = [question.forms[place], question.askedIn[place]];
    if (state === undefined || asked === undefined) return undefined;
    return stepForm(question.form, state, event, this.#options.cards.context(question, place, asked));
  }

  /**
   * Stores the outcome of an event. Only inside a transaction.
   *
   * @param isWritten whether the event is a message, which stands below the card
   */
  move(
    question: Question,
    place: number,
    { result, state }: FormStep,
    by: MessengerAuthor,
    isWritten: boolean,
  ): void {
    const moved = { ...question, forms: question.forms.with(place, state) };
    if (result === undefined) {
      const below = isWritten ? this.#options.cards.leave(question, place, state) : undefined;
      const askedIn = below === undefined ? question.askedIn : question.askedIn.with(place, below);
      this.store.change(question.id, { forms: moved.forms, askedIn });
      this.#options.cards.draw({ ...moved, askedIn });
      return;
    }
    const { kind } = result;
    if (kind === "send") this.#end(moved, "answered", { value: result.value }, by);
    else this.#end(moved, "declined", { why: "declined" }, by);
  }

  /** Resolves when an unchecked answer is one no more, or people are asked again. */
  get nextChecked(): Promise<void> {
    return this.#checked.promise;
  }

  /** The answers to these questions are not refused any more. */
  accept(isMeant: (question: Question) => boolean): void {
    const accepted = this.store.unchecked().filter(isMeant);
    for (const question of accepted) {
      const changes = { isUnchecked: false, isDelivered: question.call !== undefined };
      this.store.change(question.id, changes);
      this.#options.cards.draw({ ...question, ...changes });
    }
    if (accepted.length > 0) this.#tellChecked();
  }

  #tellChecked(): void {
    const { resolve } = this.#checked;
    this.#checked = Promise.withResolvers();
    resolve();
  }

  /** Ends an open question with an answer that no card has taken. Only inside a transaction. */
  answer(question: Question, value: Json, by: MessengerAuthor | undefined): void {
    this.#end(question, "answered", { value }, by);
  }

  /** Ends an open question without an answer. Only inside a transaction. */
  close(question: Question, end: Exclude<QuestionEnd, "answered">, by?: MessengerAuthor): void {
    this.#end(question, end, { why: end }, by);
  }

  /** Asks again, because the schema has refused the answer. Only inside a transaction. */
  reopen(question: Question, value: Json, issues: readonly SchemaIssue[]): void {
    const { cards, host } = this.#options;
    const { createdAt, expiresAt, form, forms } = question;
    const [state] = forms;
    const now = host.deps.clock.now();
    if (state === undefined) return;
    const values = form.isSingle ? { "": value } : { ...state.values, ...(value as object) };
    const open = { ...question, forms: [{ ...state, values }], ...REOPENED };
    const step = this.look(open, 0, { kind: "refused", issues });
    if (step === undefined) return;
    const changes = {
      ...REOPENED,
      forms: [step.state],
      createdAt: now,
      expiresAt: now + (expiresAt - createdAt),
    };
    this.store.change(question.id, changes);
    cards.draw({ ...question, ...changes });
    cards.refuse({ ...question, ...changes }, step.problem ?? "");
    this.#tellChecked();
    this.#log(question, "asked-again");
  }

  /** Ends and reminds what is due. */
  run(): void {
    const { cards, host } = this.#options;
    const { database, deps } = host;
    const now = deps.clock.now();
    for (const question of this.store.open()) {
      if (now >= question.expiresAt) database.transaction(() => this.close(question, "expired"));
      else if (now >= (question.remindAt ?? Infinity))
        database.transaction(() => {
          this.store.change(question.id, { remindAt: undefined });
          cards.remind(question);
        });
    }
    this.#sweep.run();
  }

  /** Time of the next reminder or expiry, in epoch milliseconds. Undefined if no question is open. */
  nextWakeAt(): number | undefined {
    const times = this.store
      .open()
      .map(({ expiresAt, remindAt = Infinity }) => Math.min(expiresAt, remindAt));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #end(question: Question, end: QuestionEnd, answer: Json, by: MessengerAuthor | undefined): void {
    const { cards, host, onEnded } = this.#options;
    const { askedIn, call, form } = question;
    const isOfBot = call === undefined;
    const isUnchecked = end === "answered" && isSensitive(form) && askedIn.length > 0;
    // Nobody is going to send a better one.
    if (!isUnchecked && !isOfBot) this.accept((other) => other.call?.id === call.id);
    const changes = {
      forms: question.forms.map((state) => ({ ...state, values: masked(question, state.values) })),
      end,
      endedAt: host.deps.clock.now(),
      remindAt: undefined,
      answer: isOfBot ? answer : undefined,
      by,
      isDelivered: !isOfBot && !isUnchecked,
      isUnchecked,
    };
    this.store.change(question.id, changes);
    const ended = { ...question, ...changes };
    onEnded(ended, answer, end);
    cards.draw(ended);
    cards.withdrawBelow(question);
    this.#log(question, end);
    host.wakeSoon();
  }

  /** Says neither what was asked nor what was answered. */
  #log({ call, id, name }: Question, state: QuestionEnd | "asked" | "asked-again"): void {
    const from = call === undefined ? { name } : { call: call.id };
    this.#options.host.log.info("question.changed", { question: id, state, ...from });
  }
}

function masked({ form }: Question, values: Readonly<Record<string, Json>>): Record<string, Json> {
  const hidden = form.fields.filter(({ isSensitive, name }) => isSensitive === true && name in values);
  return { ...values, ...Object.fromEntries(hidden.map(({ name }) => [name, HIDDEN])) };
}
