import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import type { Delivery } from "../../../src/core/chat/delivery.ts";
import type { QuestionPeople } from "../../../src/core/chat/question.ts";
import type { Life } from "../machine/life.ts";
import type { Plan } from "../plan/plan.ts";
import type { AskedKind, AskedPeople, QuestionItem } from "../plan/question-items.ts";
import { askOne, isEven, isPin, isSecretKind, labelsOfAnswer, onlyField, shownPart } from "./ask-one.ts";
import type { Given } from "./ask-one.ts";
import type { Invariant } from "./contract.ts";
import { idOf, QUESTION } from "./form-face.ts";
import type { FormFace } from "./form-face.ts";
import { FormWatch } from "./form-watch.ts";
import type { AskedAt, AskedQuestion } from "./form-watch.ts";
import { SecretWatch } from "./secret-watch.ts";

type PlannedQuestions = Extract<QuestionItem, { kind: "questions" }>;

/** Counts that prove that these cases occur. */
export interface QuestionFigures {
  /** Questions of actions. */
  questions: number;
  /** Their ends: with an answer, because somebody did not want to, and without anybody. */
  questionsAnswered: number;
  questionsDeclined: number;
  questionsExpired: number;
  /** Presses of people who were not asked. */
  questionBystanders: number;
  /** Messages that answered, and those that people wrote while an action asked somebody. */
  questionsWritten: number;
  writtenBeside: number;
  /** Messages that a person was told not to be answers, and reminders. */
  questionHints: number;
  questionReminders: number;
  /** Answers that a schema has refused. */
  questionRefusals: number;
  /** Questions that are asked in another chat than the one that they come from, and those with secrets. */
  questionsElsewhere: number;
  questionSecrets: number;
  /** Answers to questions of the bot's own code. */
  botAnswers: number;
}

/** A press of a button of a question. */
interface Pressed {
  /** Words of the question. */
  readonly question: string;
  readonly label: string;
  readonly person: string;
  /** The answers that the person saw. */
  readonly notices: (string | undefined)[];
}

/** An action, or code of the bot, that asks, in the outside world. */
export interface Asking {
  readonly token: string;
  readonly effect: string;
  /** The chat whose conversation asks. */
  readonly threadId: string;
  /** The chat in which messages without a quote answer. Undefined for the bot's own code. */
  readonly home: string | undefined;
  readonly asks: readonly AskedKind[];
  /** The chats in which people are asked: all questions, and those with secrets. */
  readonly places: readonly AskedAt[];
  readonly secretPlaces: readonly AskedAt[];
  /** Earliest end without an answer, in epoch milliseconds, of each question. */
  readonly expireAt: number[];
  /** The answer that runs have got to each question, as JSON. */
  readonly got: string[];
  /** Values that the schema has refused, as JSON, by the words of the question. */
  readonly refused: Map<string, Set<string>>;
  /** The processes in which its step has begun. */
  readonly steps: Life[];
}

export interface QuestionWatchOptions {
  readonly fail: (invariant: Invariant, message: string) => void;
  readonly now: () => number;
  readonly items: Plan["items"];
  readonly places: Plan["places"];
  /** Whether a question is open, as its conversation has stored it. */
  readonly isOpen: (question: string) => boolean;
  readonly isGroup: (threadId: string) => boolean;
  /** Whether the chat shows each answer when the next field is asked. Elsewhere only the summary shows them. */
  readonly showsAnswers: boolean;
}

/** The outcome of a message that was taken as an answer. */
export const TAKEN = "answered a question";

const NOT_NOW = "Not now";
/** The people who are asked, as an action names them, and by their ids. */
const PEOPLE: Readonly<Record<AskedPeople, QuestionPeople>> = {
  ada: { person: "7" },
  bob: { person: "8" },
  leads: { role: "lead" },
};
const OF: Readonly<Record<AskedPeople, readonly string[]>> = { ada: ["7"], bob: ["8"], leads: ["7", "8"] };
const PARTS = /^Question(\d) about (effect\d+)$/;

/**
 * Asks for the actions of a run, and judges it (I14): a question is asked once and has one end, the same in every run,
 * which a person who was asked has given. A step runs once, unless its process died.
 */
