import type { ApprovalRisk } from "../core/approval-risk.ts";
import { sayEnglish } from "../core/bot-texts.ts";
import type { Say, TextName } from "../core/bot-texts.ts";
import { inOneLine } from "../core/one-line.ts";
import { escapeMarkdown } from "../core/plain-markdown.ts";
import type { CardButton, CardContent, CardField } from "../core/content.ts";
import type { GrantScope } from "../core/grant-scope.ts";
import type { MessengerAuthor } from "../core/messenger-event.ts";
import type { ScheduleBinding } from "../core/schedule-binding.ts";
import { isMessageChanged, isScheduleDeleted } from "./approval.ts";
import type { Approval } from "./approval.ts";
import { unreachedWords } from "./card-place.ts";
import { lengthsFor, lengthWords } from "./grant-length.ts";
import type { GrantLength } from "./grant-length.ts";
import { inputFields, masked, shortened } from "./input-fields.ts";
import {
  deciderName,
  failureName,
  isUnknownOutcome,
  nameOf,
  resultWords,
  voidWords,
} from "./outcome-words.ts";
import { summaryOf } from "./summary-of.ts";

/** The payload of a card's button. */
export interface ApprovalPress {
  readonly approval: string;
  /** The press counts for exactly this input. */
  readonly inputHash: string;
  readonly decision: "approve" | "reject" | "change" | "withdraw";
  /** How long the person agrees to more calls like this one. */
  readonly grant?: GrantLength;
}

/** Facts that a card shows in addition to the approval itself. */
export interface CardView {
  /** The people who may decide, in words. */
  readonly approvers: string;
  /** @default in English */
  readonly say?: Say;
  /** Writes a moment for the people of the chat. */
  readonly time: (epochMs: number) => string;
  /**
   * - `here`: asks in the chat of the request
   * - `elsewhere`: asks in another chat
   * - `status`: shows the state in the chat of the request, while people are asked elsewhere
   *
   * @default "here"
   */
  readonly role?: CardRole;
}

/** See `CardView.role`. */
export type CardRole = "here" | "elsewhere" | "status";

const MOST_CHANGES = 12;

/** Returns the card of an approval, which always shows its present state. Pure. */
export function approvalCard(approval: Approval, view: CardView): CardContent {
  const { input, sensitive, state } = approval;
  const { say = sayEnglish } = view;
  return {
    kind: "card",
    text: `**${say(titleOf(approval, view))}**\n\n${escapeMarkdown(summaryOf(approval))}`,
    // A value of the model or of a person must not look like a field of its own, or read backwards.
    fields: [
      ...inputFields(input, sensitive),
      ...previewFields(approval, say),
      ...modelFields(approval, say),
      ...stateFields(approval, view),
    ].map(({ label, value }) => ({ label: inOneLine(label), value: inOneLine(value) })),
    ...(state === "waiting" && { buttons: buttonsOf(approval, view) }),
  };
}

