import type { ActionRequest, ApprovalQuestion } from "../../actions/runs/action-host.ts";
import { inputLabels } from "../../actions/declare/input-labels.ts";
import type { VoidReason } from "../rules/approval.ts";
import type { ApprovalRequest } from "../rules/approval-request.ts";
import { unreachedWords } from "../rules/card-place.ts";
import { failureName } from "../rules/outcome-words.ts";
import { needsSeveral } from "../rules/quorum.ts";
import { sayTo } from "../../core/text/bot-texts.ts";
import type { Json } from "../../core/message/content.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { ActionConsent, AskedCall, SystemCaller } from "../../messengers/tools/action-consent.ts";
import type { CallFacts } from "../../messengers/tools/action-rights.ts";
import type { TurnConsent } from "../../messengers/turns/turn-consent.ts";
import type { ApprovalParts } from "./approval-parts.ts";
import { formOfAction } from "./edit-forms.ts";
import { requestOf } from "./approval-question.ts";
import { askedCallOf } from "./asked-call.ts";
import { factsOfOutcome } from "./outcome-facts.ts";
import { NOT_WANTED, problemOfRun, type ConsentProblem } from "./scheduled-consent.ts";
import { isServed } from "../../messengers/tools/call-facts.ts";

const NOT_DRAWN = { drawnState: undefined, isTold: false } as const;

const NOBODY_DECIDES = {
  code: "approvers-missing",
  problem:
    "A person has to agree to this action, and nobody may: the person who asks may not, and there is nobody else who may. Nobody was asked. Tell the person, and that the bot's team must name somebody who may decide.",
} as const satisfies ConsentProblem;

const NOT_ASKED_FOR_AGENTS = {
  problem:
    "A person has to agree to this action. For an agent's work only the person who asks can be asked, in the chat of the conversation that has called it, and that is not possible here. Nobody was asked. Say that the conversation itself has to do this, or that the developer of the bot must give the agent its messengers.",
} as const;

const ASKER_UNKNOWN = {
  code: "requester-anonymous",
  problem:
    "Somebody else than the person who asks has to agree to this action. That person writes anonymously, in the name of a chat, so it cannot be known who else may. Nobody was asked. Tell the person to ask again without being anonymous.",
} as const satisfies ConsentProblem;

/**
 * Consent to what turns and their actions do: calls of the model that ask people, or use a grant, and what came of them.
 */
export class PeopleConsent implements ActionConsent, Omit<TurnConsent, "stopped"> {
  readonly #options: ApprovalParts;

  constructor(options: ApprovalParts) {
    this.#options = options;
  }

  async ask(question: ApprovalQuestion, facts: CallFacts): ReturnType<ActionConsent["ask"]> {
    const { approvals, approvers, cards, host } = this.#options;
    const { runs } = host.runs;
    const { action, requestId, toolCallId } = question.request;
    let asked = await this.#requestOf(question, facts);
    const preview = await question.preview();
    const labels = await inputLabels(action, facts.person?.language);
    const isOfKeeper = asked.schedule?.agent !== undefined && (await this.#isAskedByKeeper(asked, facts));
    if (asked.schedule?.agent !== undefined && !isOfKeeper) {
      if (!isServed(facts, host.messengers)) return NOT_ASKED_FOR_AGENTS;
      runs.asksItself(asked.rootRequest);
      asked = { ...asked, schedule: { ...asked.schedule, asksItself: true } };
    }
    const places = isOfKeeper
      ? { askedIn: [], unreached: [] }
      : await cards.placesOf(action, asked.approvers, facts);
    const isUnheard = places.unreached.length > 0 && places.askedIn.length === 0;
    if (
      asked.escalateTo !== undefined &&
      (isUnheard || (await approvers.isNobody({ ...asked, ...places, escalateTo: undefined })))
    )
      asked = { ...asked, escalateAt: host.deps.clock.now() };
    const problem = problemOfRun({ ...asked, ...places });
    if (problem !== undefined) {
      runs.setProblem(asked.rootRequest, problem.code);
      return problem;
    }
    if (approvers.isAskerUnknown(asked)) return this.#refuse(asked, ASKER_UNKNOWN);
    if (await approvers.isNobody({ ...asked, ...places })) return this.#refuse(asked, NOBODY_DECIDES);
    if (runs.problemOf(asked.rootRequest) === NOT_WANTED.code) return NOT_WANTED;
    const isEditable = (await formOfAction(action, { ...asked, labels })) !== undefined;
    const approval = approvals.asking.request(
      { ...asked, ...places, labels, preview, ...(isEditable && { isEditable }) },
      () => host.thread.own.calls.park(requestId, toolCallId),
      host.thread.own.isRunning(requestId),
    );
    if (approval === undefined) return undefined;
    const { id, unreached } = approval;
    return { approvalId: id, note: unreached.length === 0 ? undefined : unreachedWords(unreached) };
  }

  /** Nobody may decide. The chat and the audit say so at once; of a scheduled run, its occurrence. */
  #refuse(asked: ApprovalRequest, problem: ConsentProblem & { readonly code: VoidReason }): ConsentProblem {
    const { code } = problem;
    const { approvals, host } = this.#options;
    if (asked.schedule === undefined) approvals.asking.refuse(asked, code);
    else host.runs.runs.setProblem(asked.rootRequest, code);
    return problem;
  }

