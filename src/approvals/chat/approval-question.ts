import type { ApprovalQuestion } from "../../actions/runs/action-host.ts";
import type { ApproverRule } from "../rules/approval.ts";
import type { ApprovalRequest } from "../rules/approval-request.ts";
import { isGrantable } from "../rules/grant.ts";
import { STEP_BREAK } from "../../core/turn/step-break.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { CallFacts } from "../../messengers/tools/action-rights.ts";

/** Facts about the turn of a call. */
export interface QuestionFacts extends CallFacts {
  readonly turn: TurnInfo | undefined;
  /** The text that the model has written in the turn so far. */
  readonly textSoFar: string;
  readonly approvers: ApproverRule;
  /** Those who may decide later. */
  readonly escalateTo: ApproverRule | undefined;
  /** The first turn of its request: the outcome of an earlier action comes in a turn of its own. */
  readonly rootRequest: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const LONGEST_WORDS = 2_000;

/** Returns the stored form of a question, as if it were asked here. */
export function requestOf(
  { inputHash, input, ledgerKey, offer, permissions, request, risk, summary, summaryReads }: ApprovalQuestion,
  {
    address,
    approvers,
    escalateTo,
    now,
    outside,
    people,
    person,
    rootRequest,
    schedule,
    scopes,
    textSoFar,
    turn,
  }: QuestionFacts,
): ApprovalRequest {
  const { action, name, requestId, toolCallId } = request;
  const { escalateAfterMs, expiresAfterMs = WEEK_MS, remindAfterMs } = action;
  const asked = {
    action: name,
    toolCallId,
    requestId,
    rootRequest,
    ledgerKey,
    input,
    inputHash,
    summary,
    summaryReads,
    risk,
    kind: action.kind === "durable-pause" ? action.kind : ("approval-gated" as const),
    permissions,
    sensitive: action.sensitive ?? [],
    isTool: action.isTool === true,
    preview: undefined,
    modelWords: lastWords(textSoFar),
    requester: person,
    people,
    origin: address,
    approvers,
    messageId: turn?.event?.message?.id,
    askedIn: [],
    unreached: [],
    requesterMayApprove: action.requesterMayApprove ?? true,
    quorum: action.quorum === 1 ? undefined : action.quorum,
    remindAt: remindAfterMs === undefined ? undefined : now + remindAfterMs,
    escalateTo,
    escalateAt: escalateAfterMs === undefined ? undefined : now + escalateAfterMs,
    expiresAt: now + expiresAfterMs,
    schedule,
    channel: turn?.channel,
    scopes,
    ...(outside !== undefined && { outside: { ...outside, canAsk: false } }),
  };
  return { ...asked, offer: isGrantable({ ...asked, offer }) ? offer : undefined };
}

/** The words of the model's newest step: those with which it asks. */
function lastWords(text: string): string | undefined {
  const words = (text.split(STEP_BREAK).at(-1) ?? "").trim();
  return words === "" ? undefined : words.slice(0, LONGEST_WORDS);
}
