import type { CardBody, Delivery } from "../../../src/core/delivery.ts";
import type { Life } from "../machine/life.ts";
import { FIELDS } from "./ask-one.ts";
import { AskedFields } from "./asked-fields.ts";
import type { Invariant } from "./contract.ts";
import type { ShownContent } from "../platform/platform.ts";
import { faceOf, idOf, LEFT, numberOf, QUESTION } from "./form-face.ts";
import type { FormFace } from "./form-face.ts";
import { WRITTEN } from "./written-as.ts";

/** A message of a person while an action asks somebody. */
export interface Typed {
  readonly threadId: string;
  readonly person: string;
  /** Words of the question that it quotes. */
  readonly quotes: string | undefined;
  /** Cards and questions that the person could see before. */
  readonly seenCards: ReadonlySet<string>;
  readonly seenQuestions: ReadonlySet<string>;
  /** The cards of questions that could be answered, as far as the person could see them, by the words of the questions. */
  readonly open: ReadonlyMap<string, string>;
  /** Words of the question that it has answered, and the card, if that is known. */
  reached: string | undefined;
  answered: string | undefined;
}

/** Something that a person does, in the order of all. */
interface Done {
  /** Number of a message. Undefined for a press. */
  readonly number?: number;
  /** The card whose question it has moved, if that is known. */
  readonly card: () => string | undefined;
}

export interface FormWatchOptions {
  readonly fail: (invariant: Invariant, message: string) => void;
  /** The chat in which a question is asked, and the person who is asked. */
  readonly askedIn: (
    question: string,
  ) =>
    | { readonly threadId: string; readonly person: string | undefined; readonly isGroup: boolean }
    | undefined;
}

/**
 * Knows what the cards of questions were told to show, and what people wrote meanwhile (I14). A message answers at most
 * one question: one that its author was asked in its chat, whose card was there before, and the one that it quotes, if
 * it quotes one. A field that has a value keeps it until the person gives another one.
 */
export class FormWatch {
  readonly typed = new Map<number, Typed>();
  /** The messages at which hints point, by the ids of the hints. */
  readonly hints = new Map<string, string | undefined>();
  readonly #options: FormWatchOptions;
  readonly #done: Done[] = [];
  readonly #byToken = new Map<string, FormFace>();
  /** Words of questions, by their ids in the product. */
  readonly #words = new Map<string, string>();
  /** Fields that have a value, by question. */
  readonly #filled = new Map<string, Set<string>>();
  /** The newest card of each question. */
  readonly #newest = new Map<string, string>();
  readonly #asked = new AskedFields();
  readonly #summaries = new Map<string, FormFace>();

  constructor(options: FormWatchOptions) {
    this.#options = options;
  }

  /** Listens to a delivery before anybody uses it. Calls of a killed process are ignored. */
  watch(delivery: Delivery, life: Life): void {
    const sendCard = delivery.sendCard.bind(delivery);
    const revise = delivery.revise.bind(delivery);
    const send = delivery.send.bind(delivery);
    Object.assign(delivery, {
      send: (start, text, options) => {
        if (!life.isDead && start.id.startsWith("hint:"))
          this.hints.set(`${start.address.threadId} ${start.id}`, start.replyTo);
        send(start, text, options);
      },
      sendCard: (start, body, options) => {
        if (!life.isDead) this.#shows(start.id, body, life);
        sendCard(start, body, options);
      },
      revise: (id, body, ifDeleted) => {
        if (!life.isDead) this.#shows(id, body, life);
        return revise(id, body, ifDeleted);
      },
    } satisfies Partial<Delivery>);
  }

