import type { MessengerThread } from "../../core/chat/messenger-event.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { ScheduledRun } from "../../core/turn/scheduled-run.ts";
import type { Payer } from "../thread/usage-news.ts";
import type { CallFacts } from "./action-rights.ts";

/**
 * For whom and where the calls of a turn run. A turn of a schedule that somebody has made has the rights of that person.
 *
 * @param tellers know the people of turns about outcomes
 * @param run the scheduled run that the turn is, if it is one
 */
export function factsOfTurn(
  turn: TurnInfo | undefined,
  tellers: { factsOfOutcome(turn: TurnInfo): CallFacts | undefined },
  run?: ScheduledRun,
): CallFacts {
  const address = turn?.answerTo[0];
  if (run !== undefined) return factsOfRun(run, address);
  const { event } = turn ?? {};
  if (turn !== undefined && event !== undefined)
    return { people: turn.authors, person: event.author, address, chat: event.thread };
  const told = turn && tellers.factsOfOutcome(turn);
  return told ?? { people: [], person: undefined, address, chat: threadOf(address) };
}

function factsOfRun(
  { askIn, asksOwner, delegation, requester, schedule }: ScheduledRun,
  shownIn: Address | undefined,
): CallFacts {
  const address = askIn ?? shownIn;
  const people = delegation?.people ?? (requester === undefined ? [] : [requester]);
  // In a group only the person who made the schedule can be told apart from the others.
  const isKnown = askIn?.isDirectMessage === true || requester !== undefined;
  const askOwnerIn = asksOwner === true && isKnown ? askIn : undefined;
  return { people, person: requester, address, chat: threadOf(address), schedule, askOwnerIn };
}

/** Whether the object can post in the chat of a call: an agent may lack the messenger of the conversation that calls it. */
export function isServed(
  { address }: Pick<CallFacts, "address">,
  messengers: { isDeclared(messengerId: string): boolean },
): boolean {
  return address !== undefined && messengers.isDeclared(address.messengerId);
}

export function threadOf(address: Address | undefined): MessengerThread | undefined {
  if (address === undefined) return undefined;
  const { chatId, isDirectMessage, threadId, topicId } = address;
  return { id: threadId, chatId, isDirectMessage, ...(topicId !== undefined && { topicId }) };
}

/** Calls that nobody makes are those of their schedule, or of the bot. */
export function payerOf({ address, outside, person, schedule }: CallFacts): Payer {
  if (outside !== undefined) return outside.payer;
  const nobody = schedule === undefined ? "bot" : `task:${schedule.taskId}`;
  const { chatId = "", messengerId = "" } = address ?? {};
  return { messengerId, chatId, userId: person?.userId ?? nobody };
}
