import { escapeMarkdown } from "../core/plain-markdown.ts";
import type { CardButton, CardContent, CardField } from "../core/content.ts";
import type { GrantScope } from "../core/grant-scope.ts";
import type { MessengerAuthor } from "../core/messenger-event.ts";
import type { ScheduleBinding } from "../core/schedule-binding.ts";
import type { Approval } from "./approval.ts";
import { unreachedWords } from "./card-place.ts";
import { LENGTH_WORDS, lengthsFor } from "./grant-length.ts";
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

/** The payload of a card's button. */
export interface ApprovalPress {
  readonly approval: string;
  /** The press counts for exactly this input. */
  readonly inputHash: string;
  readonly decision: "approve" | "reject" | "change" | "withdraw";
  /** How long the person agrees to more calls like this one. */
  readonly grant?: GrantLength;
}

/** What a card says beside the approval itself. */
export interface CardView {
  /** Who may decide, in words. */
  readonly approvers: string;
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
  const { input, sensitive, state, summary } = approval;
  return {
    kind: "card",
    text: `**${titleOf(approval, view)}**\n\n${escapeMarkdown(shortened(masked(summary, input, sensitive)))}`,
    fields: [
      ...inputFields(input, sensitive),
      ...previewFields(approval),
      ...modelFields(approval),
      ...stateFields(approval, view),
    ],
    ...(state === "waiting" && { buttons: buttonsOf(approval, view) }),
  };
}

const TITLES = {
  waiting: "Is this OK?",
  approved: "Approved. Starting …",
  running: "Approved. Working on it …",
  done: "Done",
  failed: "Approved, but it failed",
  rejected: "Rejected",
  expired: "Nobody decided in time",
  withdrawn: "Taken back",
  replaced: "Changes wanted",
  void: "No longer possible",
} as const satisfies Record<Approval["state"], string>;

function titleOf({ decidedBy, outcome, state, successor }: Approval, { role }: CardView): string {
  if (state === "waiting" && role === "status") return "Waiting for a decision";
  if (state === "replaced" && (decidedBy === undefined || successor !== undefined))
    return "Replaced by a newer request";
  if (state === "failed" && isUnknownOutcome(failureName(outcome)))
    return "Approved, but the outcome is not known";
  return TITLES[state];
}

function buttonsOf(
  { id, inputHash, offer, requester, schedule }: Approval,
  { role = "here" }: CardView,
): readonly (readonly CardButton[])[] {
  const grantButton = (grant: GrantLength): CardButton => ({
    kind: "callback",
    label: `Yes, ${LENGTH_WORDS[grant]}`,
    payload: { approval: id, inputHash, decision: "approve", grant },
  });
  const button = (label: string, decision: ApprovalPress["decision"]): CardButton => ({
    kind: "callback",
    label,
    payload: { approval: id, inputHash, decision },
  });
  const back = requester === undefined || role === "elsewhere" ? [] : [button("Take back", "withdraw")];
  if (role === "status") return back.length === 0 ? [] : [back];
  const second = [button("Ask for changes", "change"), ...back];
  const rows = [[button("Approve", "approve"), button("Reject", "reject")], second];
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
  role: CardRole | { readonly chat: string | undefined } = "here",
): string {
  if (schedule !== undefined) return `${words}, by the scheduled task ${schedule.taskId}`;
  const where = typeof role === "object" ? otherChat(role.chat) : WHERE[role];
  return `${words}, ${where}${requester === undefined ? "" : `, asked by ${nameOf(requester)}`}`;
}

const WHERE = {
  here: "in this chat",
  status: "in this chat",
  elsewhere: "in the chat that asked",
} as const satisfies Record<CardRole, string>;

function otherChat(title: string | undefined): string {
  return title === undefined ? "in another chat" : `in “${title}”`;
}

/** The difference against the day of the question. It says nothing about later states, so only a question shows it. */
function previewFields({ input, preview, sensitive, state }: Approval): CardField[] {
  if (preview === undefined || state !== "waiting") return [];
  const shown = (text: string): string => shortened(masked(text, input, sensitive));
  if (typeof preview === "string") return [{ label: "What changes", value: shown(preview) }];
  return preview.slice(0, MOST_CHANGES).map(({ from, label, to }) => ({
    label: `${label.charAt(0).toUpperCase()}${label.slice(1)}`.slice(0, 256) || "Change",
    value: from === undefined ? shown(`${to} (new)`) : `${shown(String(from))} → ${shown(String(to))}`,
  }));
}

/** The model's reason. The label says whose words these are, because they may be wrong. */
function modelFields({ input, modelWords, sensitive, state }: Approval): CardField[] {
  if (modelWords === undefined || state !== "waiting") return [];
  const words = shortened(masked(modelWords, input, sensitive).replaceAll(/\s+/g, " ").trim());
  return words === "" ? [] : [{ label: "The bot's own words", value: `“${words}”` }];
}

function stateFields(approval: Approval, view: CardView): CardField[] {
  const { state, risk, requester, decidedBy, reason, offer, outcome, input, sensitive, unreached } = approval;
  const fields: (CardField | undefined)[] = [
    risk === undefined ? undefined : { label: "Risk", value: risk },
    approval.schedule === undefined
      ? undefined
      : { label: "Scheduled task", value: approval.schedule.taskId },
    requester === undefined ? undefined : { label: "Asked by", value: nameOf(requester) },
  ];
  switch (state) {
    case "waiting":
      fields.push({ label: "Who can decide", value: view.approvers });
      fields.push({ label: "Until", value: view.time(approval.expiresAt) });
      if (unreached.length > 0) fields.push({ label: "Not reached", value: unreachedWords(unreached) });
      if (offer !== undefined && view.role !== "status")
        fields.push({
          label: "You can also allow",
          value: shortened(masked(grantWords(offer, approval, view.role), input, sensitive)),
        });
      break;
    case "expired":
      fields.push({ label: "Expired", value: view.time(approval.expiresAt) });
      break;
    default:
      if (decidedBy !== undefined) fields.push({ label: "Decided by", value: deciderName(approval) });
      if (decidedBy?.granted !== undefined && offer !== undefined)
        fields.push({
          label: `Also allowed ${LENGTH_WORDS[decidedBy.granted]}`,
          value: shortened(masked(grantWords(offer, approval, view.role), input, sensitive)),
        });
      if (reason !== undefined)
        fields.push({ label: "Why", value: state === "void" ? voidWords(reason) : shortened(reason) });
      if (outcome !== undefined)
        fields.push({ label: "Result", value: shortened(masked(resultWords(outcome), input, sensitive)) });
  }
  return fields.filter((field) => field !== undefined);
}
