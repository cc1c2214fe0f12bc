import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { CallFacts } from "../../messengers/tools/action-rights.ts";
import { threadOf } from "../../messengers/tools/call-facts.ts";
import type { Approvals } from "../consent/approvals.ts";
import type { Approval } from "../rules/approval.ts";

/**
 * For whom and where the calls of a turn about an outcome run. It has the rights of the people for whom the action was
 * asked, and no more than those of a person whose words it tells. Undefined for other turns.
 */
export function factsOfOutcome(turn: TurnInfo, approvals: Pick<Approvals, "get">): CallFacts | undefined {
  const approvalId = turn.metadata?.["approval"];
  if (turn.kind !== "outcome" || typeof approvalId !== "string") return undefined;
  const approval = approvals.get(approvalId);
  if (approval === undefined) return undefined;
  const speaker = approval.reason === undefined ? undefined : approval.decidedBy?.person;
  const people = distinct([...approval.people, speaker]);
  if (approval.schedule !== undefined)
    return { ...factsOfApproval(approval), people, schedule: approval.schedule };
  const address = turn.answerTo[0];
  return { people, person: approval.requester, address, chat: threadOf(address) };
}

/** For whom and where an approved action runs: consent gives nobody more rights. */
export function factsOfApproval({
  origin,
  outside,
  people,
  requester,
  schedule,
  scopes,
}: Approval): CallFacts {
  const place = { address: origin, chat: threadOf(origin) };
  // What an agent asks goes to the conversation for which it works.
  const delegated = schedule?.agent !== undefined && { schedule };
  return { people, person: requester, ...place, scopes, outside, ...delegated };
}

function distinct(people: readonly (MessengerAuthor | undefined)[]): MessengerAuthor[] {
  const byId = new Map<string, MessengerAuthor>();
  for (const person of people) if (person !== undefined) byId.set(person.userId, person);
  return [...byId.values()];
}
