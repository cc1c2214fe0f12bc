import type { Json } from "../core/message/content.ts";
import type { Form } from "../forms/form.ts";
import type { ReadingContext } from "../forms/read-answer.ts";
import type { AskedCall, SystemCaller } from "../messengers/tools/action-consent.ts";
import type { ParkedCall } from "../replay/parked-call-store.ts";
import { callerSchema, callerValue } from "./caller-form.ts";
import type { QuestionParts } from "./question-parts.ts";
import type { Question } from "./question.ts";

/**
 * Questions of calls that other systems make. A system that can ask its person does so, and then the question is in no
 * chat. All others are polled until a person has answered in a chat.
 */
export class CallerQuestions {
  readonly #options: QuestionParts;

  constructor(options: QuestionParts) {
    this.#options = options;
  }

  canShow(form: Form): boolean {
    return callerSchema(form, this.#context()) !== undefined;
  }

  stateOf(callId: string): AskedCall | undefined {
    const { parked, questions } = this.#options;
    const call = parked.store.get(callId);
    if (call === undefined) return undefined;
    if (call.state !== "asking") return stateOfRun(call);
    const open = questions.store.ofCall(callId).at(-1);
    if (open === undefined || open.end !== undefined) return { kind: "running" };
    const isAskedByCaller = open.askedIn.length === 0;
    const schema = isAskedByCaller ? callerSchema(open.form, this.#context()) : undefined;
    return {
      kind: "waiting",
      question: open.message,
      isAskedByCaller,
      hasBegun: true,
      form: schema && { questionId: open.id, schema: schema as unknown as Json },
    };
  }

  answer(callId: string, questionId: string, content: Json | undefined, { person }: SystemCaller): void {
    const { host, questions } = this.#options;
    const open = this.#open(callId);
    if (open === undefined || open.id !== questionId || open.askedIn.length > 0) return;
    const value = content === undefined ? undefined : callerValue(open.form, content, this.#context());
    if (content !== undefined && value === undefined) return;
    host.database.transaction(() => {
      if (value === undefined) questions.close(open, "declined", person);
      else questions.answer(open, value, person);
    });
  }

  decline(callId: string): void {
    const { host, questions } = this.#options;
    const open = this.#open(callId);
    if (open !== undefined) host.database.transaction(() => questions.close(open, "declined"));
  }

  #open(callId: string): Question | undefined {
    return this.#options.questions.store.ofCall(callId).find(({ end }) => end === undefined);
  }

  /** A system sends numbers, dates and the like as JSON writes them. */
  #context(): ReadingContext {
    const { cards, host } = this.#options;
    return { say: cards.sayTo(undefined), language: undefined, timeZone: "UTC", now: host.deps.clock.now() };
  }
}

function stateOfRun({ createdAt, endedAt = createdAt, outcome, state }: ParkedCall): AskedCall {
  if (state !== "ended") return { kind: "running" };
  return { kind: "ended", endedAt, isWithdrawn: false, hasRun: true, output: outcome ?? null };
}
