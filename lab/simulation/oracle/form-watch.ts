import type { CardBody, Delivery } from "../../../src/core/chat/delivery.ts";
import type { Life } from "../machine/life.ts";
import { FIELDS } from "./ask-one.ts";
import { AskedFields } from "./asked-fields.ts";
import type { Invariant } from "./contract.ts";
import type { ShownContent } from "../platform/platform.ts";
import { faceOf, idOf, LEFT, numberOf, placeOf, QUESTION } from "./form-face.ts";
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

/** A chat in which a question is asked, and the person who is asked there: undefined if everybody is. */
export interface AskedAt {
  readonly threadId: string;
  readonly person: string | undefined;
}

/** A question, as far as its messages are judged. */
export interface AskedQuestion {
  readonly places: readonly AskedAt[];
  /** The chat whose conversation asks for itself. Elsewhere a message must quote the question, unless it is a secret. */
  readonly home: string | undefined;
  readonly isSecret: boolean;
}

export interface FormWatchOptions {
  readonly fail: (invariant: Invariant, message: string) => void;
  readonly isGroup: (threadId: string) => boolean;
  readonly asked: (question: string) => AskedQuestion | undefined;
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
  /** Fields that have a value, by question and place, as all below. */
  readonly #filled = new Map<string, Set<string>>();
  /** The processes that have left a card above the message which has answered a field. */
  readonly #left = new Map<string, Life>();
  /** The newest card. */
  readonly #newest = new Map<string, FormFace>();
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
        // While a secret is asked for, each message gets one.
        const isKept = text.includes("haven't passed your message on");
        if (!life.isDead && start.id.startsWith("hint:") && !isKept)
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
    const newest = [...this.#newest.values()].filter(({ cardId }) => typed.seenCards.has(cardId));
    const open = new Map(newest.map(({ cardId, question }) => [question, cardId]));
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

  /** The last summaries of a question, as people could send them. */
  summariesOf(question: string): readonly FormFace[] {
    return [...this.#summaries.values()].filter((face) => face.question === question);
  }

  /** The words of a question, by its id in the product. */
  wordsOf(id: string): string | undefined {
    return this.#words.get(id);
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
    const asked = this.#options.asked(question);
    const name = `message ${number}`;
    if (written === undefined || asked === undefined)
      return this.#fail(`${question} gets ${number}, which nobody has written`);
    const { person, quotes, reached, threadId } = written;
    if (reached !== undefined && reached !== question)
      this.#fail(`${name} answers ${reached} and ${question}`);
    written.reached = question;
    written.answered ??= cardId;
    const here = asked.places.filter((place) => place.threadId === threadId);
    if (here.length === 0) this.#fail(`${name} answers ${question}, which is asked elsewhere`);
    else if (here.every((place) => (place.person ?? person) !== person))
      this.#fail(`${name} of ${person} answers ${question}, who was not asked`);
    // A message that may hold a secret is about that, whatever it quotes.
    if (asked.isSecret) return;
    if (quotes !== undefined && quotes !== question)
      this.#fail(`${name} quotes ${quotes}, and answers ${question}`);
    if (quotes === undefined && isText && this.#options.isGroup(threadId))
      this.#fail(`${name} is free text in a group, quotes nothing, and answers ${question}`);
    if (quotes === undefined && asked.home !== threadId)
      this.#fail(`${name} quotes nothing, and answers ${question} of another conversation`);
    this.#checkSeen(written, name, question, cardId);
  }

  #checkSeen(
    { seenCards, seenQuestions }: Typed,
    name: string,
    question: string,
    cardId: string | undefined,
  ): void {
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
      const { open, person, quotes, reached, threadId } = this.typed.get(number ?? -1) ?? {};
      if (open === undefined || reached === undefined || quotes !== undefined) continue;
      const orderOf = (card = ""): number => order.indexOf(idOf(card) ?? "");
      const isOwn = (question: string): boolean => {
        const { home, places = [] } = this.#options.asked(question) ?? {};
        return home === threadId && places.some((one) => one.person === person && one.threadId === threadId);
      };
      const newer = [...open].find(([question, card]) => {
        const isSame = isOwn(question) && isOwn(reached);
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
    const place = placeOf(cardId);
    const isNewest = numberOf(cardId) >= numberOf(this.#newest.get(place)?.cardId ?? cardId);
    if (isNewest) this.#newest.set(place, face);
    for (const button of (body.buttons ?? []).flat())
      if (button.kind === "callback") this.#byToken.set(button.token, face);
    if (face.kind === "summary") this.#summaries.set(place, face);
    if (this.#asked.isAskedAgain(face, this.#hasValue(face), life))
      this.#fail(`${question} asks for its ${face.field} again`);
    const [, answered, left = ""] = LEFT.exec(body.text.replaceAll("\\", "")) ?? [];
    if (answered !== undefined) this.#left.set(`${place} ${answered}`, life);
    this.shows(question, left, false, cardId);
    const isSingle = face.values.has("");
    const values = [...face.values.values(), ...face.labels].join(" ");
    this.shows(question, values, false, isSingle ? cardId : undefined);
  }

  /** Whether a field has a value. The way back and forward, and to one field, keeps every value. */
  #hasValue({ cardId, field, kind, labels, question, values }: FormFace): boolean {
    const place = placeOf(cardId);
    const filled = this.#filled.get(place) ?? new Set();
    this.#filled.set(place, filled);
    if (kind === "summary") for (const name of values.keys()) filled.add(name);
    if (kind !== "field" || field === "") return false;
    for (const name of FIELDS.slice(0, FIELDS.indexOf(field))) filled.add(name);
    // A process that dies may have stored nothing of it.
    const isLeft = this.#left.get(`${place} ${field}`)?.isDead === false;
    const hasValue = filled.has(field) || isLeft;
    if (hasValue && !labels.some((label) => label.startsWith("Keep ")))
      this.#fail(`${question} has forgotten its ${field}`);
    return hasValue;
  }

  #fail(message: string): void {
    this.#options.fail("I14", message);
  }
}
