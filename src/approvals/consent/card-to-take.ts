import { isSameThread } from "../../feature/same-thread.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { Approval } from "../rules/approval.ts";
import type { ApprovalRequest } from "../rules/approval-request.ts";
import { placesOf } from "../stored/index-keys.ts";

const MOST_BROUGHT = 20;

/**
 * Returns the outdated question whose card a new one takes over: that of the same action, asked in the same chats. Not one
 * that was brought to people: they may not see the new one (I11).
 */
export function cardToTake(asked: ApprovalRequest, outdated: readonly Approval[]): Approval | undefined {
  const chatsOf = ({ askedIn, origin }: Pick<Approval, "askedIn" | "origin">): string =>
    JSON.stringify(
      [origin, ...askedIn.map(({ address }) => address)].map((one) => [one?.messengerId, one?.threadId]),
    );
  const fitting = outdated.filter(
    (old) => (old.broughtTo ?? []).length === 0 && chatsOf(old) === chatsOf(asked),
  );
  return fitting.findLast(({ action }) => action === asked.action) ?? fitting.at(-1);
}

/** Returns the chats that have a card of their own, with one more. Undefined if there are too many. */
export function shownAlsoIn(approval: Approval, address: Address): readonly Address[] | undefined {
  const { broughtTo = [] } = approval;
  if (placesOf(approval).some((place) => isSameThread(place, address))) return broughtTo;
  return broughtTo.length < MOST_BROUGHT ? [...broughtTo, address] : undefined;
}
