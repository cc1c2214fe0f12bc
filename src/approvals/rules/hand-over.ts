import type { Approval } from "./approval.ts";

const MOST_NAMED = 5;

/** Somebody to whom a question can be handed over. */
export interface NamedPerson {
  readonly userId: string;
  readonly name: string;
}

/** Returns the known people who may decide, if there are at least two. Never the person who asks, if that person may not. */
export function handOverTo({ approvers, requester, requesterMayApprove }: Approval): readonly NamedPerson[] {
  if (!("userIds" in approvers) || approvers.userIds === undefined) return [];
  const { names, userIds } = approvers;
  const named = userIds.map((userId, index) => ({ userId, name: names?.[index] ?? `Person ${userId}` }));
  const others = named.filter(({ userId }) => requesterMayApprove || userId !== requester?.userId);
  return others.length < 2 ? [] : others.slice(0, MOST_NAMED);
}
