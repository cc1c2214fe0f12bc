import { PREVIEW_FAILED } from "../../core/action/approval-preview.ts";
import type { ApprovalRisk } from "../../core/action/approval-risk.ts";
import { sayEnglish } from "../../core/text/bot-texts.ts";
import type { Say, TextName } from "../../core/text/bot-texts.ts";
import type { CardField } from "../../core/message/content.ts";
import { inOneLine } from "../../core/text/one-line.ts";
import { isMessageChanged, isScheduleDeleted } from "./approval.ts";
import type { Approval, ApproverRule } from "./approval.ts";
import { changesInWords, editorNames } from "./edited-input.ts";
import { unreachedWords } from "./card-place.ts";
import type { CardView } from "./card-view.ts";
import { lengthWords } from "./grant-length.ts";
import { grantWords } from "./grant-words.ts";
import { inputFields, masked, shortened } from "./input-fields.ts";
import { deciderName, nameOf, resultWords, voidWords } from "./outcome-words.ts";
import { saidPaths } from "./said-paths.ts";

const MOST_CHANGES = 12;
const LONGEST_CHANGES = 600;
const MESSAGE_LENGTH = 4_096;
/** Characters of a message that stay free, for marks and for the names of options. */
export const MARGIN = 400;
/** However long the rest of the card is, this many characters of the input are shown. */
const LEAST_ROOM = 800;

/**
 * The fields of a card, each in one line: a value of the model or of a person must not look like a field of its own, or
 * read backwards.
 *
 * @param textLength length of the text above them
 */
export function cardFields(approval: Approval, view: CardView, textLength: number): CardField[] {
  const { input, labels, sensitive, state } = approval;
  const { face, messageLength = MESSAGE_LENGTH, say = sayEnglish } = view;
  const isWaiting = state === "waiting";
  const above = isWaiting && approval.risk === "high" ? [riskField("high", say)] : [];
  const below = isWaiting
    ? [...previewFields(approval, say), ...questionFields(approval, view)]
    : decisionFields(approval, view);
  const others = [...above, ...below].reduce(
    (sum, { label, value }) => sum + label.length + value.length + 3,
    textLength,
  );
  const inputs = inputFields(input, {
    labels,
    sensitive,
    say,
    without: saidPaths(approval),
    // The other face shows all of it, in several messages if it must.
    room: isWaiting && isTurned(face) ? undefined : Math.max(LEAST_ROOM, messageLength - MARGIN - others),
  });
  return [...above, ...inputs, ...below].map(({ label, value }) => ({
    label: inOneLine(label),
    value: inOneLine(value),
  }));
}

/** The difference against the day of the question. It says nothing about later states, so only a question shows it. */
function previewFields({ input, preview, sensitive }: Approval, say: Say): CardField[] {
  if (preview === undefined) return [];
  const shown = (text: string): string => shortened(masked(text, input, sensitive));
  if (typeof preview === "string") {
    const words = preview === PREVIEW_FAILED ? say("previewFailed") : shown(preview);
    return [{ label: say("changesLabel"), value: words }];
  }
  const changeWords = (from: string | number | undefined, to: string | number): string => {
    if (from === undefined) return shown(say("newValue", { value: to }));
    return from === to ? shown(String(to)) : `${shown(String(from))} → ${shown(String(to))}`;
  };
  return preview.slice(0, MOST_CHANGES).map(({ from, label, to }) => ({
    label: `${label.charAt(0).toUpperCase()}${label.slice(1)}`.slice(0, 256) || say("changesLabel"),
    value: changeWords(from, to),
  }));
}

/** All values of the input that the summary does not say, and what the call changes. Nothing is cut. */
export function valueFields(approval: Approval, say: Say): CardField[] {
  const { input, labels, sensitive } = approval;
  return [
    ...inputFields(input, { labels, sensitive, say, without: saidPaths(approval) }),
    ...previewFields(approval, say),
  ];
}

/** Facts about a question, besides the call that it is about. */
export function questionFields(approval: Approval, view: CardView): CardField[] {
  const { expiresAt, input, offer, risk, sensitive, unreached } = approval;
  const { areApproversAway = false, face, role, say = sayEnglish } = view;
  const isMore = isTurned(face);
  const fields = [...quorumFields(approval, say), ...(isMore ? modelFields(approval, say) : [])];
  if (isMore && risk !== undefined && risk !== "high") fields.push(riskField(risk, say));
  fields.push(...askerFields(approval, view));
  const showsPeople = isMore || role === "status" || areApproversAway;
  if (showsPeople && !isAlone(approval)) fields.push({ label: say("approversLabel"), value: view.approvers });
  const { edited, escalatedAt, escalateTo, handedTo } = approval;
  if (edited !== undefined)
    fields.push({
      label: say("editedLabel", { name: editorNames(edited) }),
      value: shortened(masked(changesInWords(approval, say), input, sensitive), LONGEST_CHANGES),
    });
  if (handedTo !== undefined)
    fields.push({ label: say("handLabel"), value: say("handedOver", { ...handedTo }) });
  if (escalatedAt !== undefined && escalateTo !== undefined)
    fields.push({ label: say("escalatedLabel"), value: deputiesInWords(escalateTo, say) });
  if (isMore || role === "status") fields.push({ label: say("untilLabel"), value: view.time(expiresAt) });
  // Somebody else can be asked to write to the bot only by the chat that asked. People who read this card were reached.
  if (unreached.length > 0 && role !== "elsewhere")
    fields.push({ label: say("unreachedLabel"), value: unreachedWords(unreached, say) });
  if (isMore && offer !== undefined)
    fields.push({
      label: say("offerLabel"),
      value: shortened(masked(grantWords(offer, approval, say, role), input, sensitive)),
    });
  return fields;
}

