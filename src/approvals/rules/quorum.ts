import type { Approval, Decider } from "./approval.ts";

/** A decision of a system that counts for all people who must approve. */
export function decidesAlone({ isAdmin, surface }: Decider): boolean {
  return surface === "api" || isAdmin === true;
}

/** Whether two decisions are of one person. A system may name a person without the messenger. */
export function isOfSame(one: Decider, other: Decider): boolean {
  return one.person !== undefined && one.person.userId === other.person?.userId;
}

/** Whether a person is one of those who have approved so far. */
export function hasAgreed({ agreed = [] }: Pick<Approval, "agreed">, by: Decider): boolean {
  return agreed.some((one) => isOfSame(one, by));
}

/** Returns those who have approved, with one more. A person counts once. */
export function withAgreement({ agreed = [] }: Pick<Approval, "agreed">, by: Decider): readonly Decider[] {
  return [...agreed.filter((one) => !isOfSame(one, by)), by];
}

/** Whether several people must approve. */
export function needsSeveral({ quorum = 1 }: Pick<Approval, "quorum">): boolean {
  return quorum > 1;
}

/** Returns all whose decision it was: several people have approved together, or one person or system has decided. */
export function decidersOf({
  agreed = [],
  decidedBy,
}: Pick<Approval, "agreed" | "decidedBy">): readonly Decider[] {
  if (decidedBy === undefined) return [];
  return hasAgreed({ agreed }, decidedBy) ? agreed : [decidedBy];
}
