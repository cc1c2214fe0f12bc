import type { CardButton, CardContent, CardField, Json } from "../core/content.ts";
import type { MessengerAuthor } from "../core/messenger-event.ts";
import type { Approval } from "./approval.ts";

/** What stands in the payload of a card's button. */
export interface ApprovalPress {
  readonly approval: string;
  /** The press counts for exactly this input. */
  readonly inputHash: string;
  readonly decision: "approve" | "reject" | "change" | "withdraw";
}

/** What a card says beside the approval itself. */
export interface CardView {
  /** Who may decide, in words. */
  readonly approvers: string;
  /** Writes a moment for the people of the chat. */
  readonly time: (epochMs: number) => string;
}

const MOST_FIELDS = 12;
const LONGEST_VALUE = 300;
const HIDDEN = "•••";

/** Returns the card of an approval, which always shows its present state. Pure. */
export function approvalCard(approval: Approval, view: CardView): CardContent {
  const { state, summary } = approval;
  return {
    kind: "card",
    text: `**${titleOf(approval)}**\n\n${escaped(shortened(summary))}`,
    fields: [...inputFields(approval.input, approval.sensitive), ...stateFields(approval, view)],
    ...(state === "waiting" && { buttons: buttonsOf(approval) }),
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

function titleOf({ decidedBy, outcome, state }: Approval): string {
  if (state === "replaced" && decidedBy === undefined) return "Replaced by a newer request";
  if (state === "failed" && isUnknown(failureName(outcome))) return "Approved, but the outcome is not known";
  return TITLES[state];
}

function buttonsOf({ id, inputHash, requester }: Approval): readonly (readonly CardButton[])[] {
  const button = (label: string, decision: ApprovalPress["decision"]): CardButton => ({
    kind: "callback",
    label,
    payload: { approval: id, inputHash, decision },
  });
  const second = [button("Ask for changes", "change")];
  if (requester !== undefined) second.push(button("Take back", "withdraw"));
  return [[button("Approve", "approve"), button("Reject", "reject")], second];
}

function stateFields(approval: Approval, view: CardView): CardField[] {
  const { state, risk, requester, decidedBy, reason, outcome } = approval;
  const fields: (CardField | undefined)[] = [
    risk === undefined ? undefined : { label: "Risk", value: risk },
    requester === undefined ? undefined : { label: "Asked by", value: nameOf(requester) },
  ];
  switch (state) {
    case "waiting":
      fields.push({ label: "Who can decide", value: view.approvers });
      fields.push({ label: "Until", value: view.time(approval.expiresAt) });
      break;
    case "expired":
      fields.push({ label: "Expired", value: view.time(approval.expiresAt) });
      break;
    default:
      if (decidedBy !== undefined) fields.push({ label: "Decided by", value: deciderName(approval) });
      if (reason !== undefined) fields.push({ label: "Why", value: shortened(reason) });
      if (outcome !== undefined) fields.push({ label: "Result", value: shortened(resultWords(outcome)) });
  }
  return fields.filter((field) => field !== undefined);
}

/** The input in words: one field for each value, amounts and targets as they are named. */
export function inputFields(input: Json, sensitive: readonly string[]): CardField[] {
  const fields: CardField[] = [];
  const add = (value: Json, path: readonly string[]): void => {
    const name = path.join(".");
    const isHidden = sensitive.some((one) => name === one || name.startsWith(`${one}.`));
    const holdsHidden = sensitive.some((one) => path.length === 0 || one.startsWith(`${name}.`));
    if (isHidden) {
      fields.push({ label: labelOf(path), value: HIDDEN });
    } else if (typeof value === "object" && value !== null && !isList(value) && path.length < 3) {
      for (const [key, inner] of Object.entries(value)) add(inner, [...path, key]);
    } else if (holdsHidden && typeof value === "object" && value !== null) {
      // A list, or deep inside: it is shown as a whole or not at all.
      fields.push({ label: labelOf(path), value: HIDDEN });
    } else {
      fields.push({ label: labelOf(path), value: shortened(wordsOf(value)) });
    }
  };
  add(input, []);
  if (fields.length <= MOST_FIELDS) return fields;
  const left = fields.length - MOST_FIELDS + 1;
  return [...fields.slice(0, MOST_FIELDS - 1), { label: "And", value: `${left} more values` }];
}

/** `orderId` becomes "Order id", `card.number` "Card number". */
function labelOf(path: readonly string[]): string {
  if (path.length === 0) return "Input";
  const words = path
    .join(" ")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .toLowerCase();
  return (words.charAt(0).toUpperCase() + words.slice(1)).slice(0, 256).trim() || "Input";
}

/** A JSON value as a person reads it. */
export function wordsOf(value: Json): string {
  if (value === null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value === "" ? "–" : value;
  if (typeof value === "number") return String(value);
  if (isList(value) && value.every((one) => typeof one !== "object")) return value.map(wordsOf).join(", ");
  return JSON.stringify(value);
}

/** What came of an action, for people. A failure says only what its author wrote for others to read. */
function resultWords(outcome: Json): string {
  const name = failureName(outcome);
  if (name === undefined) return wordsOf(outcome);
  if (isUnknown(name)) return "It may or may not have happened.";
  if (name === "ActionAuthorizationError") return "The person who asked is not allowed to do this any more.";
  const error = (outcome as { readonly error: { readonly message: string } }).error;
  return name === "ActionError" ? error.message : "It did not work.";
}

/** The name of the failure that an outcome is, if it is one. */
export function failureName(outcome: Json | undefined): string | undefined {
  if (typeof outcome !== "object" || outcome === null || isList(outcome)) return undefined;
  const { error } = outcome;
  if (typeof error !== "object" || error === null || isList(error)) return undefined;
  return typeof error["name"] === "string" && typeof error["message"] === "string"
    ? error["name"]
    : undefined;
}

function isUnknown(name: string | undefined): boolean {
  return name === "ActionUnknownError" || name === "ActionPendingError";
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

export function nameOf({ fullName, userName, userId }: MessengerAuthor): string {
  return fullName ?? userName ?? userId;
}

export function deciderName({ decidedBy }: Pick<Approval, "decidedBy">): string {
  if (decidedBy?.person !== undefined) return nameOf(decidedBy.person);
  return decidedBy?.name ?? "the bot's team";
}

function shortened(text: string): string {
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE - 1)}…`;
}

/** Input and people's words are no Markdown. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_~[\]()<>#|!]/g, String.raw`\$&`);
}
