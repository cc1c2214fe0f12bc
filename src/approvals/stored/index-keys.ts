import type { Address } from "../../core/chat/surface.ts";
import type { Approval } from "../rules/approval.ts";

/** The person who looks at requests, and the chat in which that person looks. */
export interface PersonInChat {
  readonly messengerId: string;
  readonly userId: string | undefined;
  readonly threadId: string;
}

/** The keys under which the root finds the requests that may concern a person in a chat. */
export interface WantedKeys {
  /** Requests that name the person: as the one who asked, or as one who may decide. */
  readonly person: string | undefined;
  /** Requests that were asked, or ask people, in the chat. */
  readonly thread: string;
  /** Requests of the messenger about which only the bot's code knows who may decide. */
  readonly unnamed: string;
}

/** Returns the keys of a request in the root's index. The conversation that asked still decides who sees it. */
export function indexKeysOf(approval: Approval): string[] {
  const { approvers, escalateTo, origin, requester } = approval;
  const places = placesOf(approval);
  const keys = places.map(({ messengerId, threadId }) => keyOf(messengerId, "thread", threadId));
  if (origin !== undefined && requester !== undefined)
    keys.push(keyOf(origin.messengerId, "person", requester.userId));
  const rules = [approvers, ...(escalateTo === undefined ? [] : [escalateTo])];
  const named = rules.flatMap((rule) => ("userIds" in rule ? (rule.userIds ?? []) : []));
  const isUnnamed = rules.some(({ kind }) => kind === "function" || kind === "permissions");
  for (const { messengerId } of places) {
    for (const userId of named) keys.push(keyOf(messengerId, "person", userId));
    if (isUnnamed) keys.push(keyOf(messengerId, "unnamed", ""));
  }
  return [...new Set(keys)];
}

/** Returns the keys under which the root finds the conversation of a grant: the one who gave it, and the one it is for. */
export function grantKeysOf({ decidedBy, origin, requester }: Approval): string[] {
  if (decidedBy?.granted === undefined || origin === undefined) return [];
  const keys = requester === undefined ? [] : [grantKeyOf(origin.messengerId, requester.userId)];
  const { messengerId = origin.messengerId, person } = decidedBy;
  if (person !== undefined) keys.push(grantKeyOf(messengerId, person.userId));
  return [...new Set(keys)];
}

export function grantKeyOf(messengerId: string, userId: string): string {
  return JSON.stringify([messengerId, "grant", userId]);
}

export function wantedKeys({ messengerId, threadId, userId }: PersonInChat): WantedKeys {
  return {
    person: userId === undefined ? undefined : keyOf(messengerId, "person", userId),
    thread: keyOf(messengerId, "thread", threadId),
    unnamed: keyOf(messengerId, "unnamed", ""),
  };
}

/** All chats that have a card of a request. */
export function placesOf({
  askedIn,
  broughtTo = [],
  origin,
}: Pick<Approval, "askedIn" | "broughtTo" | "origin">): Address[] {
  return [...(origin === undefined ? [] : [origin]), ...askedIn.map(({ address }) => address), ...broughtTo];
}

function keyOf(messengerId: string, kind: "person" | "thread" | "unnamed", id: string): string {
  return JSON.stringify([messengerId, kind, id]);
}
