import { sayTo } from "../../core/text/bot-texts.ts";
import { alert, type FeaturePress, type PressAnswer } from "../../core/chat/card-press.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { Approval } from "../rules/approval.ts";
import { unreachedWords } from "../rules/card-place.ts";
import { handOverTo } from "../rules/hand-over.ts";
import { nameOf } from "../rules/outcome-words.ts";
import { summaryOf } from "../rules/summary-of.ts";
import type { ApprovalParts } from "./approval-parts.ts";
import { answerOf } from "./approval-texts.ts";

/**
 * One approver asks another one to decide: the other one gets a card of the question in the private chat, and all cards
 * say so. Nobody gains or loses the right to decide. Takes a press of an approver, and returns the private word to that
 * person.
 */
export async function handOver(
  { approvals, approvers, cards, host }: ApprovalParts,
  approval: Approval,
  userId: string,
  { event: { messengerId }, handled }: FeaturePress,
  person: MessengerAuthor,
): Promise<PressAnswer> {
  const say = sayTo(host.agent, person);
  const by = { surface: "chat", person, messengerId } as const;
  if (approval.state !== "waiting") return answerOf({ kind: "late", approval }, "approve", say);
  if (!(await approvers.mayDecide(approval, by)))
    return answerOf({ kind: "not-allowed", approval }, "approve", say, person);
  const to = handOverTo(approval).find((one) => one.userId === userId);
  const name = to?.name ?? userId;
  const other = { surface: "chat", person: { userId }, messengerId } as const;
  if (to === undefined || !(await approvers.mayDecide(approval, other)))
    return alert(say("handNotPossible", { name }));
  const rule = { kind: "people", userIds: [userId], names: [name] } as const;
  const { askedIn, unreached } = await cards.privateChatsOf(rule, approval);
  const [place] = askedIn;
  if (place === undefined) return alert(unreachedWords(unreached, say));
  const handedTo = { to: name, by: nameOf(person) };
  const text = say("handedWords", { by: handedTo.by, what: summaryOf(approval) });
  const isHanded = approvals.questions.handOver(approval.id, handedTo, place.address, (handed) => {
    handled();
    cards.askBelow(handed, place.address, userId, text);
  });
  return isHanded ? say("pressHanded", { name }) : alert(say("decidedByNow"));
}
