import type { Clock } from "../../src/core/base/deps.ts";
import type { CallFailure, CallOptions, Surface } from "../../src/core/chat/surface.ts";
import { callWithin } from "./call-within.ts";
import type { CallOutcome } from "./call-within.ts";
import { UPLOAD_CUT } from "../outbox/outbox-entry.ts";
import { failureOf } from "./delivery-context.ts";

/** A call that may have sent files. */
export interface SentCall<Value> {
  readonly outcome: CallOutcome<Value>;
  /** True if the request did not leave completely, so the platform certainly did nothing. */
  readonly isUnsent: boolean;
  /** Time at which the last byte of an upload left, in epoch milliseconds. Undefined if that is not known. */
  readonly sentAt: number | undefined;
}

/**
 * Makes a call with a time limit for all of it. An upload also ends when no byte has left for `textMs`, and when there
 * is no answer for that long after its last byte: from then on it is like a text.
 */
export async function sendWithin<Value>(
  clock: Clock,
  { limitMs, textMs }: { readonly limitMs: number; readonly textMs: number },
  call: (options: Pick<CallOptions, "onSent" | "signal">) => Promise<Value>,
): Promise<SentCall<Value>> {
  let isUnsent = false;
  let sentAt: number | undefined;
  const outcome = await callWithin(clock, limitMs, (signal, endWithin) =>
    call({
      signal,
      onSent: (isWhole) => {
        isUnsent = !isWhole;
        if (isWhole) sentAt = clock.now();
        endWithin(textMs);
      },
    }),
  );
  return { outcome, isUnsent, sentAt };
}

/** Returns the failure of a call. If its request did not leave completely, the platform did nothing. */
export function sentFailureOf(
  surface: Surface,
  {
    isUnsent,
    outcome,
  }: {
    readonly isUnsent: boolean;
    readonly outcome: Exclude<CallOutcome<unknown>, { kind: "done" }>;
  },
): CallFailure {
  const failure = failureOf(surface, outcome);
  return isUnsent && failure.kind === "unknown" ? { kind: "transient", code: UPLOAD_CUT } : failure;
}
