import type { Amount } from "../../core/text/amount.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import { isSameSchedule, type ScheduleBinding } from "../../core/turn/schedule-binding.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { Approval, Decider } from "./approval.ts";
import { lengthsFor, type GrantLength } from "./grant-length.ts";

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
  /** The number of calls, and their sum, that it covers in all. Undefined: any. */
  readonly calls: number | undefined;
  readonly sum: Amount | undefined;
  /** The budget that it shares with other grants of the action. Undefined: one of its own. */
  readonly budget: string | undefined;
  readonly length: GrantLength;
  /** The person for whose calls nobody is asked. For a schedule that no person made, the one who gave the grant. */
  readonly person: MessengerAuthor;
  /** The schedule whose runs are covered, and nothing else. Undefined: the calls of the person. */
  readonly schedule: ScheduleBinding | undefined;
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
  "action" | "offer" | "requester" | "people" | "origin" | "rootRequest" | "schedule"
>;

const HOUR_MS = 60 * 60 * 1000;
/** A request that takes longer than this is asked about again. */
const LONGEST_REQUEST_MS = 24 * HOUR_MS;

/**
 * Whether a call could be covered by a grant at all: one person or one schedule asks, in a chat, and the action has said
 * what it covers.
 */
export function isGrantable({ offer, origin, people, requester, schedule }: GrantQuestion): boolean {
  const [only, ...others] = people;
  if (offer === undefined || origin === undefined) return false;
  if (schedule !== undefined) return schedule.agent === undefined;
  return requester !== undefined && others.length === 0 && only?.userId === requester.userId;
}

/** Whether a grant covers a call now. */
export function covers(grant: Grant, question: GrantQuestion, now: number): boolean {
  const { action, offer, origin, rootRequest } = question;
  return (
    isGrantable(question) &&
    isInForce(grant, now) &&
    grant.action === action &&
    grant.scope === offer?.scope &&
    isForSame(grant, question) &&
    grant.messengerId === origin?.messengerId &&
    grant.threadId === origin.threadId &&
    (grant.rootRequest === undefined || grant.rootRequest === rootRequest)
  );
}

/** A grant of a person never covers a schedule, and that of a schedule covers neither people nor later revisions. */
function isForSame({ person, schedule }: Grant, question: GrantQuestion): boolean {
  if (schedule === undefined)
    return question.schedule === undefined && person.userId === question.requester?.userId;
  return isSameSchedule(schedule, question.schedule) && schedule.revision === question.schedule?.revision;
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
  const { action, id: approvalId, offer, origin, rootRequest, schedule } = approval;
  const person = approval.requester ?? (schedule === undefined ? undefined : by.person);
  if (!isGrantable(approval) || offer === undefined || origin === undefined || person === undefined)
    return undefined;
  if (!lengthsFor(approval).includes(length)) return undefined;
  const { messengerId, threadId }: Address = origin;
  return {
    id,
    action,
    scope: offer.scope,
    words: offer.words,
    calls: offer.calls,
    sum: offer.sum,
    budget: offer.budget,
    length,
    person,
    schedule,
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
    case "schedule":
      return undefined;
  }
}
