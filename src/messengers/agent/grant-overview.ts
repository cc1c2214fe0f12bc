import { escapeMarkdown } from "../../core/plain-markdown.ts";
import { grantWords } from "../../approvals/approval-card.ts";
import type { Grant } from "../../approvals/grant.ts";
import { LENGTH_WORDS } from "../../approvals/grant-length.ts";
import type { Grants } from "../../approvals/grants.ts";
import { nameOf } from "../../approvals/outcome-words.ts";
import type { PressAnswer } from "../../core/card-press.ts";
import type { Content } from "../../core/content.ts";
import type { MessengerAuthor, MessengerEvent } from "../../core/messenger-event.ts";
import { alert, timeInWords } from "./approval-texts.ts";

const MOST_LISTED = 10;

/** The payload of a button that ends a grant. */
export interface EndGrantPress {
  readonly endGrant: string;
}

/** Returns the answer to `/grants`: the grants of this chat that a person has given, or that count for that person. */
export function grantsOverview(
  { author, messengerId, thread }: MessengerEvent,
  grants: Pick<Grants, "inForce">,
): Content {
  const mine = grants
    .inForce()
    .filter((grant) => grant.messengerId === messengerId && grant.threadId === thread.id)
    .filter((grant) => concerns(grant, author));
  if (mine.length === 0)
    return "Nothing is allowed in advance here: I ask about everything that needs consent.";
  const listed = mine.slice(0, MOST_LISTED);
  const lines = listed.map((grant, index) => `${index + 1}\\. ${escapeMarkdown(lineOf(grant))}`);
  const left = mine.length - listed.length;
  const buttons = listed.map(({ id }, index) => ({
    kind: "callback" as const,
    label: `End ${index + 1}`,
    payload: { endGrant: id },
  }));
  return {
    kind: "card",
    text: ["**Allowed without asking**", ...lines, ...(left > 0 ? [`… and ${left} more`] : [])].join("\n\n"),
    buttons: [buttons.slice(0, 5), buttons.slice(5)].filter((row) => row.length > 0),
  };
}

/** Ends a grant for the person who gave it, or for whom it counts. */
export function endGrant(
  id: string,
  person: MessengerAuthor | undefined,
  grants: Pick<Grants, "get" | "revoke">,
): PressAnswer {
  const grant = grants.get(id);
  if (grant === undefined) return alert("I don't know this any more.");
  if (person === undefined || !concerns(grant, person))
    return alert(`Only ${giverOf(grant)} and ${nameOf(grant.person)} can end this.`);
  return grants.revoke(id, { surface: "chat", person })
    ? alert("Ended. From now on I ask again.")
    : alert("This is over already.");
}

function concerns({ givenBy, person }: Grant, who: MessengerAuthor | undefined): boolean {
  return who !== undefined && (who.userId === person.userId || who.userId === givenBy.person?.userId);
}

function lineOf(grant: Grant): string {
  const { length, until, uses } = grant;
  const end = length !== "hour" || until === undefined ? "" : ` (until ${timeInWords(until)})`;
  const used = uses === 1 ? "used once" : `used ${uses} times`;
  return `${grantWords(grant, { requester: grant.person, schedule: grant.schedule })}, ${LENGTH_WORDS[length]}${end} – given by ${giverOf(grant)}, ${used}`;
}

function giverOf({ givenBy }: Grant): string {
  return givenBy.person === undefined ? "the bot's team" : nameOf(givenBy.person);
}
