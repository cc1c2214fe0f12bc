import { holdersOf, personName } from "../actions/declare/authorize.ts";
import type { MessengerAuthor } from "../core/chat/messenger-event.ts";
import type { QuestionPeople } from "../core/chat/question.ts";
import type { AskingPlace } from "../messengers/tools/action-questions.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import { isServed } from "../messengers/tools/call-facts.ts";
import type { QuestionsHost } from "./bot-methods.ts";
import type { AskedPlace } from "./question.ts";

const MOST_PEOPLE = 10;

/** Who is asked for a call, and whether only in private. */
export interface Asking {
  readonly requestId: string;
  readonly place: AskingPlace;
  readonly people: QuestionPeople;
  readonly isPrivate: boolean;
}

/**
 * Finds the people whom a question is for, with the chats in which they are asked: the person who asks in the chat of the
 * turn, all others in their private chats. A run of a schedule asks its owner or the person who made it, if that is
 * allowed. Nobody if the turn has no person.
 */
export async function placesOf(
  host: Pick<QuestionsHost, "actions" | "messengers" | "objects">,
  { isPrivate, people, place: { facts, outside }, requestId }: Asking,
): Promise<AskedPlace[]> {
  const { address, askOwnerIn, person, schedule } = facts;
  const owner = outside?.owner;
  if (person === undefined && people === "requester" && owner !== undefined) {
    const found = await host.objects.link.resolveTarget(owner);
    return found.kind === "found" ? [{ userId: owner.userId, address: found.address }] : [];
  }
  // An agent asks by itself in the chats that it serves.
  if (schedule?.agent !== undefined) {
    if (!isServed(facts, host.messengers)) return [];
  } else if (schedule !== undefined) {
    if (askOwnerIn === undefined || people !== "requester") return [];
    // The private chat of the owner of a declared schedule. Schedules of people ask the maker below.
    if (person === undefined) return [{ userId: undefined, name: undefined, address: askOwnerIn }];
  }
  const messenger = address?.messengerId ?? onlyMessenger(host);
  if (messenger === undefined) return [];
  const asked = await peopleOf(host, { facts, people, requestId });
  const places = asked.map(async ({ language, name, userId }): Promise<AskedPlace[]> => {
    const isRequester = userId === person?.userId;
    const place = { userId, name: isRequester ? nameOf(person) : name, language };
    if (
      isRequester &&
      address !== undefined &&
      (address.isDirectMessage || (people === "requester" && !isPrivate))
    )
      return [{ ...place, address }];
    const found = await host.objects.link.resolveTarget({ messenger, userId });
    return found.kind === "found" ? [{ ...place, address: found.address }] : [];
  });
  return (await Promise.all(places)).flat();
}

interface AskedPerson {
  readonly userId: string;
  readonly name: string | undefined;
  readonly language?: string | undefined;
}

async function peopleOf(
  host: Pick<QuestionsHost, "actions">,
  { facts, people, requestId }: Pick<Asking, "people" | "requestId"> & { readonly facts: CallFacts },
): Promise<readonly AskedPerson[]> {
  const { person } = facts;
  // An anonymous person cannot be told apart from others of the chat.
  if (people === "requester")
    return person === undefined || person.isChat === true ? [] : [{ ...person, name: nameOf(person) }];
  if ("person" in people) return [{ userId: people.person, name: undefined }];
  const { people: known } = await host.actions.rights.ofTurn(requestId, facts);
  const holders = holdersOf(known, [people.role]) ?? [];
  return holders.slice(0, MOST_PEOPLE).map((userId) => ({ userId, name: personName(known, userId) }));
}

function nameOf({ fullName, userName }: Pick<MessengerAuthor, "fullName" | "userName">): string | undefined {
  return fullName ?? userName;
}

/** The bot's messenger, if it has only one. */
function onlyMessenger({ messengers }: Pick<QuestionsHost, "messengers">): string | undefined {
  const [only, ...others] = messengers.all();
  return others.length === 0 ? only?.id : undefined;
}
