import type { Say } from "../../core/text/bot-texts.ts";
import type { AskedCall } from "../../messengers/tools/action-consent.ts";
import { isAskedOutside } from "../rules/approval.ts";
import type { Approval } from "../rules/approval.ts";
import { cardFields } from "../rules/card-fields.ts";
import { decisionWords } from "../rules/outcome-words.ts";
import { summaryOf } from "../rules/summary-of.ts";

/**
 * Returns the state of a question for the system whose call it is about.
 *
 * @param say the texts for the person whom the system asks
 */
export function askedCallOf(approval: Approval, say: Say): AskedCall {
  const { createdAt, decidedAt, endedAt, outcome, state } = approval;
  switch (state) {
    case "waiting":
      return {
        kind: "waiting",
        question: questionFor(approval, say),
        isAskedByCaller: isAskedOutside(approval),
      };
    case "approved":
    case "running":
      return { kind: "running" };
    case "done":
    case "failed":
      return {
        kind: "ended",
        endedAt: endedAt ?? createdAt,
        isWithdrawn: false,
        hasRun: true,
        output: outcome ?? null,
      };
    default:
      return {
        kind: "ended",
        endedAt: endedAt ?? decidedAt ?? createdAt,
        isWithdrawn: state === "withdrawn",
        output: { error: { name: "ActionConsentError", message: decisionWords(approval) } },
      };
  }
}

/** The question in words, with every input as the card would show it. */
function questionFor(approval: Approval, say: Say): string {
  const summary = summaryOf(approval);
  const view = { approvers: "", time: (at: number) => new Date(at).toISOString(), say };
  // Whoever asks for an agent names it.
  const asked = approval.schedule?.agent === undefined ? approval : { ...approval, schedule: undefined };
  const fields = cardFields(asked, view, summary.length);
  return [summary, ...fields.map(({ label, value }) => `${label}: ${value}`)].join("\n");
}
