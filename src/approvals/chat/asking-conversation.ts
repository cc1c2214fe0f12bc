import { isWaitingResult } from "../../actions/declare/action-errors.ts";
import { logBotFailure } from "../../core/time/bot-code.ts";
import { isCodeCall } from "../../core/action/code-call.ts";
import type { Database } from "../../core/store/database.ts";
import type { Clock } from "../../core/base/deps.ts";
import { isOutsideRequest } from "../../core/action/outside-call.ts";
import { approvedOwner } from "../../messengers/turns/turn-attachments.ts";
import { nudgeKeeper } from "../../scheduled-runs/nudge-keeper.ts";
import { APPROVALS } from "../root/approval-calls.ts";
import type { AllowanceClaim } from "../rules/allowance.ts";
import { isAskedOutside, isOpen } from "../rules/approval.ts";
import type { Approval, CallOutcome, Decider, VoidReason } from "../rules/approval.ts";
import type { ApprovalHost, Escalation } from "../rules/approval-host.ts";
import type { ApprovalsHost } from "../rules/bot-methods.ts";
import { failureName } from "../rules/outcome-words.ts";
import type { ApprovalCards } from "./approval-cards.ts";
import type { ApprovalNews } from "./approval-news.ts";
import type { Approvers } from "./approvers.ts";
import { factsOfApproval } from "./outcome-facts.ts";
import type { OutcomeTurns } from "./outcome-turns.ts";

export interface AskingConversationOptions {
  readonly host: ApprovalsHost;
  readonly approvers: Approvers;
  readonly cards: ApprovalCards;
  readonly news: ApprovalNews;
  readonly outcomes: OutcomeTurns;
}

/** The conversation around its approvals: its people, cards and actions, and those who hear of a new state. */
export class AskingConversation implements ApprovalHost {
  readonly database: Database;
  readonly clock: Clock;
  readonly #options: AskingConversationOptions;

  constructor(options: AskingConversationOptions) {
    this.#options = options;
    this.database = options.host.database;
    this.clock = options.host.deps.clock;
  }

  newId(): string {
    return this.#options.host.deps.newId();
  }

  keepMs(): number {
    return this.#options.host.agent.keepApprovalsMs;
  }

  mayDecide(approval: Approval, decider: Decider): Promise<boolean> {
    return this.#options.approvers.mayDecide(approval, decider);
  }

  isNobodyLeft(approval: Approval): Promise<boolean> {
    return this.#options.approvers.isNobodyLeft(approval);
  }

  async run(approval: Approval): Promise<CallOutcome | undefined> {
    const { action: name, askedIn, decidedBy, id, input, inputHash, ledgerKey } = approval;
    const { origin, requestId, toolCallId } = approval;
    const output = await this.#options.host.actions.runConsented({
      name,
      input,
      requestId,
      toolCallId,
      consent: { approver: decidedBy?.person, inputHash, ledgerKey },
      facts: factsOfApproval(approval),
      owner: approvedOwner(id),
      shownIn: origin ?? askedIn[0]?.address,
    });
    return isWaitingResult(output) ? undefined : outcomeOf(output);
  }

  async outcomeOf({
    action,
    inputHash,
    ledgerKey,
    requestId,
  }: Approval): Promise<CallOutcome | "asks" | undefined> {
    const { actions, thread } = this.#options.host;
    if (thread.own.isRunning(requestId)) return undefined;
    const found = await actions.outputOf(ledgerKey, action, inputHash);
    return found === undefined ? "asks" : { ...outcomeOf(found.output), hadNoEffect: found.hadNoEffect };
  }

  claim(claim: AllowanceClaim): Promise<boolean> {
    return this.#options.host.objects.root(APPROVALS).claimAllowance(claim);
  }

  occurrenceOf(rootRequest: string): string | undefined {
    return this.#options.host.runs.runs.get(rootRequest)?.occurrenceKey;
  }

  whyImpossible(approval: Approval): VoidReason | undefined {
    const { action, isTool, origin } = approval;
    const { actions, messengers } = this.#options.host;
    try {
      const isShown = origin !== undefined && !isAskedOutside(approval);
      if (isShown && !messengers.isDeclared(origin.messengerId)) return "messenger-undeclared";
      // Servers of tools may be away for a while, so a missing tool says nothing.
      return isTool || actions.named(action) !== undefined ? undefined : "action-removed";
    } catch {
      // The bot's declarations fail for now. Other callers of them log the reason.
      return undefined;
    }
  }

  draw(approval: Approval, together: readonly Approval[]): void {
    const { cards } = this.#options;
    if (approval.state !== "waiting") this.#report(approval);
    // A waiting question is drawn again when somebody turns out to be out of reach.
    for (const one of together) if (one.state === "waiting" && !cards.isDrawn(one)) this.#report(one);
    if (approval.state !== "waiting" && approval.edit !== undefined) cards.endEdit(approval, approval.edit);
    // The card shows the newer question by then.
    if (approval.isCardTaken !== true) cards.draw(approval, together);
  }

  fitTogether(questions: readonly Approval[]): boolean {
    return this.#options.cards.fitTogether(questions);
  }

  showApart(approvals: readonly Approval[]): void {
    for (const approval of approvals) this.#options.cards.draw(approval);
  }

  tell(approval: Approval): void {
    // The system whose call it was reads the outcome itself.
    if (isOutsideRequest(approval.requestId)) return;
    // The run of the code goes on, and tells its own outcome.
    const hasRun = approval.state === "done" || approval.state === "failed";
    if (hasRun && isCodeCall(approval.toolCallId)) return;
    this.#options.outcomes.tell(approval);
  }

  noteUse(use: Approval): void {
    this.#options.news.changed(use);
  }

  async escalate(approval: Approval): Promise<Escalation> {
    const { escalateTo } = approval;
    if (escalateTo === undefined) return { places: [], unreached: [] };
    const { askedIn, unreached } = await this.#options.cards.privateChatsOf(escalateTo, approval);
    return { places: askedIn.map(({ address }) => address), unreached };
  }

  remind(approval: Approval): void {
    this.#options.cards.remind(approval);
  }

  pointAt(waiting: Approval, requestId: string): void {
    this.#options.cards.pointAt(waiting, requestId);
  }

  onChange(): void {
    this.#options.host.wakeSoon();
  }

  onFailure(error: unknown): void {
    logBotFailure(this.#options.host.log, "approval", error);
  }

  /** Tells the root and the bot's hook, and those who wait for the run of a schedule. */
  #report(approval: Approval): void {
    const { host, news } = this.#options;
    news.changed(approval);
    const { log, objects, runs } = host;
    const run = approval.schedule && runs.runs.get(approval.rootRequest);
    if (run === undefined || approval.state === "waiting") return;
    // A delivery to many chats waits for the outcome only.
    if (run.broadcast === undefined || !isOpen(approval.state))
      host.later(() => void nudgeKeeper(objects, run, log));
  }
}

function outcomeOf(output: CallOutcome["output"]): CallOutcome {
  return { output, isFailure: failureName(output) !== undefined };
}