function isTurned(face: CardView["face"]): boolean {
  return face === "more" || face === "hand";
}

/** Those to whom a question is escalated. */
export function deputiesInWords(rule: ApproverRule, say: Say): string {
  const names = "userIds" in rule ? (rule.names ?? rule.userIds) : undefined;
  return names?.join(", ") ?? say("chosenPeople");
}

/** How many of several people have approved, and who. */
function quorumFields({ agreed = [], quorum = 1 }: Approval, say: Say): CardField[] {
  if (quorum === 1) return [];
  const names = agreed.map((decidedBy) => deciderName({ decidedBy }, say)).join(", ");
  const values = { count: agreed.length, quorum, names };
  const value = say(agreed.length === 0 ? "quorumNobody" : "quorumCount", values);
  return [{ label: say("quorumLabel"), value }];
}

/** The model's reason. The label says whose words these are, because they may be wrong. */
function modelFields({ input, modelWords, sensitive }: Approval, say: Say): CardField[] {
  const words = shortened(
    masked(modelWords ?? "", input, sensitive)
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
  return words === "" ? [] : [{ label: say("modelWordsLabel"), value: `“${words}”` }];
}

const RISKS = { low: "lowRisk", medium: "mediumRisk", high: "highRisk" } as const satisfies Record<
  ApprovalRisk,
  TextName
>;

function riskField(risk: ApprovalRisk, say: Say): CardField {
  return { label: say("riskLabel"), value: say(RISKS[risk]) };
}

/** The schedule, the agent or the person that asks. In a private chat everybody knows the person. */
function askerFields(approval: Approval, { role, say = sayEnglish }: CardView): CardField[] {
  const { origin, requester, schedule } = approval;
  const isKnown = isAlone(approval) || (origin?.isDirectMessage === true && role !== "elsewhere");
  const { agent, taskId } = schedule ?? {};
  const askers = [agent, requester === undefined || isKnown ? undefined : nameOf(requester)];
  const names = askers.filter((name) => name !== undefined);
  return [
    ...(taskId === undefined || agent !== undefined ? [] : [{ label: say("scheduleLabel"), value: taskId }]),
    ...(names.length === 0 ? [] : [{ label: say("requesterLabel"), value: names.join(", ") }]),
  ];
}

/** Whether the person who asks is the only one who may decide. */
function isAlone({ approvers, requester }: Approval): boolean {
  if (requester === undefined) return false;
  if (approvers.kind === "requester") return true;
  const userIds = "userIds" in approvers ? approvers.userIds : undefined;
  return userIds?.length === 1 && userIds[0] === requester.userId;
}

/** The decision about an approval, and what came of it. */
export function decisionFields(approval: Approval, view: CardView): CardField[] {
  const { decidedBy, expiresAt, input, offer, origin, outcome, reason, sensitive, state } = approval;
  const { role, say = sayEnglish } = view;
  const isSamePerson =
    decidedBy?.surface === "chat" && decidedBy.person?.userId === approval.requester?.userId;
  const fields = isSamePerson
    ? askerFields({ ...approval, requester: undefined }, view)
    : askerFields(approval, view);
  if (state === "expired")
    return [
      ...fields,
      ...quorumFields(approval, say),
      { label: say("expiredLabel"), value: view.time(expiresAt) },
    ];
  const isObvious =
    isSamePerson && (isAlone(approval) || (origin?.isDirectMessage === true && role !== "elsewhere"));
  if (decidedBy !== undefined && !isObvious)
    fields.push({ label: say("deciderLabel"), value: deciderName(approval, say) });
  if (decidedBy?.granted !== undefined && offer !== undefined)
    fields.push({
      label: say("grantedLabel", { length: lengthWords(decidedBy.granted, say) }),
      value: shortened(masked(grantWords(offer, approval, say, role), input, sensitive)),
    });
  if (reason !== undefined && !isMessageChanged(approval) && !isScheduleDeleted(approval))
    fields.push({
      label: say("reasonLabel"),
      value: state === "void" ? voidWords(reason, say) : shortened(reason),
    });
  if (outcome !== undefined)
    fields.push({
      label: say("resultLabel"),
      value: shortened(masked(resultWords(outcome, say), input, sensitive)),
    });
  return fields;
}
