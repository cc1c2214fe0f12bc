import type { ActionNotice, Address, Surface } from "../src/core/surface.ts";
import { callWithin } from "./call-within.ts";
import { callTimeoutMs, classify, logFailure, penalize, TIMED_OUT } from "./delivery-context.ts";
import type { DeliveryContext } from "./delivery-context.ts";

/** Answers a press of a button: at once, outside of every queue and budget, one time. Never throws. */
export async function answerAction(
  context: Pick<DeliveryContext, "surfaceFor" | "deps" | "log" | "budget">,
  address: Address,
  actionId: string,
  notice: ActionNotice | undefined,
): Promise<void> {
  let surface: Surface;
  try {
    surface = context.surfaceFor(address.messengerId);
  } catch {
    // The messenger is not declared any more: nobody can be answered.
    context.log.warn("delivery.unknown-messenger", { messengerId: address.messengerId });
    return;
  }
  const outcome = await callWithin(context.deps.clock, callTimeoutMs({}), async (signal) => {
    await surface.answerAction(address, actionId, notice, { signal });
  });
  if (outcome.kind === "done") return;
  const failure = outcome.kind === "timed-out" ? TIMED_OUT : classify(surface, outcome.error);
  logFailure(context, { method: "answer", address, attempts: 1 }, failure);
  if (failure.kind === "retry-after") await penalize(context, address, failure.retryAfterMs);
}
