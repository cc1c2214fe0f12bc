import { sayEnglish } from "../../core/text/bot-texts.ts";
import type { Say, TextName } from "../../core/text/bot-texts.ts";
import type { Json } from "../../core/message/content.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { Approval, VoidReason } from "./approval.ts";
import { changesForModel } from "./changes-for-model.ts";
import { decidersOf } from "./quorum.ts";
import { isList, wordsOf } from "./input-fields.ts";

/**
 * Returns the decision about an ended approval and the model's next task, for the turn that tells the model. The text
 * can be read alone, because the history may have been summarized since.
 */
export function decisionWords(approval: Approval): string {
  const { decidedBy, reason, state } = approval;
  const by = decidedBy === undefined ? "" : ` by ${deciderName(approval)}`;
  if (state === "void") return `${DECISIONS.void}: ${voidWords(reason)}. ${NEXT.void}`;
  const words = reason === undefined ? "" : ` Their words: ${JSON.stringify(reason)}.`;
  const later = approval.isExplained ? " They say only now why." : "";
  const isUnknown = state === "failed" && isUnknownOutcome(failureName(approval.outcome));
  const next = state === "replaced" && reason !== undefined ? CHANGE_NOW : isUnknown ? UNKNOWN : NEXT[state];
  return `${DECISIONS[state]}${by}.${changesForModel(approval)}${later}${words} ${next}`.trim();
}

const CHANGE_NOW = "It did not run. Call the action again with these changes.";

/** Says why an approval can never run. */
export function voidWords(reason: string | undefined, say: Say = sayEnglish): string {
  return say(reason !== undefined && reason in VOID ? VOID[reason as VoidReason] : "notPossible");
}

const VOID = {
  "chat-gone": "chatGone",
  "messenger-undeclared": "messengerUndeclared",
  "action-removed": "actionRemoved",
  "approvers-missing": "approversMissing",
  "requester-anonymous": "requesterAnonymous",
} as const satisfies Record<VoidReason, TextName>;

const NOT_AGAIN = "Do not call the action again unless they ask for it.";
const UNKNOWN = `It is not known whether it happened. Tell the person so. ${NOT_AGAIN}`;

const DECISIONS = {
  waiting: "Nobody has decided",
  approved: "Approved",
  running: "Approved",
  done: "Approved",
  failed: "Approved",
  rejected: "Rejected",
  expired: "Nobody decided in time",
  withdrawn: "Taken back",
  replaced: "Changes wanted",
  void: "It can no longer run",
} as const satisfies Record<Approval["state"], string>;

const NEXT = {
  waiting: "",
  approved: "",
  running: "",
  done: "It has run. Tell the person the result. Do not call the action again.",
  failed: `It did not work. Tell the person. ${NOT_AGAIN}`,
  rejected: `It did not run. Tell the person. ${NOT_AGAIN}`,
  expired: `It did not run. Tell the person. ${NOT_AGAIN}`,
  withdrawn: `It did not run. Confirm it briefly. ${NOT_AGAIN}`,
  replaced: "It did not run. Ask what should change, then call the action again with the changes.",
  void: "It did not run. Tell the person that it was not done.",
} as const satisfies Record<Approval["state"], string>;

/** The outcome of an action for people. Of a failure it has only the words that its author wrote for others to read. */
export function resultWords(outcome: Json, say: Say = sayEnglish): string {
  const name = failureName(outcome);
  if (name === undefined) return wordsOf(outcome, say);
  if (isUnknownOutcome(name)) return say("maybeHappened");
  if (name === "ActionKeyConflict") return say("doneOtherwise");
  if (name === "ActionAuthorizationError") return say("notAllowedAnyMore");
  if (name === "ActionGoneError") return say("actionGone");
  const error = (outcome as { readonly error: { readonly message: string } }).error;
  return name === "ActionError" ? error.message : say("didNotWork");
}

/** Returns the name of the failure that an outcome is. Undefined if it is an output. */
export function failureName(outcome: Json | undefined): string | undefined {
  if (typeof outcome !== "object" || outcome === null || isList(outcome)) return undefined;
  const { error } = outcome;
  if (typeof error !== "object" || error === null || isList(error)) return undefined;
  return typeof error["name"] === "string" && typeof error["message"] === "string"
    ? error["name"]
    : undefined;
}

export function isUnknownOutcome(name: string | undefined): boolean {
  return name === "ActionUnknownError" || name === "ActionPendingError";
}

export function nameOf({ fullName, userName, userId }: MessengerAuthor): string {
  return fullName ?? userName ?? userId;
}

/** Returns the names of those who have decided. */
export function deciderName(
  { agreed, decidedBy }: Pick<Approval, "agreed" | "decidedBy">,
  say: Say = sayEnglish,
): string {
  const deciders = decidersOf({ agreed, decidedBy });
  if (deciders.length > 1) return deciders.map((one) => deciderName({ decidedBy: one }, say)).join(", ");
  if (decidedBy?.person !== undefined) {
    const name = nameOf(decidedBy.person);
    return decidedBy.surface === "grant" ? say("deciderByGrant", { name }) : name;
  }
  const name = decidedBy?.name ?? say("botTeam");
  return decidedBy?.isAdmin === true ? say("deciderAsAdmin", { name }) : name;
}
