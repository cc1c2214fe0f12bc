import type { DeliveryPolicy } from "../core/delivery.ts";
import type { MessengerEvent } from "../core/messenger-event.ts";
import type { TurnOutcome } from "../turn/turn-engine.ts";
import { joinParagraphs } from "../outgoing/index.ts";
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
