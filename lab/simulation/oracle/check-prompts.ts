import { STOPPED } from "./contract.ts";
import type { EndState, Thread } from "./end-state.ts";

/** Checks that each prompt had one turn of its own, and its answer was delivered once, to its chat (I2, I5). */
export function checkPrompts(
  { oracle }: EndState,
  { delivery, operations, threadId, wasBlocked }: Thread,
): void {
  for (const token of oracle.inbox.promptsOf(threadId)) {
    const turns = [...operations.values()].filter(({ questions }) => questions.includes(token));
    const [turn] = turns;
    if (turn === undefined || turns.length > 1) {
      oracle.fail("I2", `${token} was asked in ${turns.length} turns`);
      continue;
    }
    const replies = [...oracle.replies.values()].filter(({ id }) => id === turn.id);
    const receipts = replies.flatMap(({ id }) => delivery.receipt(id) ?? []);
    const [receipt] = receipts;
    if (receipt === undefined || receipts.length > 1) {
      if (!wasBlocked) oracle.fail("I5", `${token} has ${receipts.length} answers`);
      continue;
    }
    if (receipt.threadId !== threadId) oracle.fail("I11", `${token} is answered in ${receipt.threadId}`);
    if (wasBlocked) continue;
    const isStopped = replies.some(({ text }) => text.includes(STOPPED));
    if (turn.status === "aborted" && !isStopped)
      oracle.fail("I5", `${token} was cut off, and nobody stopped it`);
    if (receipt.state === "streaming" || receipt.state === "withdrawn")
      oracle.fail("I5", `the answer to ${token} is ${receipt.state} in the end`);
  }
}