  async useGrant(question: ApprovalQuestion, facts: CallFacts): ReturnType<ActionConsent["useGrant"]> {
    if (question.offer === undefined) return undefined;
    const unasked = { ...(await this.#requestOf(question, facts)), reason: undefined, isExplained: false };
    const call = { ...unasked, successor: undefined, ...NOT_DRAWN };
    const use = await this.#options.approvals.granted.use(call, question.amount);
    return use && { approver: use.decidedBy?.person };
  }

  /** Stores the outcome of a call for which a grant may have been used. */
  endUse({ requestId, toolCallId }: ActionRequest, output: Json, hadNoEffect: boolean): void {
    const isFailure = failureName(output) !== undefined;
    this.#options.approvals.granted.end(requestId, toolCallId, { output, isFailure, hadNoEffect });
  }

  callEnded(requestId: string, toolCallId: string, output: Json): boolean {
    const isFailure = failureName(output) !== undefined;
    return this.#options.approvals.work.callEnded(requestId, toolCallId, { output, isFailure });
  }

  factsOfOutcome(turn: TurnInfo): CallFacts | undefined {
    return factsOfOutcome(turn, this.#options.approvals);
  }

  async mayAnswer(question: ApprovalQuestion, facts: CallFacts): Promise<boolean> {
    return facts.person !== undefined && this.#mayDecide(await this.#requestOf(question, facts), facts);
  }

  /** Whether the conversation for which an agent works can ask, and the person whom it asks may decide alone. */
  async #isAskedByKeeper(asked: ApprovalRequest, facts: CallFacts): Promise<boolean> {
    const run = this.#options.host.runs.runs.get(asked.rootRequest);
    return run?.delegation?.canAsk === true && !needsSeveral(asked) && this.#mayDecide(asked, facts);
  }

  async #mayDecide(asked: ApprovalRequest, { address, person }: CallFacts): Promise<boolean> {
    if (person === undefined) return false;
    const decider = { surface: "http", person, messengerId: address?.messengerId } as const;
    return this.#options.approvers.mayDecide(asked, decider);
  }

  async answer(
    approvalId: string,
    decision: "approve" | "reject" | "withdraw",
    { messengerId, name, person }: SystemCaller,
  ): Promise<void> {
    const { decisions } = this.#options.approvals;
    const by = { surface: person === undefined ? "api" : "http", name, person, messengerId } as const;
    // Nobody but the person who asks takes a question back.
    const kind = person === undefined && decision === "withdraw" ? "reject" : decision;
    await decisions.decide(approvalId, { kind }, by);
  }

  stateOf(approvalId: string): AskedCall | undefined {
    const approval = this.#options.approvals.get(approvalId);
    return approval && askedCallOf(approval, sayTo(this.#options.host.agent, approval.requester));
  }

  hasConsent(turnId: string): boolean {
    return this.#options.approvals.hasConsent(turnId);
  }

  isAsking(turnId: string): boolean {
    return this.#options.approvals.isAsking(turnId);
  }

  stepEnded(turnId: string): void {
    this.#options.approvals.work.stepEnded(turnId);
  }

  turnReplaced(turnId: string): void {
    this.#options.approvals.questions.drop(turnId, "replaced");
  }

  async #requestOf(question: ApprovalQuestion, facts: CallFacts): Promise<ApprovalRequest> {
    const { host } = this.#options;
    const { requestId } = question.request;
    const approvers = await this.#options.approvers.ruleOf(question, facts);
    const escalateTo = await this.#options.approvers.escalationOf(question, facts);
    return requestOf(question, {
      ...facts,
      approvers,
      escalateTo,
      turn: host.thread.own.info(requestId),
      textSoFar: question.moreWords ?? host.engine.textSoFar(requestId),
      rootRequest: host.runs.rootOf(requestId),
      now: host.deps.clock.now(),
    });
  }
}
