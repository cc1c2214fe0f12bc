import type { Approval } from "../../approvals/approval.ts";
import type { MessengerAuthor, MessengerThread } from "../../core/messenger-event.ts";
import type { Address } from "../../core/surface.ts";
import type { TurnInfo } from "../../core/turn-info.ts";
import type { ScheduledRun } from "../../core/scheduled-run.ts";
import type { CallFacts } from "./action-rights.ts";

/**
 * For whom and where the calls of a turn run. A turn about an outcome has the rights of the people for whom the action
 * was asked, and no more than those of a person whose words it tells. A turn of a schedule that somebody has made has the
 * rights of that person.
 *
 * @param run the scheduled run that the turn is, if it is one
 */
export function factsOfTurn(
  turn: TurnInfo | undefined,
  approvalOf: (id: string) => Approval | undefined,
  run?: ScheduledRun,
): CallFacts {
  if (run !== undefined) return factsOfRun(run, turn?.answerTo[0]);
  const address = turn?.answerTo[0];
  const { event } = turn ?? {};
  if (turn !== undefined && event !== undefined)
    return { people: turn.authors, person: event.author, address, chat: event.thread };
  const approvalId = turn?.metadata?.["approval"];
  const approval =
    turn?.kind === "outcome" && typeof approvalId === "string" ? approvalOf(approvalId) : undefined;
  const speaker = approval?.reason === undefined ? undefined : approval.decidedBy?.person;
  const people = distinct([...(approval?.people ?? []), speaker]);
  if (approval?.schedule !== undefined)
    return { ...factsOfApproval(approval), people, schedule: approval.schedule };
  return { people, person: approval?.requester, address, chat: threadOf(address) };
}

function factsOfRun({ askIn, requester, schedule }: ScheduledRun, shownIn: Address | undefined): CallFacts {
  const address = askIn ?? shownIn;
  const people = requester === undefined ? [] : [requester];
  return { people, person: requester, address, chat: threadOf(address), schedule };
}

/** For whom and where an approved action runs: consent gives nobody more rights. */
export function factsOfApproval({ origin, people, requester }: Approval): CallFacts {
  return { people, person: requester, address: origin, chat: threadOf(origin) };
}

export function threadOf(address: Address | undefined): MessengerThread | undefined {
  if (address === undefined) return undefined;
  const { chatId, isDirectMessage, threadId, topicId } = address;
  return { id: threadId, chatId, isDirectMessage, ...(topicId !== undefined && { topicId }) };
}

function distinct(people: readonly (MessengerAuthor | undefined)[]): MessengerAuthor[] {
  const byId = new Map<string, MessengerAuthor>();
  for (const person of people) if (person !== undefined) byId.set(person.userId, person);
  return [...byId.values()];
}
