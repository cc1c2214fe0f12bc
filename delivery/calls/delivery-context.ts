import type { Database } from "../../src/core/store/database.ts";
import type { Deps } from "../../src/core/base/deps.ts";
import { placeFields } from "../../src/core/chat/log-fields.ts";
import type { Log } from "../../src/core/base/log.ts";
import type { Address, CallFailure, Surface } from "../../src/core/chat/surface.ts";
import type { OutgoingFiles } from "../files/outgoing-files.ts";
import { callWithin } from "./call-within.ts";
import type { CallMethod } from "./call-policy.ts";
import type { OutboxStore } from "../outbox/outbox-store.ts";
import type { PlaceholderStore } from "../outbox/placeholder-store.ts";
import type { RichFallback } from "../outbox/rich-fallback.ts";
import type { MessengerAccess } from "./messenger-access.ts";
import type { CardLock, Replies } from "./replies.ts";
import type { Surfaces } from "./surfaces.ts";
import type { GateClient } from "../budget/gate-client.ts";

/** The objects that the parts of one engine share. */
export interface DeliveryContext {
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly budget: GateClient;
  readonly outbox: OutboxStore;
  readonly placeholders: PlaceholderStore;
  readonly files: OutgoingFiles;
  readonly rich: RichFallback;
  readonly access: MessengerAccess;
  readonly surfaces: Surfaces;
  readonly replies: Replies;
  readonly cards: CardLock;
}

/** Time limit for a call to a gate. A gate answers at once or not at all. */
export const GATE_TIMEOUT_MS = 5_000;

export const TIMED_OUT: CallFailure = { kind: "unknown", code: "timed-out" };

/** Returns the failure class of an error that a surface threw, even if the surface's own classification throws. */
export function classify(surface: Surface, error: unknown): CallFailure {
  try {
    return surface.classifyError(error);
  } catch {
    return { kind: "unknown", code: "unclassified" };
  }
}

/** Returns the failure for an outcome without a result. */
export function failureOf(
  surface: Surface,
  outcome: { readonly kind: "failed"; readonly error: unknown } | { readonly kind: "timed-out" },
): CallFailure {
  return outcome.kind === "timed-out" ? TIMED_OUT : classify(surface, outcome.error);
}

/** Logs one line for a failed call: its kind and its failure, never its content (I10). */
export function logFailure(
  context: Pick<DeliveryContext, "log">,
  call: {
    method: CallMethod;
    address: Address;
    replyId?: string;
    part?: number;
    attempts: number;
  },
  failure: CallFailure,
): void {
  context.log.warn("delivery.call-failed", {
    method: call.method,
    kind: failure.kind,
    code: failure.code,
    attempts: call.attempts,
    ...placeFields(call.address),
    turn: call.replyId,
    part: call.part,
    retryAfterMs: failure.kind === "retry-after" ? failure.retryAfterMs : undefined,
  });
}

/** Reports a penalty to the chat's gate. If the gate cannot be reached, this object still obeys the penalty. */
export async function penalize(
  context: Pick<DeliveryContext, "budget" | "deps" | "log">,
  address: Address,
  failure: CallFailure,
): Promise<void> {
  if (failure.kind !== "retry-after") return;
  const { isOfAccount, retryAfterMs } = failure;
  const outcome = await callWithin(context.deps.clock, GATE_TIMEOUT_MS, () =>
    context.budget.penalize(address, retryAfterMs, isOfAccount),
  );
  if (outcome.kind !== "done") {
    context.log.warn("delivery.penalty-not-stored", { ...placeFields(address), retryAfterMs });
  }
}
