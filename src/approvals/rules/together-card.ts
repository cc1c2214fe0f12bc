import { sayEnglish } from "../../core/text/bot-texts.ts";
import type { CardButton, CardContent, CardField, Json } from "../../core/message/content.ts";
import { inOneLine } from "../../core/text/one-line.ts";
import { titleOf } from "./approval-card.ts";
import type { Approval } from "./approval.ts";
import { decisionFields, MARGIN, questionFields, valueFields } from "./card-fields.ts";
import type { CardView } from "./card-view.ts";
import { shortened } from "./input-fields.ts";
import type { ApprovalPress, PressedApproval } from "./press-payloads.ts";
import { summaryOf } from "./summary-of.ts";

const LONGEST_LABEL = 250;
const LONGEST_WORDS = 600;
const MOST_VALUES = 12;

/**
 * Returns the card of several calls of a step, which always shows the present state of each. Pure.
 *
 * 1. Each call can be decided by itself, or all that wait. All that is possible besides comes with cards of their own.
 * 2. A press about all counts for exactly the calls and inputs that the card has shown.
 */
export function togetherCard(together: readonly Approval[], view: CardView): CardContent {
  const { role, say = sayEnglish } = view;
  const first = together.find(({ state }) => state === "waiting");
  const isAsking = first !== undefined && role !== "status";
  const title = first === undefined ? "togetherDecided" : isAsking ? "togetherQuestion" : "approvalWaits";
  return {
    kind: "card",
    text: `**${say(title)}**`,
    fields: fieldsOf(together, view),
    ...(first !== undefined && { buttons: buttonsOf(together, first, view) }),
  };
}

/** Whether the card of these questions is one message, in which no value of an input is cut. */
export function fitOneCard(together: readonly Approval[], view: CardView): boolean {
  const { messageLength = Infinity, say = sayEnglish } = view;
  const fits = together.every((approval) => {
    const values = valueFields(approval, say);
    return values.length <= MOST_VALUES && inWords(values).length <= LONGEST_WORDS;
  });
  const length = fieldsOf(together, view).reduce(
    (sum, { label, value }) => sum + label.length + value.length + 3,
    0,
  );
  return fits && length <= messageLength - MARGIN;
}

function fieldsOf(together: readonly Approval[], view: CardView): CardField[] {
  const calls = together.map((approval, index) => ({
    label: `${index + 1}. ${summaryOf(approval).replace(/[\s.?!…:؟？]+$/, "")}`.slice(0, LONGEST_LABEL),
    value: callWords(approval, view),
  }));
  const asked = together.find(({ state }) => state === "waiting");
  const shared =
    asked === undefined
      ? []
      : questionFields({ ...asked, offer: undefined, handedTo: undefined }, { ...view, face: "first" });
  return [...calls, ...shared].map(({ label, value }) => ({
    label: inOneLine(label),
    value: inOneLine(value),
  }));
}

function callWords(approval: Approval, view: CardView): string {
  const { say = sayEnglish } = view;
  if (approval.state === "waiting") return inWords(valueFields(approval, say)) || say("approvalWaits");
  const facts = decisionFields(approval, { ...view, role: "here" }).filter(
    ({ label }) => label !== say("requesterLabel"),
  );
  return shortened(
    [say(titleOf(approval)), ...(facts.length === 0 ? [] : [inWords(facts)])].join(" · "),
    LONGEST_WORDS,
  );
}

function inWords(fields: readonly CardField[]): string {
  return fields.map(({ label, value }) => `${label}: ${value}`).join(" · ");
}

function buttonsOf(
  together: readonly Approval[],
  first: Approval,
  { role, say = sayEnglish }: CardView,
): readonly (readonly CardButton[])[] {
  const pressed = ({ id, inputHash }: Approval): PressedApproval => ({ approval: id, inputHash });
  const button = (label: string, payload: ApprovalPress): CardButton => ({
    kind: "callback",
    label,
    payload: payload as Json,
  });
  const apart = [button(say("apartButton"), { ...pressed(first), apart: true })];
  if (role === "status") return [apart];
  const waiting = together.filter(({ state }) => state === "waiting");
  const all = (["approve", "reject"] as const).map((kind) =>
    button(say(kind === "approve" ? "approveAllButton" : "rejectAllButton"), {
      ...pressed(first),
      all: kind,
      of: waiting.map(pressed),
    }),
  );
  const each = waiting.map((one) => {
    const number = together.indexOf(one) + 1;
    return [
      button(say("approveOneButton", { number }), { ...pressed(one), decision: "approve" }),
      button(say("rejectOneButton", { number }), { ...pressed(one), decision: "reject" }),
    ];
  });
  return [...(waiting.length > 1 ? [all] : []), ...each, apart];
}