export class QuestionWatch {
  readonly figures: QuestionFigures = {
    questions: 0,
    questionsAnswered: 0,
    questionsDeclined: 0,
    questionsExpired: 0,
    questionBystanders: 0,
    questionsWritten: 0,
    writtenBeside: 0,
    questionHints: 0,
    questionReminders: 0,
    questionRefusals: 0,
    questionsElsewhere: 0,
    questionSecrets: 0,
    botAnswers: 0,
  };
  readonly forms: FormWatch;
  readonly secrets: SecretWatch;
  readonly #options: QuestionWatchOptions;
  readonly #asking = new Map<string, Asking>();
  readonly #presses = new Map<string, Pressed>();
  /** The ids of each question, by its words. */
  readonly #cards = new Map<string, Set<string>>();

  constructor(options: QuestionWatchOptions) {
    this.#options = options;
    const { fail, isGroup, isOpen } = options;
    this.forms = new FormWatch({ fail, isGroup, asked: (question) => this.#askedAs(question) });
    this.secrets = new SecretWatch({ fail, isOpen, forms: this.forms });
  }

  /** Whether the action that is planned for a message asks people while it runs. */
  asks(token: string): boolean {
    return this.#planned(token) !== undefined;
  }

  /** The newest action for a message that has asked. */
  newestOf(token: string): Asking | undefined {
    return [...this.#asking.values()].findLast((asking) => asking.token === token);
  }

  /** The field that people see in the only field of a question. */
  fieldOf({ field, question }: Pick<FormFace, "field" | "question">): string {
    const [, index = "", effect = ""] = PARTS.exec(question) ?? [];
    return field === "" ? onlyField(this.#kindOf(effect, Number(index))) : field;
  }

  /** Whether a question has a sensitive field. */
  asksForSecret(question: string): boolean {
    return this.#askedAs(question)?.isSecret === true;
  }

  /** The action calls it before its effect, in each of its runs. */
  async ask(token: string, effect: string, threadId: string, ctx: ActionContext, life: Life): Promise<void> {
    const plan = this.#planned(token);
    if (plan === undefined) return;
    const { asks, of } = plan;
    const person = ctx.person?.userId;
    const asking =
      this.#asking.get(effect) ??
      this.begin({ token, effect, threadId, home: threadId, asks, ...this.#placesOf(threadId, person, of) });
    await ctx.step("hold", () => life.write("step", () => this.#step(asking, life)));
    for (const [index, kind] of plan.asks.entries()) {
      const message = `Question${index} about ${effect}`;
      const { expiresAfterMs, remindAfterMs = false } = plan;
      asking.expireAt[index] ??= this.#options.now() + expiresAfterMs;
      const answer = await askOne(ctx, {
        kind,
        message,
        of: of && PEOPLE[of],
        expiresAfterMs,
        remindAfterMs,
        titleOf: (name) => `${name}${index} ${effect}`,
        onRefused: (value) => this.refuses(asking, message, value),
      });
      this.got(asking, index, message, answer);
    }
  }

  /** Somebody is going to ask. */
  begin(asking: Omit<Asking, "expireAt" | "got" | "refused" | "steps">): Asking {
    const begun: Asking = { ...asking, expireAt: [], got: [], refused: new Map(), steps: [] };
    this.#asking.set(asking.effect, begun);
    return begun;
  }

  /** Returns the record of the effect that the words of a question name. */
  askingOf(question: string): Asking | undefined {
    return this.#asking.get(/effect\d+$/.exec(question)?.[0] ?? "");
  }

  /** Listens to a delivery before anybody uses it. Calls of a killed process are ignored. */
  watch(delivery: Delivery, life: Pick<Life, "isDead">): void {
    const sendCard = delivery.sendCard.bind(delivery);
    Object.assign(delivery, {
      sendCard: (start, body, options) => {
        const [question] = QUESTION.exec(body.text) ?? [];
        // A question has further cards below what people write.
        if (!life.isDead && question !== undefined) this.#asked(question, idOf(start.id) ?? start.id);
        sendCard(start, body, options);
      },
    } satisfies Partial<Delivery>);
  }

  /** A person presses a button of the card of a question. */
  pressed(
    actionId: string,
    face: Pick<FormFace, "cardId" | "field" | "kind" | "question">,
    label: string,
    person: string,
  ): void {
    const { question } = face;
    const press: Pressed = { question, label, person, notices: [] };
    this.#presses.set(actionId, press);
    // Other answers are words.
    this.forms.pressed(face, label, () => press.notices.includes(undefined));
  }

  /** A person is told what became of a press. */
  answered(actionId: string, notice: string | undefined): void {
    const press = this.#presses.get(actionId);
    if (press === undefined) return;
    press.notices.push(notice);
    if (notice?.startsWith("This question is for somebody else") === true)
      this.figures.questionBystanders += 1;
  }

  /** The number of ends in a thread that nobody gave with an answer, and not the time either. */
  declinedIn(threadId: string): number {
    return [...this.#asking.values()]
      .filter(({ places, secretPlaces }) =>
        [...places, ...secretPlaces].some((place) => place.threadId === threadId),
      )
      .flatMap(({ asks, got }) => got.map((json, index) => ({ json, kind: asks[index] })))
      .filter(({ json, kind }) => json.includes('"declined"') || (kind === "confirm" && json === "false"))
      .length;
  }

  /**
   * Judges the end of a run.
   *
   * @param hasHappened whether an effect is there
   * @param outcomeOf what has become of a message, by its number
   */
  check(hasHappened: (effect: string) => boolean, outcomeOf: (number: number) => string | undefined): void {
    this.forms.checkOrder();
    for (const [number, { reached, seenQuestions }] of this.forms.typed) {
      const outcome = outcomeOf(number);
      this.figures[reached === undefined ? "writtenBeside" : "questionsWritten"] += 1;
      if (outcome !== TAKEN) continue;
      // A form that somebody leaves shows no secret.
      const isShown =
        this.#options.showsAnswers && ![...seenQuestions].some((one) => this.asksForSecret(one));
      if (reached === undefined && isShown)
        this.#fail(`message ${number} was taken as an answer, and is lost`);
      const [, index = "", effect = ""] = PARTS.exec(reached ?? "") ?? [];
      const json = this.#asking.get(effect)?.got[Number(index)] ?? "";
      if (this.#kindOf(effect, Number(index)) === "text" && !json.includes(String(number)))
        this.#fail(`message ${number} has answered ${reached}, which ends with ${json}`);
    }
    for (const { asks, effect, got, home, refused } of this.#asking.values()) {
      // A turn that ends before the first question is stored takes its call with it.
      if (!this.#isAsked(effect)) continue;
      // Others judge those of the bot's code.
      if (home === undefined) continue;
      for (const [question, values] of refused)
        if ((this.#cards.get(question)?.size ?? 0) <= values.size)
          this.#fail(`${question} was refused ${values.size} times, and not asked again each time`);
      if (!hasHappened(effect)) this.#fail(`${effect} has asked, and never went on`);
      if (got.length !== asks.length)
        this.#fail(`${effect} has ${got.length} ends of ${asks.length} questions`);
    }
  }

  #askedAs(question: string): AskedQuestion | undefined {
    const asking = this.askingOf(question);
    if (asking === undefined) return undefined;
    const { effect, home, places, secretPlaces } = asking;
    const isSecret = isSecretKind(this.#kindOf(effect, Number(PARTS.exec(question)?.[1])));
    return { places: isSecret ? secretPlaces : places, home, isSecret };
  }

  /** The chats in which people are asked. */
  #placesOf(
    threadId: string,
    requester: string | undefined,
    of: AskedPeople | undefined,
  ): Pick<Asking, "places" | "secretPlaces"> {
    const { isGroup, places } = this.#options;
    const isAsked = (person: string): boolean =>
      of === undefined ? person === requester : OF[of].includes(person);
    const secretPlaces = places.flatMap((place) => {
      const { userId: person = "7" } = place;
      return place.isDirectMessage && isAsked(person) ? [{ threadId: place.threadId, person }] : [];
    });
    const here = [{ threadId, person: requester }];
    // A requester with several private chats is asked where they have asked.
    if (of === undefined && !isGroup(threadId)) return { places: here, secretPlaces: here };
    return { places: of === undefined ? here : secretPlaces, secretPlaces };
  }

  #kindOf(effect: string, index: number): AskedKind | undefined {
    return this.#asking.get(effect)?.asks[index];
  }

  #planned(token: string): PlannedQuestions | undefined {
    return this.#options.items.find(
      (item): item is PlannedQuestions => item.kind === "questions" && item.token === token,
    );
  }

  #asked(question: string, card: string): void {
    const cards = this.#cards.get(question) ?? new Set();
    this.#cards.set(question, cards.add(card));
  }

  #step(asking: Asking, life: Life): void {
    // Its result is stored with the next write, so a death in between repeats it.
    const earlier = asking.steps.find(({ isDead }) => !isDead);
    if (earlier !== undefined) this.#fail(`the step of ${asking.effect} runs again, and no process had died`);
    asking.steps.push(life);
    if (asking.got.length > 0 || (this.#isAsked(asking.effect) && asking.steps.length > 1))
      this.#fail(`the step of ${asking.effect} runs again after a question`);
  }

  /** A run, or the bot's code, gets an answer. */
  got(
    { effect, expireAt, got, home, places, refused: refusals, secretPlaces, threadId }: Asking,
    index: number,
    question: string,
    answer: Given,
  ): void {
    const json = JSON.stringify(answer);
    const before = got[index];
    if (before !== undefined) {
      if (before !== json) this.#fail(`${question} is answered with ${json} now, and was with ${before}`);
      return;
    }
    got[index] = json;
    this.#count(answer);
    const isWhole = typeof answer === "boolean" || !("why" in answer);
    const cards = this.#cards.get(question)?.size ?? 0;
    const refused = refusals.get(question)?.size ?? 0;
    if (cards > 1 + (home === undefined ? 0 : refused)) this.#fail(`${question} was asked ${cards} times`);
    const value = typeof answer === "boolean" ? undefined : answer.value;
    if (this.#kindOf(effect, index) === "even" && isWhole && !isEven(value))
      this.#fail(`${question} gets ${json}, which its schema refuses`);
    // A person may have blocked the bot meanwhile: then nobody can be asked.
    if (json.includes('"unsupported"')) this.#fail(`${question} could be asked, and ends with ${json}`);
    if (json.includes('"expired"') && this.#options.now() < (expireAt[index] ?? 0))
      this.#fail(`${question} has expired before its time`);
    const asked = isSecretKind(this.#kindOf(effect, index)) ? secretPlaces : places;
    if (asked.some((place) => place.threadId !== threadId)) this.figures.questionsElsewhere += 1;
    const presses = [...this.#presses.values()].filter(
      (press) =>
        press.question === question && asked.some(({ person = press.person }) => person === press.person),
    );
    const labels = new Set(presses.map(({ label }) => label));
    this.#checkWritten(question, answer);
    for (const label of labelsOfAnswer(answer))
      if (!labels.has(label)) this.#fail(`${effect} gets ${json}, and nobody who was asked pressed ${label}`);
    const isTaken = presses.some(({ label, notices }) => label !== NOT_NOW && notices.includes(undefined));
    const isShort = ["confirm", "choose"].includes(this.#kindOf(effect, index) ?? "");
    if (!isWhole && isShort && isTaken && !labels.has(NOT_NOW))
      this.#fail(`${effect} gets ${json}, and a press that answers ${question} was taken`);
  }

  /** A schema refuses the same value again when a run is repeated. */
  refuses({ refused }: Pick<Asking, "refused">, question: string, value: unknown): void {
    this.figures.questionRefusals += 1;
    refused.set(question, (refused.get(question) ?? new Set()).add(JSON.stringify(value)));
  }

  #isAsked(effect: string): boolean {
    return [...this.#cards.keys()].some((question) => question.endsWith(` ${effect}`));
  }

  /** The words of people are theirs, and a form is sent as its summary has shown it. */
  #checkWritten(question: string, answer: Given): void {
    const value = typeof answer === "boolean" ? undefined : answer.value;
    if (typeof value === "string") this.forms.shows(question, value, true);
    if (isPin(value)) this.figures.questionSecrets += 1;
    if (typeof value === "number") this.forms.shows(question, String(value), false);
    if (typeof value !== "object" || value === null || "gift" in value) return;
    const parts = Object.entries(value).map(([name, part]) => [name, shownPart(part, name)] as const);
    for (const [name, part] of Object.entries(value))
      this.forms.shows(question, shownPart(part), name === "note");
    if (Object.values(value).some(isPin)) this.figures.questionSecrets += 1;
    const sent = parts.map(([, part]) => part).join();
    const shown = this.forms.summariesOf(question).map(({ values }) => [...values.values()].join());
    if (!shown.includes(sent))
      this.#fail(`${question} gets ${sent}, and its summary shows ${shown.join(" or ")}`);
  }

  #count(answer: Given): void {
    const { figures } = this;
    figures.questions += 1;
    if (typeof answer === "boolean" || answer.why === undefined) figures.questionsAnswered += 1;
    else if (answer.why === "declined") figures.questionsDeclined += 1;
    else figures.questionsExpired += 1;
  }

  #fail(message: string): void {
    this.#options.fail("I14", message);
  }
}
