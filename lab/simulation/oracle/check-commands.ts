import type { DeliveryReceipt } from "../../../src/core/chat/delivery.ts";
import { STOPPED } from "./contract.ts";
import type { EndState, Thread } from "./end-state.ts";

/** The reply of `/stop` when no answer is running. Actions that wait for people are not stopped. */
const NOTHING_TO_STOP = /^There's nothing to stop|\/stop takes no request back/;

/** Checks that each command with a reply has replied exactly once, across redeliveries and crashes (I2, I5). */
export function checkCommands(
  { oracle, written }: EndState,
  { threadId, wasBlocked }: Thread,
  receipts: ReadonlyMap<string, DeliveryReceipt>,
): void {
  const given = (...names: readonly string[]): number =>
    written.filter((one) => one.threadId === threadId && names.includes(one.name ?? "")).length;
  const notices = [...oracle.replies.values()].filter(
    ({ id, threadId: at }) => at === threadId && id.startsWith("command:") && receipts.has(id),
  );
  const refusals = notices.filter(({ text }) => NOTHING_TO_STOP.test(text)).length;
  const answers = notices.length - refusals;
  const expected = given("help", "new");
  if (answers > expected) oracle.fail("I2", `${expected} commands in ${threadId} have ${answers} answers`);
  if (refusals > given("stop")) oracle.fail("I2", `/stop was answered ${refusals} times in ${threadId}`);
  const stopped = [...oracle.replies.values()].filter(
    ({ threadId: at, text }) => at === threadId && text.includes(STOPPED),
  ).length;
  // A question that somebody stops says so on its card.
  const unasked = oracle.questions.declinedIn(threadId) + oracle.children.askingIn(threadId);
  if (refusals + stopped + unasked < given("stop") && !wasBlocked) {
    oracle.fail("I5", `/stop had an effect ${refusals + stopped} times of ${given("stop")} in ${threadId}`);
  }
  if (answers < expected && !wasBlocked) {
    oracle.fail("I5", `of ${expected} commands in ${threadId} ${answers} were answered`);
  }
}
