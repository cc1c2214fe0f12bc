import type { DeliveryReceipt } from "../../../src/core/chat/delivery.ts";
import { textOfParts } from "../../../src/turn/reply-text.ts";
import type { SaidReply, StoredOperation } from "./contract.ts";
import { isCut } from "./contract.ts";
import type { EndState, Thread } from "./end-state.ts";
import { partsOf } from "./stored-message.ts";
import { SILENCE } from "../plan/model-script.ts";
import { turnWordsOf } from "./visible-text.ts";

/**
 * Checks that a reply has the model's words: all of them, or those before its end, and the footer if it is complete. An
 * answer that was stopped, cut or given up may also have the words of an interrupted attempt, if the next attempt was not as
 * long yet.
 */
export function checkWords(
  { oracle, plan }: EndState,
  thread: Thread,
  reply: SaidReply,
  { state }: DeliveryReceipt,
): void {
  const operation = thread.operations.get(reply.id);
  if (operation === undefined || state !== "delivered") return;
  if (operation.status === "failed" && operation.script.attempts.some(({ failsAt }) => failsAt >= 1)) {
    oracle.fail("I5", `${reply.id} has failed, though the model did not`);
  }
  const model = textOfParts(partsOf(operation));
  const words = turnWordsOf(reply.text).join(" ");
  if (model.startsWith(SILENCE)) {
    const isSaid = operation.status === "done" && reply.text !== "" && !isCut(reply.text);
    if (isSaid) oracle.fail("I5", `${reply.id} speaks, though the model says nothing: ${reply.text}`);
    return;
  }
  const said = turnWordsOf(model).join(" ");
  const isWhole = operation.status === "done" && !isCut(reply.text);
  const stays = isWhole ? [] : reply.interrupted.held;
  const maySay = [...mayHaveSaid(operation), ...stays.map((text) => turnWordsOf(text).join(" "))];
  if (isWhole ? words !== said : !maySay.some((text) => text.startsWith(words))) {
    oracle.fail("I5", `${reply.id} says ${JSON.stringify(words)}, and the model ${JSON.stringify(said)}`);
  }
  const { footer } = plan.policy;
  const feet = footer === undefined ? 0 : reply.text.split(footer).length - 1;
  const isFooted = isWhole && footer !== undefined && said !== "";
  if (feet !== (isFooted ? 1 : 0) || (isFooted && !reply.text.endsWith(footer))) {
    oracle.fail("I5", `${reply.id} has ${feet} footers`);
  }
}

/**
 * Returns the texts that a model may have said in each attempt before its end. They may be longer than the stored ones.
 */
function mayHaveSaid(operation: StoredOperation): string[] {
  const { attempt, said, script } = operation;
  return Array.from({ length: attempt + 1 }, (_, index) => {
    const text = script.text(said.length, index);
    return turnWordsOf(textOfParts(partsOf({ said, text }))).join(" ");
  });
}
