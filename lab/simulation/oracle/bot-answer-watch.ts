import type { FlexibleSchema } from "ai";
import type { BotAnswer, BotQuestion } from "../../../src/core/chat/question.ts";
import type { Life } from "../machine/life.ts";
import type { Place } from "../plan/plan.ts";
import type { QuestionItem } from "../plan/question-items.ts";
import { isSecretKind, schemaOf } from "./ask-one.ts";
import type { Invariant } from "./contract.ts";
import type { Asking, QuestionWatch } from "./question-watch.ts";

type PlannedQuestion = Extract<QuestionItem, { kind: "bot-question" }>;

export interface BotAnswerWatchOptions {
  readonly now: () => number;
  readonly fail: (invariant: Invariant, message: string) => void;
  readonly questions: QuestionWatch;
}

interface Told {
  readonly asking: Asking;
  /** The id of the question, when the bot's code has it. */
  id: string | undefined;
  /** The processes that have told the answer. */
  readonly by: Life[];
}

/**
 * Asks for the bot's own code, and judges it (I14): each question that it has stored is answered once, or again only
 * after the process has died that told the answer.
 */
export class BotAnswerWatch {
  readonly schemas: Record<string, FlexibleSchema> = {};
  readonly #options: BotAnswerWatchOptions;
  /** By the words of the question. */
  readonly #told = new Map<string, Told>();

  constructor(options: BotAnswerWatchOptions) {
    this.#options = options;
  }

  /** The bot's code asks, once more if it has not heard that an earlier question is stored. Returns what it asks. */
  asks(
    { asks: kind, expiresAfterMs, remindAfterMs, token }: PlannedQuestion,
    speaker: Place,
    { isDirectMessage, threadId, userId = "7" }: Place,
  ): BotQuestion {
    const effect = `effect${9_000 + this.#told.size}`;
    const message = `Question0 about ${effect}`;
    const { now, questions } = this.#options;
    const places = [{ threadId, person: isDirectMessage ? userId : undefined }];
    const asking = questions.begin({
      token,
      effect,
      threadId: speaker.threadId,
      home: undefined,
      asks: [kind],
      places,
      secretPlaces: isSecretKind(kind) ? places : [],
    });
    asking.expireAt[0] = now() + expiresAfterMs;
    this.#told.set(message, { asking, id: undefined, by: [] });
    this.schemas[effect] = schemaOf({
      kind,
      titleOf: (name) => `${name}0 ${effect}`,
      onRefused: (value) => questions.refuses(asking, message, value),
    });
    return { name: effect, message, expiresAfterMs, remindAfterMs: remindAfterMs ?? false };
  }

  /** A question is stored. */
  stored(message: string, id: string): void {
    const told = this.#told.get(message);
    if (told !== undefined) told.id = id;
  }

  /** The bot's code gets an answer. */
  tells({ id, name, person, value, why }: BotAnswer, life: Life): void {
    const { fail, questions } = this.#options;
    const message = questions.forms.wordsOf(id) ?? "";
    const told = this.#told.get(message);
    if (told === undefined || told.asking.effect !== name)
      return fail("I14", `the bot's code gets an answer to ${id}, and has not asked that`);
    if (told.by.some(({ isDead }) => !isDead))
      fail("I14", `the bot's code gets the answer to ${message} again, and no process has died`);
    told.by.push(life);
    questions.figures.botAnswers += 1;
    const [{ person: asked } = { person: undefined }] = told.asking.places;
    const isBystander = asked !== undefined && person !== undefined && person.userId !== asked;
    if (isBystander) fail("I14", `${person.userId} has answered ${message}, and was not asked`);
    questions.got(told.asking, 0, message, why === undefined ? { value } : { why });
  }

  /** Judges the end of a run. */
  check(): void {
    for (const [message, { by, id }] of this.#told)
      if (id !== undefined && by.length === 0)
        this.#options.fail("I14", `${message} of the bot's code has no end`);
  }
}
