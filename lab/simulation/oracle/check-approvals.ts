import type { Called } from "./approval-watch.ts";
import { isTold, isYes, mayDecide, wasCut } from "./approval-watch.ts";
import type { EndState, Thread } from "./end-state.ts";
import type { PlatformMessage } from "../platform/platform.ts";
import { stripMark } from "./visible-text.ts";

/** The words above a decided card, and whether the action has had its effect then. */
const ENDS: readonly (readonly [title: string, effect: "yes" | "no" | "perhaps"])[] = [
  ["Done", "yes"],
  ["Approved, but the outcome is not known", "perhaps"],
  ["Rejected", "no"],
  ["Nobody decided in time", "no"],
  ["Taken back", "no"],
  ["Changes wanted", "no"],
  ["Replaced", "no"],
  ["No longer possible", "no"],
];

/**
 * Each action about which people were asked is decided in the end, and its card says what has become of it in the
 * outside world (I9). Nothing but the chat, the presses and the effects is looked at.
 */
export function checkApprovals({ oracle, platform }: EndState, thread: Thread): void {
  const { approvals } = oracle;
  for (const called of approvals.called.values()) {
    if (called.threadId !== thread.threadId || !called.isAsked) continue;
    checkTold(oracle, called);
    // Deleted cards, and cards for a person who had blocked the bot, prove nothing.
    if (thread.wasBlocked || platform.hasDeletions(thread.threadId)) continue;
    const cards = platform
      .visible(thread.threadId)
      .filter(({ text }) => new RegExp(`\\bLet ${called.call.effect} happen\\b`).test(text) && !isForm(text));
    checkCard(oracle, called, cards);
  }
}

/** Whether a message is the form in which somebody changes an input. */
export function isForm(text: string): boolean {
  return /^(?:\w+ changes|This change is over): /.test(stripMark(text));
}

/** Checks that a card says how it has ended, and has no button any more. */
function checkCard(oracle: EndState["oracle"], called: Called, cards: readonly PlatformMessage[]): void {
  const { effect } = called.call;
  const card = cards.at(-1);
  // A post whose outcome nobody can find out is given up.
  const isLost = cards.some(({ call }) => oracle.posts.isLost(call));
  if (card === undefined) {
    if (!oracle.posts.hasLostIn(called.chatId)) oracle.fail("I9", `nobody sees a question about ${effect}`);
    return;
  }
  if (isLost && cards.length > 1) return;
  const words = stripMark(card.text);
  const [, effects] = ENDS.find(([title]) => words.startsWith(title)) ?? [];
  // Its message can be changed as soon as a press has told it.
  const isTouched = [...oracle.approvals.decisions.values()].some((decision) => decision.effect === effect);
  if (effects === undefined && isLost && !isTouched) return;
  if (effects === undefined) {
    oracle.fail("I9", `the card of ${effect} never ends: ${words}`);
    return;
  }
  if (card.buttons !== undefined)
    oracle.fail("I9", `the card of ${effect} is over and has buttons: ${words}`);
  const wanted = effects === "yes" ? 1 : 0;
  const isWanted = effects === "perhaps" || Math.min(1, called.runs) === wanted;
  if (!isWanted)
    oracle.fail("I9", `the card of ${effect} says ${words}, and it happened ${called.runs} times`);
  // Only a run that nobody may repeat or ask about has an unknown end. It may not have had its effect yet.
  const isUnknown = called.plan.repeats === "never" && (called.runs === 0 || wasCut(called));
  if (effects === "perhaps" && !isUnknown)
    oracle.fail("I9", `the outcome of ${effect} is not known, and could be`);
}

/** Checks that each person was told the truth: a yes that the bot has taken has its effect. */
function checkTold(oracle: EndState["oracle"], called: Called): void {
  const { effect } = called.call;
  const told = [...oracle.approvals.decisions.values()].filter(
    (decision) => decision.effect === effect && isTold(decision),
  );
  const labels = new Set(told.map(({ label }) => (isYes(label) ? "Approve" : label)));
  if (labels.size > 1)
    oracle.fail("I9", `${effect} was decided ${labels.size} times: ${[...labels].join(", ")}`);
  const [label] = labels;
  if (label === undefined) return;
  const isAgreed = label === "Approve" && told.some(({ person }) => mayDecide(called, person));
  // An interrupted run that nobody may repeat has begun, if it is known to have.
  if (isAgreed && called.runs === 0 && called.plan.repeats !== "never")
    oracle.fail("I9", `somebody was told that ${effect} is approved, and it never happened`);
  if (!isAgreed && called.runs > 0)
    oracle.fail("I9", `somebody was told "${label}" of ${effect}, and it happened`);
}
