import type { Address, Surface } from "../../src/core/chat/surface.ts";
import type { CallOutcome } from "./call-within.ts";
import { classify, penalize } from "./delivery-context.ts";
import type { DeliveryContext } from "./delivery-context.ts";

/** Obeys a penalty that the answer of a call announces after the call's time limit (I8). */
export function keepLatePenalty(
  context: DeliveryContext,
  surface: Surface,
  address: Address,
  outcome: CallOutcome<unknown>,
): void {
  if (outcome.kind !== "timed-out") return;
  void outcome.late.then(async (late) => {
    if (late.kind === "done") return;
    await penalize(context, address, classify(surface, late.error));
  });
}
