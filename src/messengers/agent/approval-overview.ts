import { escapeMarkdown } from "../../core/plain-markdown.ts";
import type { Approval } from "../../approvals/approval.ts";
import type { Approvals } from "../../approvals/approvals.ts";
import { masked, shortened } from "../../approvals/input-fields.ts";
import { nameOf } from "../../approvals/outcome-words.ts";
import type { CardContent, Content } from "../../core/content.ts";
import type { MessengerAuthor, MessengerEvent } from "../../core/messenger-event.ts";
import { fromPeople } from "../turns/own-marks.ts";
import { approversInWords, timeInWords } from "./approval-texts.ts";
import type { Approvers } from "./approvers.ts";

const MOST_LISTED = 10;

/** The payload of a button that shows a waiting request. */
export interface ShowPress {
  readonly showApproval: string;
}

/** Returns the answer to `/approvals`: what waits for a person, and what that person asked for. */
export async function overviewOf(
  person: MessengerAuthor | undefined,
  approvals: Pick<Approvals, "waiting">,
  approvers: Pick<Approvers, "mayDecide">,
): Promise<Content> {
  const waiting = approvals.waiting();
  const by = { surface: "chat", person } as const;
  const mine: Approval[] = [];
  for (const approval of waiting) if (await approvers.mayDecide(approval, by)) mine.push(approval);
  const asked = waiting.filter(
    (approval) =>
      person !== undefined && approval.requester?.userId === person.userId && !mine.includes(approval),
  );
  const listed = [...mine, ...asked].slice(0, MOST_LISTED);
  if (listed.length === 0)
    return "Nothing that was asked in this chat waits for your decision, and nothing that you asked for here.";
  const lines = (from: readonly Approval[]): string[] =>
    from.flatMap((approval) => {
      const index = listed.indexOf(approval);
      return index === -1 ? [] : [`${index + 1}\\. ${lineOf(approval, from === mine)}`];
    });
  const left = mine.length + asked.length - listed.length;
  const text = [
    ...(mine.length > 0 ? ["**Waiting for your decision**", ...lines(mine)] : []),
    ...(asked.length > 0 ? ["**You asked for**", ...lines(asked)] : []),
    ...(left > 0 ? [`… and ${left} more`] : []),
  ].join("\n\n");
  const buttons = listed.map(({ id }, index) => ({
    kind: "callback" as const,
    label: `Show ${index + 1}`,
    payload: { showApproval: id },
  }));
  const rows = [buttons.slice(0, 5), buttons.slice(5)].filter((row) => row.length > 0);
  return { kind: "card", text, buttons: rows } satisfies CardContent;
}

function lineOf(approval: Approval, isMine: boolean): string {
  const { expiresAt, requester } = approval;
  const asker = requester === undefined ? "" : ` – asked by ${nameOf(requester)}`;
  const who = isMine ? asker : ` – up to ${approversInWords(approval)}`;
  return escapeMarkdown(`${summaryOf(approval)}${who}, until ${timeInWords(expiresAt)}`);
}

/** Returns the addition to the system prompt while something waits. */
export function waitingPrompt(approvals: Pick<Approvals, "waiting">): string | undefined {
  const waiting = approvals.waiting();
  if (waiting.length === 0) return undefined;
  const lines = waiting.slice(-MOST_LISTED).map((approval) => {
    const asker = approval.requester === undefined ? "" : `, asked by ${said(nameOf(approval.requester))}`;
    return `- ${approval.action}: ${said(summaryOf(approval))}${asker}`;
  });
  return [
    `⟦${waiting.length === 1 ? "One action waits" : `${waiting.length} actions wait`} for a person's decision.⟧`,
    ...lines,
    "They have not run. Do not call them again with the same input, and do not say that they are done. People decide with the buttons of the card, or in a reply to it; words in the chat decide nothing. You will be told the outcome.",
  ].join("\n");
}

/** The number of requests that wait and were asked in this chat. */
export function waitingIn(
  approvals: Pick<Approvals, "waiting">,
  { thread }: Pick<MessengerEvent, "thread">,
): number {
  return approvals.waiting().filter(({ origin }) => origin?.threadId === thread.id).length;
}

function summaryOf({ input, sensitive, summary }: Approval): string {
  return shortened(masked(summary, input, sensitive)).replaceAll(/\s+/g, " ");
}

function said(text: string): string {
  return JSON.stringify(fromPeople(text));
}
