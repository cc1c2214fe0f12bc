import type { DeliveryPolicy } from "../core/delivery.ts";
import type { MessengerEvent } from "../core/messenger-event.ts";
import type { TurnOutcome } from "../turn/turn-engine.ts";
import { safeText } from "./texts.ts";

export type EndedTurn = Exclude<TurnOutcome, { kind: "open" | "unknown" }>;

/** What the person reads in the end: never nothing, and never an error's own words. */
export function visibleText(outcome: EndedTurn, policy: DeliveryPolicy, event: MessengerEvent): string {
  const said = outcome.text.trim() === "" ? "" : outcome.text;
  switch (outcome.kind) {
    case "done":
      return said === "" ? safeText(policy, "emptyResponseText", event) : said;
    case "stopped":
      return joinParagraphs(said, safeText(policy, "stoppedResponseText", event));
    case "failed":
      return said === ""
        ? safeText(policy, "errorResponseText", event)
        : joinParagraphs(said, safeText(policy, "interruptedResponseText", event));
  }
}

/** A paragraph after a text that may have been cut anywhere, also inside a code block. */
export function joinParagraphs(text: string, paragraph: string): string {
  if (text.trim() === "") return paragraph;
  let fence: string | undefined;
  for (const [, marks] of text.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)) {
    if (fence === undefined) fence = marks;
    else if (marks !== undefined && marks[0] === fence[0] && marks.length >= fence.length) fence = undefined;
  }
  return fence === undefined ? `${text}\n\n${paragraph}` : `${text}\n${fence}\n\n${paragraph}`;
}
