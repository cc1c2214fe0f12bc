import { jsonSchema } from "ai";
import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import type { Delivery } from "../../../src/core/delivery.ts";
import type { Life } from "../machine/life.ts";
import type { Plan } from "../plan/plan.ts";
import type { AskedKind, QuestionItem } from "../plan/question-items.ts";
import type { Invariant } from "./contract.ts";

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
  /** The processes in which its step has begun. */
  readonly steps: Life[];
}

export interface QuestionWatchOptions {
  readonly fail: (invariant: Invariant, message: string) => void;
  readonly items: Plan["items"];
}

const NOT_NOW = "Not now";
const COLOURS = ["red", "blue"] as const;
const QUESTION = /\bQuestion\d about effect\d+\b/;

const FORM = jsonSchema<{ size: string; gift: boolean }>({
  type: "object",
  properties: { size: { type: "string", enum: ["S", "M"] }, gift: { type: "boolean" } },
  required: ["size", "gift"],
});

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
  };
  readonly #options: QuestionWatchOptions;
  readonly #asking = new Map<string, Asking>();
  readonly #presses = new Map<string, Pressed>();
  /** The cards of each question, by its words. */
  readonly #cards = new Map<string, Set<string>>();

  constructor(options: QuestionWatchOptions) {
    this.#options = options;
  }

  /** Whether the action that is planned for a message asks people while it runs. */
  asks(token: string): boolean {
    return this.#planned(token) !== undefined;
  }

  /** The newest action for a message that has asked. */
  newestOf(token: string): Asking | undefined {
    return [...this.#asking.values()].findLast((asking) => asking.token === token);
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
      steps: [],
    };
    this.#asking.set(effect, asking);
    await ctx.step("hold", () => life.write("step", () => this.#step(asking, life)));
    for (const [index, kind] of plan.asks.entries()) {
      const message = `Question${index} about ${effect}`;
      const { expiresAfterMs } = plan;
      const answer = await askOne(ctx, kind, { message, expiresAfterMs, remindAfterMs: false });
      this.#got(asking, index, message, answer);
    }
  }

  /** Listens to a delivery before anybody uses it. Calls of a killed process are ignored. */
  watch(delivery: Delivery, life: Pick<Life, "isDead">): void {
    const sendCard = delivery.sendCard.bind(delivery);
    Object.assign(delivery, {
      sendCard: (start, body, options) => {
        const [question] = QUESTION.exec(body.text) ?? [];
        if (!life.isDead && question !== undefined) this.#asked(question, start.id);
        sendCard(start, body, options);
      },
    } satisfies Partial<Delivery>);
  }

  /** A person presses a button of a card. */
  pressed(actionId: string, { text }: { readonly text: string }, label: string, person: string): void {
    const [question = ""] = QUESTION.exec(text) ?? [];
    this.#presses.set(actionId, { question, label, person, notices: [] });
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

  /** Judges the end of a run. @param hasHappened whether an effect is there */
  check(hasHappened: (effect: string) => boolean): void {
    for (const { effect, got, token } of this.#asking.values()) {
      const asks = this.#planned(token)?.asks ?? [];
      // A turn that ends before the first question is stored takes its call with it.
      if (!this.#isAsked(effect)) continue;
      if (!hasHappened(effect)) this.#fail(`${effect} has asked, and never went on`);
      if (got.length !== asks.length)
        this.#fail(`${effect} has ${got.length} ends of ${asks.length} questions`);
    }
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

  #got({ effect, got, person }: Asking, index: number, question: string, answer: Given): void {
    const json = JSON.stringify(answer);
    const before = got[index];
    if (before !== undefined) {
      if (before !== json) this.#fail(`${question} is answered with ${json} now, and was with ${before}`);
      return;
    }
    got[index] = json;
    this.#count(answer);
    const cards = this.#cards.get(question)?.size ?? 0;
    if (cards > 1) this.#fail(`${question} was asked ${cards} times`);
    const presses = [...this.#presses.values()].filter(
      (press) => press.question === question && press.person === person,
    );
    const labels = new Set(presses.map(({ label }) => label));
    for (const label of labelsOf(answer))
      if (!labels.has(label)) this.#fail(`${effect} gets ${json}, and nobody who was asked pressed ${label}`);
    const isTaken = presses.some(({ label, notices }) => label !== NOT_NOW && notices.includes(undefined));
    const isWhole = typeof answer === "boolean" || !("why" in answer);
    const isShort = !question.startsWith("Question") || !this.#isForm(effect, index);
    if (!isWhole && isShort && isTaken && !labels.has(NOT_NOW))
      this.#fail(`${effect} gets ${json}, and a press that answers ${question} was taken`);
  }

  #isAsked(effect: string): boolean {
    return [...this.#cards.keys()].some((question) => question.endsWith(` ${effect}`));
  }

  #isForm(effect: string, index: number): boolean {
    const { token = "" } = this.#asking.get(effect) ?? {};
    return this.#planned(token)?.asks[index] === "form";
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

type Given = boolean | { readonly value?: unknown; readonly why?: string | undefined };

function askOne(
  ctx: ActionContext,
  kind: AskedKind,
  asked: { readonly message: string; readonly expiresAfterMs: number; readonly remindAfterMs: false },
): Promise<Given> {
  switch (kind) {
    case "confirm":
      return ctx.confirm(asked);
    case "choose":
      return ctx.choose({ ...asked, options: COLOURS });
    case "form":
      return ctx.elicit({ ...asked, schema: FORM });
    default:
      return kind satisfies never;
  }
}

/** The labels of the buttons without which nobody can have given an answer. */
function labelsOf(answer: Given): string[] {
  // `false` is also the end without an answer.
  if (typeof answer === "boolean") return answer ? ["Yes"] : [];
  const { value } = answer;
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const { gift, size } = value as { readonly gift: boolean; readonly size: string };
  return [size, gift ? "Yes" : "No", "Send"];
}
