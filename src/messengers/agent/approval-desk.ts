import { z } from "zod";
import { missingPermissions } from "../../actions/authorize.ts";
import type { Action } from "../../actions/action.ts";
import type { ApprovalQuestion } from "../../actions/action-host.ts";
import { approvalCard } from "../../approvals/approval-card.ts";
import type {
  Approval,
  ApprovalDecision,
  ApproverRule,
  Decider,
  DecisionResult,
} from "../../approvals/approval.ts";
import { Approvals } from "../../approvals/approvals.ts";
import { pendingApprovalOf } from "../../approvals/pending-approval.ts";
import type { ExecutionDecision, PendingApproval } from "../../approvals/pending-approval.ts";
import { deciderName, decisionWords, nameOf } from "../../approvals/outcome-words.ts";
import { logBotFailure, runBotCode } from "../../core/bot-code.ts";
import type { CardPress, PressAnswer } from "../../core/card-press.ts";
import type { Json } from "../../core/content.ts";
import type { Database } from "../../core/database.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import { STEP_BREAK } from "../../core/step-break.ts";
import type { Address } from "../../core/surface.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { replyPolicy } from "../declare/texts.ts";
import type { Cards } from "../replies/cards.ts";
import { outcomeMessage } from "../turns/outcome-message.ts";
import type { ActionRights, CallFacts } from "./action-rights.ts";
import { threadOf } from "./call-facts.ts";
import type { OwnTurns } from "./own-turns.ts";

export interface ApprovalDeskOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly rights: ActionRights;
  readonly thread: () => { readonly cards: Cards; readonly own: OwnTurns };
  readonly declared: (messengerId: string) => NormalizedMessengerDefinition | undefined;
  /** Returns the bot's action of this name. Undefined if the bot no longer has it. */
  readonly actionNamed: (name: string) => Action | undefined;
  /** Runs an approved action. Returns its output, or `{ error }`. */
  readonly run: (approval: Approval) => Promise<{ readonly output: Json; readonly isFailure: boolean }>;
  /** Returns the text that the model has written in a turn so far. */
  readonly textSoFar: (turnId: string) => string;
  /** Called when stored work waits for the loop. */
  readonly onChange: () => void;
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const CARD = "approval:";
const LONGEST_WORDS = 2_000;

const pressSchema = z.object({
  approval: z.string(),
  inputHash: z.string(),
  decision: z.enum(["approve", "reject", "change", "withdraw"]),
});

/** Approvals of one conversation, with their cards, presses and outcomes in the chat (I9). */
export class ApprovalDesk {
  readonly approvals: Approvals;
  readonly #options: ApprovalDeskOptions;

  constructor(options: ApprovalDeskOptions) {
    this.#options = options;
    const { database, deps, log } = options;
    this.approvals = new Approvals({
      database,
      clock: deps.clock,
      newId: () => deps.newId(),
      mayDecide: (approval, decider) => this.#mayDecide(approval, decider),
      run: (approval) => options.run(approval),
      draw: (approval) => this.#draw(approval),
      tell: (approval) => this.#tell(approval),
      onChange: options.onChange,
      onFailure: (error) => logBotFailure(log, "approval", error),
    });
  }

