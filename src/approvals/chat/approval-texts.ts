import { isMessageChanged, isScheduleDeleted } from "../rules/approval.ts";
import type { Approval, ApprovalDecision, ApprovalState, DecisionResult } from "../rules/approval.ts";
import { grantWords } from "../rules/grant-words.ts";
import { lengthWords } from "../rules/grant-length.ts";
import { deputiesInWords } from "../rules/card-fields.ts";
import { decidersOf } from "../rules/quorum.ts";
import { deciderName, nameOf, voidWords } from "../rules/outcome-words.ts";
import { sayEnglish } from "../../core/text/bot-texts.ts";
import type { Say, TextName } from "../../core/text/bot-texts.ts";
import { alert } from "../../core/chat/card-press.ts";
import type { PressAnswer } from "../../core/chat/card-press.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";

/**
 * Returns the private answer to the person who pressed, or who wrote a decision. It is a dialog only if the person must
 * know it: something else was decided, or more calls than this one are allowed.
 */
export function answerOf(
  result: DecisionResult,
  decision: ApprovalDecision["kind"],
  say: Say,
  person?: MessengerAuthor,
): PressAnswer {
  switch (result.kind) {
    case "decided": {
      const { agreed = [], decidedBy, offer, quorum = 1, state } = result.approval;
      if (state === "waiting" && decision === "approve")
        return say("pressAgreed", { count: agreed.length, quorum });
      if (decidedBy?.granted === undefined || offer === undefined) return say(DONE[decision]);
      const covered = `${grantWords(offer, result.approval, say)}, ${lengthWords(decidedBy.granted, say)}`;
      return alert(say("pressGranted", { covered }));
    }
    case "late": {
      const { decidedBy, reason, state, successor } = result.approval;
      const isSame = decidedBy !== undefined && RESULTS[decision].includes(state);
      const deciders = decidersOf(result.approval);
      const isOwn = person !== undefined && deciders.some((one) => one.person?.userId === person.userId);
      if (isSame && isOwn && successor === undefined) return say(DONE[decision]);
      if (isMessageChanged(result.approval)) return alert(say("pressMessageChanged"));
      if (isScheduleDeleted(result.approval)) return alert(say("pressScheduleDeleted"));
      if (state === "replaced" && decidedBy === undefined) return alert(say("pressReplaced"));
      if (state === "void")
        return alert(say("pressVoid", { why: voidWords(reason, say).replace(/\.$/, "") }));
      const values = { state: say(STATES[state]), name: deciderName(result.approval, say) };
      const words = say(decidedBy === undefined ? "pressLate" : "pressLateBy", values);
      return isSame ? words : alert(words);
    }
    case "expired":
      return alert(say("pressExpired"));
    case "not-allowed":
      return alert(notAllowed(result.approval, decision, say, person));
    case "unknown":
      return alert(say("pressUnknown"));
  }
}

/** The answer to the decision about one of several calls. */
export interface NamedResult {
  readonly name: string;
  readonly result: DecisionResult;
}

/**
 * Returns the private answer to the person who decided about several calls of a card. If not all of it counts, it names
 * those that do not.
 */
export function answerOfAll(
  results: readonly NamedResult[],
  decision: "approve" | "reject",
  say: Say,
  person: MessengerAuthor,
): PressAnswer {
  const answers = results.map(({ result }) => answerOf(result, decision, say, person));
  const words = answers.map((answer) => (typeof answer === "object" ? answer.text : (answer ?? "")));
  if (new Set(words).size === 1) return answers[0];
  const others = results.flatMap(({ name, result }, index) =>
    result.kind === "decided" ? [] : [`${name}: ${words[index] ?? ""}`],
  );
  return alert(
    say(decision === "approve" ? "pressPartApproved" : "pressPartRejected", {
      count: results.length - others.length,
      total: results.length,
      others: others.join(" "),
    }),
  );
}

function notAllowed(
  approval: Approval,
  decision: ApprovalDecision["kind"],
  say: Say,
  person: MessengerAuthor | undefined,
): string {
  if (person?.isChat === true) return say("decideAsYourself", { name: nameOf(person) });
  const { approvers, requester } = approval;
  // The request was written in the name of a chat, but only people can press.
  if (requester?.isChat === true && (decision === "withdraw" || approvers.kind === "requester"))
    return say("decideAsAsked", { name: nameOf(requester) });
  if (decision === "withdraw") return say("pressNotRequester");
  if (decision === "retract") return say("pressNotAgreed");
  return say("pressNotAllowed", { approvers: approversInWords(approval, say) });
}

const DONE = {
  approve: "pressApproved",
  reject: "pressRejected",
  change: "pressChange",
  withdraw: "pressWithdrawn",
  retract: "pressRetracted",
} as const satisfies Record<ApprovalDecision["kind"], TextName>;

/** The states to which each decision leads. */
const RESULTS: Readonly<Record<ApprovalDecision["kind"], readonly ApprovalState[]>> = {
  approve: ["approved", "running", "done", "failed"],
  reject: ["rejected"],
  change: ["replaced"],
  withdraw: ["withdrawn"],
  retract: [],
};

const STATES = {
  waiting: "stateWaiting",
  approved: "stateApproved",
  running: "stateApproved",
  done: "stateDone",
  failed: "stateApproved",
  rejected: "stateRejected",
  expired: "stateExpired",
  withdrawn: "stateWithdrawn",
  replaced: "stateReplaced",
} as const satisfies Record<Exclude<Approval["state"], "void">, TextName>;

/** @param isThere whether the words are for the chat in which people are asked */
export function approversInWords(
  {
    approvers,
    escalatedAt,
    escalateTo,
    requester,
    requesterMayApprove,
  }: Pick<Approval, "approvers" | "escalatedAt" | "escalateTo" | "requester" | "requesterMayApprove">,
  say: Say = sayEnglish,
  isThere = true,
): string {
  const first = ((): string => {
    switch (approvers.kind) {
      case "anyone":
        return say(isThere ? "anyoneHere" : "anyoneThere");
      case "requester":
        return requester === undefined ? say("botTeam") : nameOf(requester);
      case "permissions": {
        const permissions = approvers.permissions.join(", ");
        return approvers.names === undefined
          ? say("peopleWithPermission", { permissions })
          : say("namedWithPermission", { names: approvers.names.join(", "), permissions });
      }
      case "people":
        return approvers.names?.join(", ") ?? say("chosenPeople");
      case "function":
        return say("chosenPeople");
    }
  })();
  const others =
    escalatedAt === undefined || escalateTo === undefined ? [] : [deputiesInWords(escalateTo, say)];
  const people = [first, ...others].join(", ");
  const isAnybody = requesterMayApprove || requester === undefined || approvers.kind === "requester";
  return isAnybody ? people : say("butNot", { people, name: nameOf(requester) });
}
