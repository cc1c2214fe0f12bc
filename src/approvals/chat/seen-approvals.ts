import { isRequester, type Approval } from "../rules/approval.ts";
import { placesOf } from "../stored/index-keys.ts";
import { nameOf } from "../rules/outcome-words.ts";
import { summaryOf } from "../rules/summary-of.ts";
import { sayTo } from "../../core/text/bot-texts.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { ApprovalViewer, SeenApproval } from "../root/approval-calls.ts";
import type { ApprovalParts } from "./approval-parts.ts";
import { decidedIn } from "./approval-cards.ts";
import { approversInWords } from "./approval-texts.ts";

/**
 * Returns the waiting requests that a person may see in a chat.
 *
 * 1. A group sees what was asked there, or asks people there, and nothing else: everybody reads the answer.
 * 2. A private chat sees what its person asked for or may decide, wherever it was asked. Consent of "anyone in this chat"
 *    makes nobody an approver elsewhere.
 */
export async function seeApprovals(
  approvals: readonly Approval[],
  { messengerId, person, thread }: ApprovalViewer,
  { approvers, cards, host }: ApprovalParts,
): Promise<SeenApproval[]> {
  const by = { surface: "chat", messengerId, ...(person !== undefined && { person }) } as const;
  const say = sayTo(host.agent, person);
  const seen: SeenApproval[] = [];
  for (const approval of approvals) {
    if (approval.state !== "waiting" || host.deps.clock.now() >= approval.expiresAt) continue;
    const isAt = (address: Address): boolean => {
      const place = cards.placeToday(address);
      return place.messengerId === messengerId && place.threadId === thread.id;
    };
    const isHere = placesOf(approval).some(isAt);
    if (!isHere && !thread.isDirectMessage) continue;
    const isDecidedHere = decidedIn(approval, (address) => cards.placeToday(address).threadId).some(isAt);
    const isMine = isDecidedHere
      ? await approvers.mayDecide(approval, by)
      : await approvers.mayDecideFrom(approval, by, thread);
    const isAsked = isRequester(approval, by);
    if (!isHere && !isMine && !isAsked) continue;
    const messageId = isHere ? cards.messageIn(approval, thread.id) : undefined;
    const { createdAt, expiresAt, id, requester } = approval;
    seen.push({
      id,
      createdAt,
      expiresAt,
      isMine,
      isAsked,
      isHere,
      summary: summaryOf(approval),
      approvers: approversInWords(approval, say, isDecidedHere),
      ...(requester !== undefined && { requester: nameOf(requester) }),
      ...(messageId !== undefined && { messageId }),
    });
  }
  return seen;
}
