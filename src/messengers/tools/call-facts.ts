import type { MessengerThread } from "../../core/messenger-event.ts";
import type { Address } from "../../core/surface.ts";
import type { TurnInfo } from "../../core/turn-info.ts";
import type { ScheduledRun } from "../../core/scheduled-run.ts";
import type { ActionConsent } from "./action-consent.ts";
import type { ActionQuestions } from "./action-questions.ts";
import type { CallFacts } from "./action-rights.ts";

/**
 * For whom and where the calls of a turn run. A turn of a schedule that somebody has made has the rights of that person.
 *
 * @param tellers know the people of turns about outcomes
 * @param run the scheduled run that the turn is, if it is one
 */
export function factsOfTurn(
  turn: TurnInfo | undefined,
  tellers: {
    readonly consent: Pick<ActionConsent, "factsOfOutcome"> | undefined;
    readonly asking: Pick<ActionQuestions, "factsOfOutcome"> | undefined;
  },
  run?: ScheduledRun,
): CallFacts {
  const address = turn?.answerTo[0];
  if (run !== undefined) return factsOfRun(run, address);
  const { event } = turn ?? {};
  if (turn !== undefined && event !== undefined)
    return { people: turn.authors, person: event.author, address, chat: event.thread };
  const { asking, consent } = tellers;
  const told = turn && (consent?.factsOfOutcome(turn) ?? asking?.factsOfOutcome(turn));
  return told ?? { people: [], person: undefined, address, chat: threadOf(address) };
}

function factsOfRun(
  { askIn, asksOwner, requester, schedule }: ScheduledRun,
  shownIn: Address | undefined,
): CallFacts {
  const address = askIn ?? shownIn;
  const people = requester === undefined ? [] : [requester];
  // In a group only the person who made the schedule can be told apart from the others.
  const isKnown = askIn?.isDirectMessage === true || requester !== undefined;
  const askOwnerIn = asksOwner === true && isKnown ? askIn : undefined;
  return { people, person: requester, address, chat: threadOf(address), schedule, askOwnerIn };
}

export function threadOf(address: Address | undefined): MessengerThread | undefined {
  if (address === undefined) return undefined;
  const { chatId, isDirectMessage, threadId, topicId } = address;
  return { id: threadId, chatId, isDirectMessage, ...(topicId !== undefined && { topicId }) };
}
