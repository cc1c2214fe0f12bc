import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import type { Delivery } from "../../../src/core/delivery.ts";
import type { Life } from "../machine/life.ts";
import type { Plan } from "../plan/plan.ts";
import type { AskedKind, QuestionItem } from "../plan/question-items.ts";
import { askOne, isEven, labelsOfAnswer, onlyField, shownPart } from "./ask-one.ts";
import type { Given } from "./ask-one.ts";
import type { Invariant } from "./contract.ts";
import { idOf, QUESTION } from "./form-face.ts";
import type { FormFace } from "./form-face.ts";
import { FormWatch } from "./form-watch.ts";

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

/** An action that asks, in the outside world. */
interface Asking {
  readonly token: string;
  readonly effect: string;
  readonly threadId: string;
  /** The person for whom it runs, who is asked. */
  readonly person: string | undefined;
  /** The answer that runs have got to each question, as JSON. */
  readonly got: string[];
  /** Values that the schema has refused, as JSON, by the words of the question. */
  readonly refused: Map<string, Set<string>>;
  /** The processes in which its step has begun. */
  readonly steps: Life[];
}

export interface QuestionWatchOptions {
  readonly fail: (invariant: Invariant, message: string) => void;
  readonly items: Plan["items"];
  readonly isGroup: (threadId: string) => boolean;
  /** Whether the chat shows each answer when the next field is asked. Elsewhere only the summary shows them. */
  readonly showsAnswers: boolean;
}

/** The outcome of a message that was taken as an answer. */
export const TAKEN = "answered a question";

const NOT_NOW = "Not now";
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
  };
  readonly forms: FormWatch;
  readonly #options: QuestionWatchOptions;
  readonly #asking = new Map<string, Asking>();
  readonly #presses = new Map<string, Pressed>();
  /** The ids of each question, by its words. */
  readonly #cards = new Map<string, Set<string>>();

  constructor(options: QuestionWatchOptions) {
    this.#options = options;
    this.forms = new FormWatch({ fail: options.fail, askedIn: (question) => this.#askedIn(question) });
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

  /** The action calls it before its effect, in each of its runs. */
  async ask(token: string, effect: string, threadId: string, ctx: ActionContext, life: Life): Promise<void> {
    const plan = this.#planned(token);
    if (plan === undefined) return;
    const asking = this.#asking.get(effect) ?? {
      token,
      effect,
      threadId,
      person: ctx.person?.userId,
      got: [],
      refused: new Map(),
      steps: [],
    };
    this.#asking.set(effect, asking);
    await ctx.step("hold", () => life.write("step", () => this.#step(asking, life)));
    for (const [index, kind] of plan.asks.entries()) {
      const message = `Question${index} about ${effect}`;
      const { expiresAfterMs, remindAfterMs = false } = plan;
      const answer = await askOne(ctx, {
        kind,
        message,
        expiresAfterMs,
        remindAfterMs,
        titleOf: (name) => `${name}${index} ${effect}`,
        onRefused: (value) => this.#refused(asking, message, value),
      });
      this.#got(asking, index, message, answer);
    }
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
      .filter((asking) => asking.threadId === threadId)
      .flatMap(({ got, token }) =>
        got.map((json, index) => ({ json, kind: this.#planned(token)?.asks[index] })),
      )
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
    for (const [number, { reached }] of this.forms.typed) {
      const outcome = outcomeOf(number);
      this.figures[reached === undefined ? "writtenBeside" : "questionsWritten"] += 1;
      if (outcome !== TAKEN) continue;
      if (reached === undefined && this.#options.showsAnswers)
        this.#fail(`message ${number} was taken as an answer, and is lost`);
      const [, index = "", effect = ""] = PARTS.exec(reached ?? "") ?? [];
      const json = this.#asking.get(effect)?.got[Number(index)] ?? "";
      if (this.#kindOf(effect, Number(index)) === "text" && !json.includes(String(number)))
        this.#fail(`message ${number} has answered ${reached}, which ends with ${json}`);
    }
    for (const { effect, got, refused, token } of this.#asking.values()) {
      const asks = this.#planned(token)?.asks ?? [];
      // A turn that ends before the first question is stored takes its call with it.
      if (!this.#isAsked(effect)) continue;
      for (const [question, values] of refused)
        if ((this.#cards.get(question)?.size ?? 0) <= values.size)
          this.#fail(`${question} was refused ${values.size} times, and not asked again each time`);
      if (!hasHappened(effect)) this.#fail(`${effect} has asked, and never went on`);
      if (got.length !== asks.length)
        this.#fail(`${effect} has ${got.length} ends of ${asks.length} questions`);
    }
  }

  /** The chat in which a question is asked, and who is asked. */
  #askedIn(question: string): ReturnType<ConstructorParameters<typeof FormWatch>[0]["askedIn"]> {
    const asking = this.#asking.get(/effect\d+$/.exec(question)?.[0] ?? "");
    return asking && { ...asking, isGroup: this.#options.isGroup(asking.threadId) };
  }

  #kindOf(effect: string, index: number): AskedKind | undefined {
    return this.#planned(this.#asking.get(effect)?.token ?? "")?.asks[index];
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

  #got(
    { effect, got, person, refused: refusals }: Asking,
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
    if (cards > 1 + refused) this.#fail(`${question} was asked ${cards} times`);
    const value = typeof answer === "boolean" ? undefined : answer.value;
    if (this.#kindOf(effect, index) === "even" && isWhole && !isEven(value))
      this.#fail(`${question} gets ${json}, which its schema refuses`);
    const presses = [...this.#presses.values()].filter(
      (press) => press.question === question && press.person === person,
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
  #refused({ refused }: Asking, question: string, value: unknown): void {
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
    if (typeof value === "number") this.forms.shows(question, String(value), false);
    if (typeof value !== "object" || value === null || "gift" in value) return;
    const parts = Object.entries(value).map(([name, part]) => [name, shownPart(part)] as const);
    for (const [name, part] of parts) this.forms.shows(question, part, name === "note");
    const sent = parts.map(([, part]) => part).join();
    const shown = [...(this.forms.summaryOf(question)?.values.values() ?? [])].join();
    if (sent !== shown) this.#fail(`${question} gets ${sent}, and its summary shows ${shown}`);
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
