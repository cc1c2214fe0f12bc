import type { ActionRequest, ApprovalQuestion } from "../../actions/action-host.ts";
import { inputLabels } from "../../actions/input-labels.ts";
import type { VoidReason } from "../rules/approval.ts";
import type { Approvals, ApprovalRequest } from "../consent/approvals.ts";
import { unreachedWords } from "../rules/card-place.ts";
import { failureName } from "../rules/outcome-words.ts";
import type { Json } from "../../core/content.ts";
import type { MessengerAuthor } from "../../core/messenger-event.ts";
import type { CallFacts } from "../../messengers/tools/action-rights.ts";
import type { ApprovalCards } from "./approval-cards.ts";
import type { ApprovalDeskOptions } from "./approval-desk-options.ts";
import { requestOf } from "./approval-question.ts";
import type { Approvers } from "./approvers.ts";
import { NOT_WANTED, problemOfRun } from "./scheduled-consent.ts";
import type { ConsentProblem } from "./scheduled-consent.ts";

export interface ConsentCallsOptions extends Pick<
  ApprovalDeskOptions,
  "deps" | "textSoFar" | "thread" | "runs"
> {
  readonly approvals: Pick<Approvals, "request" | "refuse" | "get" | "granted">;
  readonly approvers: Pick<Approvers, "ruleOf" | "isNobody" | "isAskerUnknown">;
  readonly cards: Pick<ApprovalCards, "placesOf">;
}

const NOT_DRAWN = { drawnState: undefined, isTold: false } as const;

const NOBODY_DECIDES = {
  code: "approvers-missing",
  problem:
    "A person has to agree to this action, and nobody may: the person who asks may not, and there is nobody else who may. Nobody was asked. Tell the person, and that the bot's team must name somebody who may decide.",
} as const satisfies ConsentProblem;

const ASKER_UNKNOWN = {
  code: "requester-anonymous",
  problem:
    "Somebody else than the person who asks has to agree to this action. That person writes anonymously, in the name of a chat, so it cannot be known who else may. Nobody was asked. Tell the person to ask again without being anonymous.",
} as const satisfies ConsentProblem;

/** A question that was stored, with a note for the model. */
interface AskedQuestion {
  readonly approvalId: string;
  readonly note: string | undefined;
}

/** Calls of the model that need consent: a question to people, or the use of a grant. */
export class ConsentCalls {
  readonly #options: ConsentCallsOptions;

  constructor(options: ConsentCallsOptions) {
    this.#options = options;
  }

  /** Asks people about a call. See `ActionHost.ask`. */
  async ask(
    question: ApprovalQuestion,
    facts: CallFacts,
  ): Promise<AskedQuestion | ConsentProblem | undefined> {
    const { action, requestId, toolCallId } = question.request;
    const asked = await this.#requestOf(question, facts);
    const preview = await question.preview();
    const labels = await inputLabels(action, facts.person?.language);
    const places = await this.#options.cards.placesOf(action, asked.approvers, facts);
    const problem = problemOfRun({ ...asked, ...places });
    if (problem !== undefined) {
      this.#options.runs?.setProblem(asked.rootRequest, problem.code);
      return problem;
    }
    if (this.#options.approvers.isAskerUnknown(asked)) return this.#refuse(asked, ASKER_UNKNOWN);
    if (await this.#options.approvers.isNobody({ ...asked, ...places }))
      return this.#refuse(asked, NOBODY_DECIDES);
    if (this.#options.runs?.problemOf(asked.rootRequest) === NOT_WANTED.code) return NOT_WANTED;
    const approval = this.#options.approvals.request({ ...asked, ...places, labels, preview }, () =>
      this.#options.thread().own.calls.park(requestId, toolCallId),
    );
    if (approval === undefined) return undefined;
    const { id, unreached } = approval;
    return { approvalId: id, note: unreached.length === 0 ? undefined : unreachedWords(unreached) };
  }

  /** Nobody may decide. The chat and the audit say so at once; of a scheduled run, its occurrence. */
  #refuse(asked: ApprovalRequest, problem: ConsentProblem & { readonly code: VoidReason }): ConsentProblem {
    const { code } = problem;
    if (asked.schedule === undefined) this.#options.approvals.refuse(asked, code);
    else this.#options.runs?.setProblem(asked.rootRequest, code);
    return problem;
  }

  /** Uses a grant for a call. See `ActionHost.useGrant`. */
  async useGrant(
    question: ApprovalQuestion,
    facts: CallFacts,
  ): Promise<{ readonly approver: MessengerAuthor | undefined } | undefined> {
    if (question.offer === undefined) return undefined;
    const unasked = { ...(await this.#requestOf(question, facts)), reason: undefined, isExplained: false };
    const use = await this.#options.approvals.granted.use({ ...unasked, successor: undefined, ...NOT_DRAWN });
    return use && { approver: use.decidedBy?.person };
  }

  /** Stores the outcome of a call for which a grant may have been used. */
  endUse({ requestId, toolCallId }: ActionRequest, output: Json): void {
    this.#options.approvals.granted.end(requestId, toolCallId, output, failureName(output) !== undefined);
  }

  async #requestOf(question: ApprovalQuestion, facts: CallFacts): Promise<ApprovalRequest> {
    const { deps, textSoFar, thread } = this.#options;
    const { requestId } = question.request;
    const approvers = await this.#options.approvers.ruleOf(question, facts);
    return requestOf(question, {
      ...facts,
      approvers,
      turn: thread().own.info(requestId),
      textSoFar: textSoFar(requestId),
      approvalOf: (id) => this.#options.approvals.get(id),
      now: deps.clock.now(),
    });
  }
}
