import { wait } from "../../src/core/deps.ts";
import { placeFields } from "../../src/core/log-fields.ts";
import type { ActionNotice, Address, Surface } from "../../src/core/surface.ts";
import { CALL_RULES } from "./call-policy.ts";
import { callWithin } from "./call-within.ts";
import { failureOf, logFailure, penalize } from "./delivery-context.ts";
import { callTimeoutMs } from "../outbox/reply-timing.ts";
import type { DeliveryContext } from "./delivery-context.ts";

const MAX_ATTEMPTS = 3;
const REST_MS = 500;

/**
 * Answers a press of a button at once, outside of every queue and budget. Answering twice does no harm, so a failed
 * answer is tried again a moment later, until a time limit. Never throws.
 */
export async function answerAction(
  context: Pick<DeliveryContext, "surfaces" | "deps" | "log" | "budget">,
  address: Address,
  actionId: string,
  notice: ActionNotice | undefined,
): Promise<void> {
  let surface: Surface;
  try {
    surface = context.surfaces.of(address.messengerId);
  } catch {
    // The messenger is not declared any more, so the press cannot be answered.
    context.log.warn("delivery.unknown-messenger", placeFields(address));
    return;
  }
  const { clock } = context.deps;
  for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts += 1) {
    const outcome = await callWithin(clock, callTimeoutMs({}, surface), async (signal) => {
      await surface.answerAction(address, actionId, notice, { signal });
    });
    if (outcome.kind === "done") return;
    const failure = failureOf(surface, outcome);
    logFailure(context, { method: "answer", address, attempts }, failure);
    if (failure.kind === "retry-after") await penalize(context, address, failure.retryAfterMs);
    if (outcome.kind === "timed-out" || CALL_RULES.answer[failure.kind] !== "retry") return;
    if (attempts < MAX_ATTEMPTS) await wait(clock, REST_MS);
  }
}