  /** Asks people about a call. See `ActionHost.ask`. */
  async ask(question: ApprovalQuestion, facts: CallFacts): Promise<string | undefined> {
    const { inputHash, input, ledgerKey, permissions, preview, request, risk, summary } = question;
    const { action, name, requestId, toolCallId } = request;
    const { deps, thread } = this.#options;
    const approvers = await this.#ruleOf(question, facts);
    const asked = {
      action: name,
      toolCallId,
      requestId,
      ledgerKey,
      input,
      inputHash,
      summary,
      risk,
      kind: action.kind === "durable-pause" ? action.kind : ("approval-gated" as const),
      permissions,
      sensitive: action.sensitive ?? [],
      preview,
      modelWords: lastWords(this.#options.textSoFar(requestId)),
      requester: facts.person,
      people: facts.people,
      origin: facts.address,
      approvers,
      requesterMayApprove: action.requesterMayApprove ?? true,
      expiresAt: deps.clock.now() + (action.expiresAfterMs ?? WEEK_MS),
    };
    return this.approvals.request(asked, () => thread().own.calls.park(requestId, toolCallId))?.id;
  }

  /** The calls that wait for a person. */
  pending(executionId: string | undefined): PendingApproval[] {
    return this.approvals
      .waiting()
      .filter(({ id }) => executionId === undefined || id === executionId)
      .map(pendingApprovalOf);
  }

  /** Decides for the bot's own code, which has checked the caller. */
  async decide(id: string, decision: ApprovalDecision): Promise<ExecutionDecision> {
    const result = await this.approvals.decide(id, decision, { surface: "api" });
    if (result.kind === "unknown") return { kind: "unknown" };
    const { approval, kind } = result;
    return { kind: kind === "not-allowed" ? "unknown" : kind, approval };
  }

  /** Takes a press of an approval's card. Undefined if the card is another one. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    return press.cardId.startsWith(CARD) ? this.#press(press) : undefined;
  }

  async #press({ cardId, payload, person }: CardPress): Promise<PressAnswer> {
    const press = pressSchema.parse(payload);
    const known = this.approvals.get(press.approval);
    if (known === undefined || cardId !== cardIdOf(known) || press.inputHash !== known.inputHash)
      return alert("I don't know this request any more.");
    // A person without an id cannot decide.
    if (person === undefined) return alert("I can't see who pressed this button, so nothing has changed.");
    const { decision } = press;
    const result = await this.approvals.decide(
      press.approval,
      { kind: decision },
      { surface: "chat", person },
    );
    return answerOf(result, decision);
  }

  async #ruleOf({ permissions, request }: ApprovalQuestion, facts: CallFacts): Promise<ApproverRule> {
    const { approvers } = request.action;
    if (typeof approvers === "function") return { kind: "function" };
    if (typeof approvers === "string") return { kind: approvers };
    if (approvers !== undefined) return { kind: "people", userIds: approvers.map(String) };
    if (facts.address?.isDirectMessage === true)
      return { kind: facts.person === undefined ? "anyone" : "requester" };
    if (permissions.length > 0) {
      const grant = await this.#options.rights.ofTurn(request.requestId, facts);
      // If everybody may do everything, nobody has a special permission to decide.
      if (grant.permissions !== undefined) return { kind: "permissions", permissions };
    }
    return { kind: "requester" };
  }

  async #mayDecide(approval: Approval, { person, surface }: Decider): Promise<boolean> {
    // The bot's own code has checked the caller.
    if (surface === "api") return true;
    if (person === undefined) return false;
    const isRequester = person.userId === approval.requester?.userId;
    if (isRequester && !approval.requesterMayApprove) return false;
    const { approvers } = approval;
    switch (approvers.kind) {
      case "anyone":
        return true;
      case "requester":
        return isRequester;
      case "people":
        return approvers.userIds.includes(person.userId);
      case "permissions": {
        const { origin, requestId } = approval;
        const place = { address: origin, chat: threadOf(origin) };
        const grant = await this.#options.rights.ofPerson(requestId, person, place);
        return (
          grant.permissions !== undefined && missingPermissions(grant, approvers.permissions) === undefined
        );
      }
      case "function": {
        const decides = this.#options.actionNamed(approval.action)?.approvers;
        if (typeof decides !== "function") return false;
        const { deps, log } = this.#options;
        const asked = runBotCode({ clock: deps.clock, log }, "approvers", () => decides(person));
        // The log has the reason of a failure.
        return asked.catch(() => false);
      }
    }
  }

  #draw(approval: Approval): void {
    const address = this.#addressOf(approval);
    if (address === undefined) return;
    const { cards } = this.#options.thread();
    const content = approvalCard(approval, { approvers: approversInWords(approval), time: timeInWords });
    const id = cardIdOf(approval);
    if (approval.drawnState !== undefined) {
      cards.revise(id, content);
      return;
    }
    const policy = replyPolicy(this.#options.declared(address.messengerId)?.delivery ?? {});
    cards.post({ id, address, policy }, content);
  }

  #tell(approval: Approval): void {
    const { action, id, input, outcome, state } = approval;
    const address = this.#addressOf(approval);
    const result = outcome ?? (state === "done" ? null : "The action did not run.");
    this.#options.thread().own.submit({
      kind: "outcome",
      idempotencyKey: cardIdOf(approval),
      messages: [outcomeMessage(id, { action, input, decision: decisionWords(approval), result })],
      answerTo: address === undefined ? [] : [address],
      metadata: { approval: id },
    });
  }

  /** The chat of the turn that asked. Undefined if it had none, or the bot does not serve its messenger any more. */
  #addressOf({ origin }: Approval): Address | undefined {
    return origin === undefined || this.#options.declared(origin.messengerId) === undefined
      ? undefined
      : origin;
  }
}

function cardIdOf({ id }: Pick<Approval, "id">): string {
  return `${CARD}${id}`;
}

function alert(text: string): PressAnswer {
  return { text, alert: true };
}

/** The private word to the person who pressed. */
function answerOf(result: DecisionResult, decision: keyof typeof DONE): PressAnswer {
  switch (result.kind) {
    case "decided":
      return DONE[decision];
    case "late": {
      const { state } = result.approval;
      const by = result.approval.decidedBy === undefined ? "" : ` by ${deciderName(result.approval)}`;
      return alert(`This was decided before${by}: ${STATES[state]}.`);
    }
    case "expired":
      return alert("It's too late: nobody decided in time.");
    case "not-allowed":
      return alert(
        decision === "withdraw"
          ? "Only the person who asked can take this back."
          : `You can't decide this. It's up to ${approversInWords(result.approval)}.`,
      );
    case "unknown":
      return alert("I don't know this request any more.");
  }
}

const DONE = {
  approve: "Approved.",
  reject: "Rejected.",
  change: "OK. Tell me what should change.",
  withdraw: "Taken back.",
} as const;

const STATES = {
  waiting: "it still waits",
  approved: "approved",
  running: "approved",
  done: "approved, and it is done",
  failed: "approved",
  rejected: "rejected",
  expired: "nobody decided in time",
  withdrawn: "taken back",
  replaced: "there is a newer request, or changes are wanted",
  void: "it can no longer run",
} as const satisfies Record<Approval["state"], string>;

function approversInWords({ approvers, requester, requesterMayApprove }: Approval): string {
  const butNot =
    requesterMayApprove || requester === undefined || approvers.kind === "requester"
      ? ""
      : `, but not ${nameOf(requester)}`;
  switch (approvers.kind) {
    case "anyone":
      return `anyone in this chat${butNot}`;
    case "requester":
      return requester === undefined ? "the bot's team" : nameOf(requester);
    case "permissions":
      return `people who have the permission ${approvers.permissions.join(", ")}${butNot}`;
    case "people":
    case "function":
      return `people whom this bot's team has chosen${butNot}`;
  }
}

/** The words of the model's newest step: those with which it asks. */
function lastWords(text: string): string | undefined {
  const words = (text.split(STEP_BREAK).at(-1) ?? "").trim();
  return words === "" ? undefined : words.slice(0, LONGEST_WORDS);
}

/** `2026-11-29 12:00 UTC` */
function timeInWords(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
