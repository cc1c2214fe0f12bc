import { askingResult } from "../actions/action-errors.ts";
import type { ActionRequest, AskingRun, EarlierRun, PreparedQuestion } from "../actions/action-host.ts";
import type { Json } from "../core/content.ts";
import type { AskedQuestion, Unanswered } from "../core/question.ts";
import { inOneLine } from "../core/one-line.ts";
import type { TurnInfo } from "../core/turn-info.ts";
import type { Form } from "../forms/form.ts";
import type { ActionQuestions, AskingPlace } from "../messengers/tools/action-questions.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import { threadOf } from "../messengers/tools/call-facts.ts";
import type { ParkedCalls } from "../replay/parked-calls.ts";
import type { QuestionsHost } from "./bot-methods.ts";
import { factsOf } from "./call-context.ts";
import type { CallContext } from "./call-context.ts";
import { formOfQuestion } from "./form-of-question.ts";
import { newQuestion } from "./new-question.ts";
import type { QuestionCards } from "./question-cards.ts";
import { placesOf } from "./question-places.ts";
import type { Questions } from "./questions.ts";
import { isSensitive } from "./question.ts";

export interface QuestionCallsOptions {
  readonly host: QuestionsHost;
  readonly questions: Questions;
  readonly parked: ParkedCalls;
  readonly cards: Pick<QuestionCards, "sayTo">;
}

const LONGEST_PROBLEM = 300;

/** Calls of actions that ask people: from the question to the turn that tells the outcome. */
export class QuestionCalls implements ActionQuestions {
  readonly #options: QuestionCallsOptions;

  constructor(options: QuestionCallsOptions) {
    this.#options = options;
  }

  earlier({ requestId, toolCallId }: ActionRequest, isAnswered: boolean): EarlierRun | undefined {
    const call = this.#options.parked.store.ofCall(requestId, toolCallId);
    if (call === undefined) return undefined;
    return isAnswered
      ? { kind: "resumes", runId: call.runId }
      : { kind: "waits", output: askingResult(call.id) };
  }

  hasAsked(turnId: string): boolean {
    return this.#options.parked.store.hasAsked(turnId);
  }

  async prepare(
    run: AskingRun,
    { facts, owner }: AskingPlace,
    asked: AskedQuestion,
  ): Promise<Unanswered | PreparedQuestion> {
    const form = formOfQuestion(asked);
    if (form === undefined) return "unsupported";
    const { database, deps, thread } = this.#options.host;
    const { requestId, toolCallId } = run.request;
    const people = asked.of ?? "requester";
    const askedIn = await placesOf(this.#options.host, {
      requestId,
      facts,
      people,
      isPrivate: isSensitive(form),
    });
    if (askedIn.length === 0) return "nobody";
    const { ledgerKey } = run;
    return {
      store: ({ entry, position }, withIt) => {
        const { store } = this.#options.parked;
        const { runLog } = this.#options.host.actions;
        // A transaction that fails would take the tables away again.
        this.#options.questions.store.makeTable();
        store.makeTable();
        runLog.makeTable();
        const id = store.ofCall(requestId, toolCallId)?.id ?? deps.newId();
        const turn = thread.own.info(requestId);
        const question = newQuestion(this.#withProblem(asked, form, facts), {
          id: deps.newId(),
          form,
          askedIn,
          call: { id, ledgerKey, position },
          cause: turn?.event,
          threadId: facts.address?.threadId,
          now: deps.clock.now(),
        });
        database.transaction(() => {
          this.#park(id, run, { facts, owner }, turn?.channel);
          runLog.open(ledgerKey, position, entry);
          this.#options.questions.ask(question);
          thread.own.calls.park(requestId, toolCallId);
          withIt();
        });
        this.#options.host.wakeSoon();
        return askingResult(id);
      },
    };
  }

  factsOfOutcome({ answerTo, kind, metadata }: TurnInfo): CallFacts | undefined {
    const id = metadata?.["parkedCall"];
    const call =
      kind === "outcome" && typeof id === "string" ? this.#options.parked.store.get(id) : undefined;
    return call && { ...factsOf(call), address: answerTo[0], chat: threadOf(answerTo[0]) };
  }

  /** A schema's words may repeat the value. */
  #withProblem({ problem, ...asked }: AskedQuestion, form: Form, { person }: CallFacts): AskedQuestion {
    if (problem === undefined) return asked;
    const words = inOneLine(problem.replace(/^input: /, "")).slice(0, LONGEST_PROBLEM);
    return {
      ...asked,
      problem: isSensitive(form) ? this.#options.cards.sayTo(person)("formRefused") : words,
    };
  }

  #park(
    id: string,
    { approver, inputHash, ledgerKey, request, runId }: AskingRun,
    { facts, owner }: AskingPlace,
    channel: string | undefined,
  ): void {
    const { input, name: action, requestId, toolCallId } = request;
    const { address, people, person, schedule } = facts;
    const isOfTurn = owner === requestId;
    const context: CallContext = {
      people,
      person,
      address,
      schedule,
      channel,
      approver,
      owner: isOfTurn ? undefined : owner,
    };
    this.#options.parked.park({
      id,
      requestId,
      toolCallId,
      action,
      input: (input ?? null) as Json,
      inputHash,
      ledgerKey,
      runId,
      context: JSON.parse(JSON.stringify(context)) as Json,
    });
  }
}
