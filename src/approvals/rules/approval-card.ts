import { sayEnglish, type Say, type TextName } from "../../core/text/bot-texts.ts";
import { escapeMarkdown } from "../../core/message/plain-markdown.ts";
import type { CardButton, CardContent, Json } from "../../core/message/content.ts";
import { isMessageChanged, isScheduleDeleted, type Approval } from "./approval.ts";
import { cardFields } from "./card-fields.ts";
import type { CardView } from "./card-view.ts";
import { lengthsFor, lengthWords } from "./grant-length.ts";
import { handOverTo } from "./hand-over.ts";
import { failureName, isUnknownOutcome } from "./outcome-words.ts";
import type { ApprovalPress, PressedApproval } from "./press-payloads.ts";
import { summaryOf } from "./summary-of.ts";

/** The effect of a button, without the question that it is about. */
type Effect<Press> = Press extends unknown ? Omit<Press, keyof PressedApproval> : never;

/**
 * Returns the card of an approval, which always shows its present state. Pure.
 *
 * 1. Its first line is the question. The first face has every input, within one message of the platform, and three buttons.
 * 2. A number of an option means the same on all faces. So a number that somebody writes while the card is turned decides
 *    nothing else.
 */
export function approvalCard(approval: Approval, view: CardView): CardContent {
  const { state } = approval;
  const { role, say = sayEnglish } = view;
  const summary = summaryOf(approval);
  const isAsking = state === "waiting" && role !== "status";
  const text = isAsking
    ? `**${escapeMarkdown(questionOf(summary, say))}**`
    : `**${say(titleOf(approval))}**\n\n${escapeMarkdown(summary)}`;
  return {
    kind: "card",
    text,
    fields: cardFields(approval, view, text.length),
    ...(state === "waiting" && { buttons: buttonsOf(approval, view) }),
  };
}

/** A summary is a sentence, or already a question. */
function questionOf(summary: string, say: Say): string {
  return /[?؟？]$/.test(summary)
    ? summary
    : say("approvalQuestion", { summary: summary.replace(/[\s.!…:]+$/, "") });
}

const TITLES = {
  waiting: "approvalWaits",
  approved: "approvalApproved",
  running: "approvalRunning",
  done: "approvalDone",
  failed: "approvalFailed",
  rejected: "approvalRejected",
  expired: "approvalExpired",
  withdrawn: "approvalWithdrawn",
  replaced: "approvalChanged",
  void: "approvalVoid",
} as const satisfies Record<Approval["state"], TextName>;

/** Names the state of an approval. */
export function titleOf(approval: Approval): TextName {
  const { decidedBy, outcome, reason, state, successor } = approval;
  if (state === "void" && (reason === "approvers-missing" || reason === "requester-anonymous"))
    return "approvalNobody";
  if (isMessageChanged(approval)) return "approvalMessageChanged";
  if (isScheduleDeleted(approval)) return "approvalScheduleDeleted";
  if (state === "replaced" && (decidedBy === undefined || successor !== undefined)) return "approvalReplaced";
  if (state === "failed" && isUnknownOutcome(failureName(outcome))) return "approvalUnknownOutcome";
  return TITLES[state];
}

function buttonsOf(
  approval: Approval,
  { face = "first", role = "here", say = sayEnglish }: CardView,
): readonly (readonly CardButton[])[] {
  const { id, inputHash, isEditable, offer, quorum = 1, requester, schedule } = approval;
  const button = (label: string, press: Effect<ApprovalPress>): CardButton => ({
    kind: "callback",
    label,
    payload: { approval: id, inputHash, ...press } satisfies PressedApproval as Json,
  });
  const back =
    requester === undefined || role === "elsewhere"
      ? []
      : [button(say("withdrawButton"), { decision: "withdraw" })];
  if (role === "status") return back.length === 0 ? [] : [back];
  const decide = [
    button(say("approveButton"), { decision: "approve" }),
    button(say("rejectButton"), { decision: "reject" }),
  ];
  if (face === "first") return [decide, [button(say("moreButton"), { face: "more" })]];
  // Always there, so that no number of an option changes its meaning when somebody approves.
  const undo = quorum === 1 ? [] : [[button(say("retractButton"), { decision: "retract" })]];
  const people = handOverTo(approval);
  const hand = people.length === 0 ? [] : [[button(say("handButton"), { face: "hand" })]];
  const handTo = people.map(({ name, userId }) => [
    button(say("handToButton", { name }), { handTo: userId }),
  ]);
  const grants = offer === undefined ? [] : lengthsFor({ schedule });
  return [
    decide,
    [button(say("lessButton"), { face: "first" })],
    [button(say("changeButton"), { decision: "change" }), ...back],
    ...undo,
    ...grants.map((grant) => [
      button(say("grantButton", { length: lengthWords(grant, say) }), { decision: "approve", grant }),
    ]),
    ...hand,
    ...(isEditable === true ? [[button(say("editButton"), { edit: true })]] : []),
    ...(face === "hand" ? handTo : []),
  ];
}
