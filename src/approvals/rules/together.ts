import type { Approval } from "./approval.ts";

const MOST_TOGETHER = 5;
const MINUTE_MS = 60_000;

/**
 * Returns the questions that share a card, each group in the order of its calls. They ask the same people, in the same
 * chats, for the same person and the same time. A high risk, a quorum or a schedule has a card of its own.
 *
 * @param fit whether one card has room for these questions
 */
export function groupsOf(
  questions: readonly Approval[],
  fit: (questions: readonly Approval[]) => boolean,
): Approval[][] {
  const alike = Map.groupBy(questions.filter(canShare), sharedFacts);
  return [...alike.values()].flatMap((all) => {
    const groups: Approval[][] = [];
    for (let left = all; left.length > 1;) {
      const group = left.slice(0, MOST_TOGETHER);
      while (group.length > 1 && !fit(group)) group.pop();
      if (group.length > 1) groups.push(group);
      left = left.slice(Math.max(1, group.length));
    }
    return groups;
  });
}

function canShare({ cardOf, quorum, risk, schedule, state, together }: Approval): boolean {
  const isSpecial = risk === "high" || quorum !== undefined || schedule !== undefined || cardOf !== undefined;
  return state === "waiting" && together === undefined && !isSpecial;
}

function sharedFacts(approval: Approval): string {
  const { approvers, askedIn, broughtTo, createdAt, escalateAt, escalatedAt, escalateTo, expiresAt } =
    approval;
  const { origin, remindAt, requester, requestId, requesterMayApprove, unreached } = approval;
  const times = [expiresAt, remindAt, escalateAt, escalatedAt].map((at) =>
    at === undefined ? null : Math.round((at - createdAt) / MINUTE_MS),
  );
  const people = [requester?.userId, approvers, requesterMayApprove, escalateTo];
  return JSON.stringify([requestId, people, origin, askedIn, unreached, broughtTo, times]);
}