const TITLES = {
  waiting: "approvalAsks",
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

function titleOf(approval: Approval, { role }: CardView): TextName {
  const { decidedBy, outcome, reason, state, successor } = approval;
  if (state === "void" && (reason === "approvers-missing" || reason === "requester-anonymous"))
    return "approvalNobody";
  if (state === "waiting" && role === "status") return "approvalWaits";
  if (isMessageChanged(approval)) return "approvalMessageChanged";
  if (isScheduleDeleted(approval)) return "approvalScheduleDeleted";
  if (state === "replaced" && (decidedBy === undefined || successor !== undefined)) return "approvalReplaced";
  if (state === "failed" && isUnknownOutcome(failureName(outcome))) return "approvalUnknownOutcome";
  return TITLES[state];
}

function buttonsOf(
  { id, inputHash, offer, requester, schedule }: Approval,
  { role = "here", say = sayEnglish }: CardView,
): readonly (readonly CardButton[])[] {
  const grantButton = (grant: GrantLength): CardButton => ({
    kind: "callback",
    label: say("grantButton", { length: lengthWords(grant, say) }),
    payload: { approval: id, inputHash, decision: "approve", grant },
  });
  const button = (name: TextName, decision: ApprovalPress["decision"]): CardButton => ({
    kind: "callback",
    label: say(name),
    payload: { approval: id, inputHash, decision },
  });
  const back = requester === undefined || role === "elsewhere" ? [] : [button("withdrawButton", "withdraw")];
  if (role === "status") return back.length === 0 ? [] : [back];
  const second = [button("changeButton", "change"), ...back];
  const rows = [[button("approveButton", "approve"), button("rejectButton", "reject")], second];
  if (offer !== undefined) rows.push(lengthsFor({ schedule }).map(grantButton));
  return rows;
}

/**
 * The calls of an offer in words: "Refunds up to 100 €, in this chat, asked by Anna", or "Refunds up to 100 €, by the
 * scheduled task night".
 */
export function grantWords(
  { words }: Pick<GrantScope, "words">,
  {
    requester,
    schedule,
  }: { readonly requester: MessengerAuthor | undefined; readonly schedule?: ScheduleBinding | undefined },
  say: Say = sayEnglish,
  role: CardRole | { readonly chat: string | undefined } = "here",
): string {
  if (schedule !== undefined) return say("grantTermsOfSchedule", { words, task: schedule.taskId });
  const where = typeof role === "object" ? otherChat(role.chat, say) : say(WHERE[role]);
  return requester === undefined
    ? say("grantTerms", { words, where })
    : say("grantTermsBy", { words, where, name: nameOf(requester) });
}

const WHERE = {
  here: "inThisChat",
  status: "inThisChat",
  elsewhere: "inTheAskingChat",
} as const satisfies Record<CardRole, TextName>;

function otherChat(title: string | undefined, say: Say): string {
  return title === undefined ? say("inAnotherChat") : say("inChat", { chat: title });
}

/** The difference against the day of the question. It says nothing about later states, so only a question shows it. */
function previewFields({ input, preview, sensitive, state }: Approval, say: Say): CardField[] {
  if (preview === undefined || state !== "waiting") return [];
  const shown = (text: string): string => shortened(masked(text, input, sensitive));
  if (typeof preview === "string") return [{ label: say("changesLabel"), value: shown(preview) }];
  return preview.slice(0, MOST_CHANGES).map(({ from, label, to }) => ({
    label: `${label.charAt(0).toUpperCase()}${label.slice(1)}`.slice(0, 256) || "Change",
    value:
      from === undefined
        ? shown(say("newValue", { value: to }))
        : `${shown(String(from))} → ${shown(String(to))}`,
  }));
}

/** The model's reason. The label says whose words these are, because they may be wrong. */
function modelFields({ input, modelWords, sensitive, state }: Approval, say: Say): CardField[] {
  if (modelWords === undefined || state !== "waiting") return [];
  const words = shortened(masked(modelWords, input, sensitive).replaceAll(/\s+/g, " ").trim());
  return words === "" ? [] : [{ label: say("modelWordsLabel"), value: `“${words}”` }];
}

const RISKS = { low: "lowRisk", medium: "mediumRisk", high: "highRisk" } as const satisfies Record<
  ApprovalRisk,
  TextName
>;

function stateFields(approval: Approval, view: CardView): CardField[] {
  const { state, risk, requester, decidedBy, reason, offer, outcome, input, sensitive, unreached } = approval;
  const { say = sayEnglish } = view;
  const covered = (): string =>
    offer === undefined
      ? ""
      : shortened(masked(grantWords(offer, approval, say, view.role), input, sensitive));
  const fields: (CardField | undefined)[] = [
    risk === undefined ? undefined : { label: say("riskLabel"), value: say(RISKS[risk]) },
    approval.schedule === undefined
      ? undefined
      : { label: say("scheduleLabel"), value: approval.schedule.taskId },
    requester === undefined ? undefined : { label: say("requesterLabel"), value: nameOf(requester) },
  ];
  switch (state) {
    case "waiting":
      fields.push({ label: say("approversLabel"), value: view.approvers });
      fields.push({ label: say("untilLabel"), value: view.time(approval.expiresAt) });
      // Somebody else can be asked to write to the bot only by the chat that asked. People who read this card were reached.
      if (unreached.length > 0 && view.role !== "elsewhere")
        fields.push({ label: say("unreachedLabel"), value: unreachedWords(unreached, say) });
      if (offer !== undefined && view.role !== "status")
        fields.push({
          label: say("offerLabel"),
          value: covered(),
        });
      break;
    case "expired":
      fields.push({ label: say("expiredLabel"), value: view.time(approval.expiresAt) });
      break;
    default:
      if (decidedBy !== undefined)
        fields.push({ label: say("deciderLabel"), value: deciderName(approval, say) });
      if (decidedBy?.granted !== undefined && offer !== undefined)
        fields.push({
          label: say("grantedLabel", { length: lengthWords(decidedBy.granted, say) }),
          value: covered(),
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
  }
  return fields.filter((field) => field !== undefined);
}
