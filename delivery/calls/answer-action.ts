import { wait } from "../../src/core/base/deps.ts";
import { restAfter } from "../../src/core/base/rest-after.ts";
import { placeFields } from "../../src/core/chat/log-fields.ts";
import type { ActionNotice, Address, Press, Surface } from "../../src/core/chat/surface.ts";
import { CALL_RULES } from "./call-policy.ts";
import { callWithin } from "./call-within.ts";
import { failureOf, GATE_TIMEOUT_MS, logFailure, penalize } from "./delivery-context.ts";
import { callTimeoutMs } from "../outbox/reply-timing.ts";
import type { DeliveryContext } from "./delivery-context.ts";

/** Clients show that they wait until the answer comes, but platforms forget a press after about this long. */
const WITHIN_MS = 60_000;
/** Time limit of one call. Leaves room for others. */
const CALL_TIMEOUT_MS = 5_000;
const FIRST_REST_MS = 500;

/**
 * Answers a press of a button at once, outside of every queue. A failed answer is tried again until the platform has
 * forgotten the press. Never throws.
 *
 * A passing note needs no budget, and may be shown twice. A message is a call to the chat (I7, I8). If it may be there
 * already, it is not posted again (I6).
 *
 * Returns `false` if the person certainly did not see the notice.
 */
export async function answerAction(
  context: Pick<DeliveryContext, "surfaces" | "deps" | "log" | "budget">,
  address: Address,
  press: Press,
  notice: ActionNotice | undefined,
): Promise<boolean> {
  let surface: Surface;
  try {
    surface = context.surfaces.of(address.messengerId);
  } catch {
    // The messenger is not declared any more, so the press cannot be answered.
    context.log.warn("delivery.unknown-messenger", placeFields(address));
    return false;
  }
  const { privateWords = "note" } = surface.capabilities;
  const isNote = privateWords === "note";
  if (!isNote && notice === undefined) return true;
  if (privateWords === "none") return false;
  const { clock } = context.deps;
  const limitMs = callTimeoutMs({}, surface);
  const timeoutMs = isNote ? Math.min(CALL_TIMEOUT_MS, limitMs) : limitMs;
  const until = clock.now() + WITHIN_MS;
  for (let attempts = 1; ; attempts += 1) {
    if (!isNote && !(await isGranted(context, address, surface, until))) return false;
    const outcome = await callWithin(clock, timeoutMs, async (signal) => {
      await surface.answerAction(address, press, notice, { signal });
    });
    if (outcome.kind === "done") return true;
    const failure = failureOf(surface, outcome);
    logFailure(context, { method: "answer", address, attempts }, failure);
    await penalize(context, address, failure);
    if (failure.kind === "unknown" && !isNote) return true;
    if (CALL_RULES.answer[failure.kind] === "ignore") return false;
    const restMs = restAfter(attempts, FIRST_REST_MS);
    const waitMs = failure.kind === "retry-after" ? failure.retryAfterMs : restMs;
    if (clock.now() + waitMs >= until) return false;
    await wait(clock, waitMs);
  }
}

/** Waits for the chat's next call. Returns `false` if it would come too late, or the gate cannot be asked. */
async function isGranted(
  { budget, deps: { clock } }: Pick<DeliveryContext, "budget" | "deps">,
  address: Address,
  surface: Surface,
  until: number,
): Promise<boolean> {
  for (;;) {
    const asked = await callWithin(clock, GATE_TIMEOUT_MS, () => budget.acquire(address, "post", surface));
    if (asked.kind !== "done") return false;
    if (asked.value.kind === "granted") return true;
    const { retryAt } = asked.value;
    if (retryAt >= until) return false;
    await wait(clock, Math.max(1, retryAt - clock.now()));
  }
}
