import { ActionError, askingResult } from "../actions/declare/action-errors.ts";
import type { ActionRequest, AskingRun, EarlierRun, PreparedQuestion } from "../actions/runs/action-host.ts";
import type { Json } from "../core/message/content.ts";
import type { AskedQuestion, Unanswered } from "../core/chat/question.ts";
import { inOneLine } from "../core/text/one-line.ts";
import type { TurnInfo } from "../core/turn/turn-info.ts";
import type { Form } from "../forms/form.ts";
import type { ActionQuestions, AskingPlace } from "../messengers/tools/action-questions.ts";
import type { AskedCall, SystemCaller } from "../messengers/tools/action-consent.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import { isServed, threadOf } from "../messengers/tools/call-facts.ts";
import { contextOf, factsOf, type CallContext } from "./call-context.ts";
import { CallerQuestions } from "./caller-questions.ts";
import { formOfQuestion } from "./form-of-question.ts";
import { newQuestion } from "./new-question.ts";
import type { QuestionParts } from "./question-parts.ts";
import { placesOf } from "./question-places.ts";
import { isSensitive, type Question } from "./question.ts";

const LONGEST_PROBLEM = 300;

const UNASKED_FOR_AGENT =
  "This action asks people something, and nobody was asked. An agent without the messenger of the chat can only ask the person who has called it, while that call waits, and never for files, places and secrets. Say that the conversation itself has to do this, or that the developer of the bot must give the agent its messengers.";

/** The owner of a declared schedule, and the person of a system, see nothing of its conversation. */
function hasOtherReaders({ person, schedule }: CallFacts, outside: AskingPlace["outside"]): boolean {
  return outside !== undefined || (schedule !== undefined && person === undefined);
}

/** Calls of actions that ask people: from the question to the turn that tells the outcome. */
export class QuestionCalls implements ActionQuestions {
  readonly #options: QuestionParts;
  readonly #callers: CallerQuestions;

  constructor(options: QuestionParts) {
    this.#options = options;
    this.#callers = new CallerQuestions(options);
  }

  earlier(
    { requestId, toolCallId }: Pick<ActionRequest, "requestId" | "toolCallId">,
    isAnswered: boolean,
  ): EarlierRun | undefined {
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
    place: AskingPlace,
    asked: AskedQuestion,
  ): Promise<Unanswered | PreparedQuestion> {
    const form = formOfQuestion(asked);
    if (form === undefined) return "unsupported";
    const { facts, outside } = place;
    const { database, deps, thread } = this.#options.host;
    const { requestId, toolCallId } = run.request;
    const people = asked.of ?? "requester";
    const isOfCaller = outside?.canAsk === true && people === "requester" && this.#callers.canShow(form);
    const askedIn = isOfCaller
      ? []
      : await placesOf(this.#options.host, { requestId, place, people, isPrivate: isSensitive(form) });
    const { messengers, runs } = this.#options.host;
    if (askedIn.length === 0 && !isOfCaller) {
      const isOfAgent = facts.schedule?.agent !== undefined && facts.person !== undefined;
      if (isOfAgent && !isServed(facts, messengers)) throw new ActionError(UNASKED_FOR_AGENT);
      return "nobody";
    }
    if (!isOfCaller && facts.schedule?.agent !== undefined) runs.runs.asksItself(runs.rootOf(requestId));
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
          threadId: hasOtherReaders(facts, outside) ? undefined : facts.address?.threadId,
          now: deps.clock.now(),
        });
        database.transaction(() => {
          this.#park(id, run, place, turn?.channel);
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

  accept(ledgerKey: string, position: number): void {
    const isUpTo = ({ call }: Question): boolean =>
      call?.ledgerKey === ledgerKey && call.position <= position;
    this.#options.questions.accept(isUpTo);
  }

  factsOfOutcome({ answerTo, kind, metadata }: TurnInfo): CallFacts | undefined {
    const id = metadata?.["parkedCall"];
    const call =
      kind === "outcome" && typeof id === "string" ? this.#options.parked.store.get(id) : undefined;
    if (call !== undefined && contextOf(call).schedule !== undefined) return factsOf(call);
    return call && { ...factsOf(call), address: answerTo[0], chat: threadOf(answerTo[0]) };
  }

  stateOf(callId: string): AskedCall | undefined {
    return this.#callers.stateOf(callId);
  }

  async answer(
    callId: string,
    questionId: string,
    content: Json | undefined,
    by: SystemCaller,
  ): Promise<void> {
    this.#callers.answer(callId, questionId, content, by);
    await this.#options.host.durable();
  }

  async decline(callId: string): Promise<void> {
    this.#callers.decline(callId);
    await this.#options.host.durable();
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
    { facts, outside, owner }: AskingPlace,
    channel: string | undefined,
  ): void {
    const { input, name: action, requestId, toolCallId } = request;
    const { address, askOwnerIn, people, person, schedule, scopes } = facts;
    const isOfTurn = owner === requestId;
    const context: CallContext = {
      people,
      person,
      address,
      schedule,
      askOwnerIn,
      scopes,
      outside,
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