  /** A person writes a message. */
  wrote(number: number, typed: Omit<Typed, "open" | "reached" | "answered">): void {
    const open = new Map([...this.#newest].filter(([, card]) => typed.seenCards.has(card)));
    this.typed.set(number, { ...typed, open, reached: undefined, answered: undefined });
    this.#done.push({ number, card: () => this.typed.get(number)?.answered });
  }

  /** A person presses a button of a card. `isTaken`: whether its question was open then, as far as is known */
  pressed(
    face: Pick<FormFace, "cardId" | "field" | "kind" | "question">,
    label: string,
    isTaken: () => boolean,
  ): void {
    this.#done.push({ card: () => (isTaken() ? face.cardId : undefined) });
    this.#asked.pressed(face, label);
  }

  /** The state of the card whose buttons a message has. */
  faceIn({ buttons = [] }: Pick<ShownContent, "buttons">): FormFace | undefined {
    const tokens = buttons.flat().flatMap((one) => (one.kind === "callback" ? one.token : []));
    return tokens.map((token) => this.#byToken.get(token)).find(Boolean);
  }

  /** The last summary of a question, as the person could send it. */
  summaryOf(question: string): FormFace | undefined {
    return this.#summaries.get(question);
  }

  /**
   * The values of a question show what people have written.
   *
   * @param isText whether they are free text. Otherwise what they look like tells it
   * @param cardId the card that was answered, if it is known
   */
  shows(question: string, values: string, isText: boolean, cardId?: string): void {
    for (const [, prefix, number] of values.matchAll(WRITTEN))
      this.#reaches(Number(number), question, isText || prefix === "m", cardId);
  }

  #reaches(number: number, question: string, isText: boolean, cardId: string | undefined): void {
    const written = this.typed.get(number);
    const asked = this.#options.askedIn(question);
    const name = `message ${number}`;
    if (written === undefined || asked === undefined)
      return this.#fail(`${question} gets ${number}, which nobody has written`);
    const { person, quotes, reached, seenCards, seenQuestions, threadId } = written;
    if (reached !== undefined && reached !== question)
      this.#fail(`${name} answers ${reached} and ${question}`);
    written.reached = question;
    written.answered ??= cardId;
    if (threadId !== asked.threadId) this.#fail(`${name} answers ${question}, which is asked elsewhere`);
    if (person !== asked.person) this.#fail(`${name} of ${person} answers ${question}, who was not asked`);
    if (quotes !== undefined && quotes !== question)
      this.#fail(`${name} quotes ${quotes}, and answers ${question}`);
    if (quotes === undefined && isText && asked.isGroup)
      this.#fail(`${name} is free text in a group, quotes nothing, and answers ${question}`);
    const isSeen = cardId === undefined ? seenQuestions.has(question) : seenCards.has(cardId);
    if (!isSeen) this.#fail(`${name} answers ${cardId ?? question}, and was written before it`);
  }

  /**
   * A message that quotes nothing is about the newest question of its author whose card was there before. Another one
   * was certainly open if a later message or press has answered the same card.
   */
  checkOrder(): void {
    const order = [...this.#words.keys()];
    for (const [at, { number }] of this.#done.entries()) {
      const { open, quotes, reached } = this.typed.get(number ?? -1) ?? {};
      if (open === undefined || reached === undefined || quotes !== undefined) continue;
      const orderOf = (card = ""): number => order.indexOf(idOf(card) ?? "");
      const mine = this.#options.askedIn(reached);
      const newer = [...open].find(([question, card]) => {
        const other = this.#options.askedIn(question);
        const isSame = mine?.threadId === other?.threadId && mine?.person === other?.person;
        const isNewer = isSame && orderOf(card) > orderOf(open.get(reached));
        return isNewer && this.#done.slice(at + 1).some((later) => later.card() === card);
      });
      if (newer !== undefined) this.#fail(`message ${number} answers ${reached}, and ${newer[0]} is newer`);
    }
  }

  #shows(cardId: string, body: CardBody, life: Life): void {
    const id = idOf(cardId);
    if (id === undefined) return;
    const [words] = QUESTION.exec(body.text) ?? [];
    if (words !== undefined && !this.#words.has(id)) this.#words.set(id, words);
    const question = this.#words.get(id);
    if (question === undefined) return;
    const face = faceOf(question, cardId, body);
    // People may still see an earlier one, above what they have written.
    const isNewest = numberOf(cardId) >= numberOf(this.#newest.get(question) ?? cardId);
    if (isNewest) this.#newest.set(question, cardId);
    for (const button of (body.buttons ?? []).flat())
      if (button.kind === "callback") this.#byToken.set(button.token, face);
    if (face.kind === "summary") this.#summaries.set(question, face);
    const filled = this.#filledIn(face);
    if (this.#asked.isAskedAgain(id, face, filled.has(face.field), life))
      this.#fail(`${question} asks for its ${face.field} again`);
    const [, answered, left = ""] = LEFT.exec(body.text.replaceAll("\\", "")) ?? [];
    if (answered !== undefined) filled.add(answered);
    this.shows(question, left, false, cardId);
    const isSingle = face.values.has("");
    const values = [...face.values.values(), ...face.labels].join(" ");
    this.shows(question, values, false, isSingle ? cardId : undefined);
  }

  /** Returns the fields that have a value. The way back and forward, and to one field, keeps every value. */
  #filledIn({ field, kind, labels, question, values }: FormFace): Set<string> {
    const filled = this.#filled.get(question) ?? new Set();
    this.#filled.set(question, filled);
    if (kind === "summary") for (const name of values.keys()) filled.add(name);
    if (kind !== "field" || field === "") return filled;
    for (const name of FIELDS.slice(0, FIELDS.indexOf(field))) filled.add(name);
    if (filled.has(field) && !labels.some((label) => label.startsWith("Keep ")))
      this.#fail(`${question} has forgotten its ${field}`);
    return filled;
  }

  #fail(message: string): void {
    this.#options.fail("I14", message);
  }
}
