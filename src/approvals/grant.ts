import type { MessengerAuthor } from "../core/messenger-event.ts";
import type { Address } from "../core/surface.ts";
import type { Approval, Decider } from "./approval.ts";
import type { GrantLength } from "./grant-length.ts";

/**
 * Consent to later calls. Its terms are those that the card showed, and never change: the action, the calls of it
 * (`scope`), the person who asks, the chat, and the time.
 */
export interface Grant {
  readonly id: string;
  readonly action: string;
  readonly scope: string;
  /** The covered calls in words. */
  readonly words: string;
  readonly length: GrantLength;
  /** The person for whose calls nobody is asked. */
  readonly person: MessengerAuthor;
  /** The chat, or topic, in which that person asks. */
  readonly messengerId: string;
  readonly threadId: string;
  /** Id of the turn that began the request. Only calls of this request are covered. Undefined: of any request. */
  readonly rootRequest: string | undefined;
  readonly givenBy: Decider;
  /** Id of the approval whose card gave it. */
  readonly approvalId: string;
  /** Epoch milliseconds. */
  readonly givenAt: number;
  /** From this time on it covers nothing. Undefined: it holds until somebody ends it. */
  readonly until: number | undefined;
  readonly revokedAt: number | undefined;
  readonly revokedBy: Decider | undefined;
  readonly uses: number;
  readonly lastUsedAt: number | undefined;
}

/** The facts of a call that a grant may cover. */
export type GrantQuestion = Pick<
  Approval,
  "action" | "offer" | "requester" | "people" | "origin" | "rootRequest"
>;

const HOUR_MS = 60 * 60 * 1000;
/** A request that takes longer than this is asked about again. */
const LONGEST_REQUEST_MS = 24 * HOUR_MS;

/** Whether a call could be covered by a grant at all: one person asks, in a chat, and the action has said what it covers. */
export function isGrantable({ offer, origin, people, requester }: GrantQuestion): boolean {
  const [only, ...others] = people;
  return (
    offer !== undefined &&
    origin !== undefined &&
    requester !== undefined &&
    others.length === 0 &&
    only?.userId === requester.userId
  );
}

/** Whether a grant covers a call now. */
export function covers(grant: Grant, question: GrantQuestion, now: number): boolean {
  const { action, offer, origin, requester, rootRequest } = question;
  return (
    isGrantable(question) &&
    isInForce(grant, now) &&
    grant.action === action &&
    grant.scope === offer?.scope &&
    grant.person.userId === requester?.userId &&
    grant.messengerId === origin?.messengerId &&
    grant.threadId === origin.threadId &&
    (grant.rootRequest === undefined || grant.rootRequest === rootRequest)
  );
}

export function isInForce({ revokedAt, until }: Grant, now: number): boolean {
  return revokedAt === undefined && (until === undefined || now < until);
}

/** Returns the grant that a decision gives. Undefined if the approval offers none. */
export function grantOfApproval(
  approval: Approval,
  {
    by,
    id,
    length,
    now,
  }: { readonly by: Decider; readonly id: string; readonly length: GrantLength; readonly now: number },
): Grant | undefined {
  const { action, id: approvalId, offer, origin, requester, rootRequest } = approval;
  if (!isGrantable(approval) || offer === undefined || origin === undefined || requester === undefined)
    return undefined;
  const { messengerId, threadId }: Address = origin;
  return {
    id,
    action,
    scope: offer.scope,
    words: offer.words,
    length,
    person: requester,
    messengerId,
    threadId,
    rootRequest: length === "request" ? rootRequest : undefined,
    givenBy: by,
    approvalId,
    givenAt: now,
    until: untilOf(length, now),
    revokedAt: undefined,
    revokedBy: undefined,
    uses: 0,
    lastUsedAt: undefined,
  };
}

function untilOf(length: GrantLength, now: number): number | undefined {
  switch (length) {
    case "request":
      return now + LONGEST_REQUEST_MS;
    case "hour":
      return now + HOUR_MS;
    case "always":
      return undefined;
  }
}
