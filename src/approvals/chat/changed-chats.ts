import type { ChatMove } from "../../core/chat/chat-move.ts";
import type { GonePlace } from "../../core/chat/delivery.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { ApprovalParts } from "./approval-parts.ts";

/** Ends the requests that were asked in a chat that is gone, and says who cannot be asked there any more. */
export function chatGone({ approvals: { questions }, cards, host }: ApprovalParts, place: GonePlace): void {
  host.database.transaction(() => {
    for (const approval of questions.lose((one) => cards.lostIn(one, place))) cards.tellUnreached(approval);
  });
  questions.cancel(({ origin }) =>
    origin !== undefined && cards.isAt(origin, place) ? "chat-gone" : undefined,
  );
}

/** The waiting requests of a chat that has moved get their cards there, because the old ones stayed behind. */
export function chatMoved(
  { approvals, cards, host }: ApprovalParts,
  messengerId: string,
  { to }: ChatMove,
): void {
  const isThere = (address: Address): boolean => {
    const today = cards.placeToday(address);
    return today.messengerId === messengerId && today.chatId === to.chatId;
  };
  host.database.transaction(() => {
    for (const approval of approvals.waiting()) {
      const places = [approval.origin ?? [], approval.askedIn.map(({ address }) => address)].flat();
      if (places.some(isThere) && cards.isDrawn(approval)) cards.draw(approval, approvals.together(approval));
    }
  });
}
