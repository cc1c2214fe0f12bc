import type { CallFailure, Surface } from "../../src/core/chat/surface.ts";
import { backoffMs, CALL_RULES, GIVE_UP_AFTER_MS } from "../calls/call-policy.ts";
import { logFailure, penalize } from "../calls/delivery-context.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { isSearchable } from "../outbox/doubt.ts";
import { store } from "../outbox/outbox-change.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { Reply } from "../outbox/reply.ts";
import { leaveUnresolved } from "./conclude-search.ts";

/**
 * A search is not given up before this many tries. After days without power the first calls may fail for that reason
 * alone.
 */
const LEAST_ATTEMPTS = 10;

/**
 * Stores the result of a failed question about a lost post. Nothing is posted before `strayUntil` (epoch milliseconds),
 * because the question may still take effect. Returns the time before which nothing may be sent to the address, if there
 * is one.
 */
export async function searchFailed(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  { isLook, strayUntil }: { readonly isLook: boolean; readonly strayUntil: number },
  failure: CallFailure,
): Promise<number | undefined> {
  const { row } = entry;
  const { address } = reply.record;
  const { clock, random } = context.deps;
  const now = clock.now();
  entry.probe = undefined;
  entry.probeFailures = (entry.probeFailures ?? 0) + 1;
  const attempts = entry.probeFailures;
  logFailure(context, { method: "probe", address, replyId: row.replyId, part: row.part, attempts }, failure);
  const rule = CALL_RULES.probe[failure.kind];
  switch (rule) {
    case "wait": {
      const delayMs = failure.kind === "retry-after" ? failure.retryAfterMs : 0;
      store(context, entry, { retryAt: Math.max(now + delayMs, row.retryAt ?? 0) });
      return penalized(context, reply, failure);
    }
    case "gone":
      context.replies.endPlace(address, failure);
      return undefined;
    case "move":
      if (failure.kind === "moved") context.replies.movePlace(address, failure);
      return undefined;
    case "retry": {
      if (isLook) return undefined;
      entry.searchFailingSince ??= now;
      // Asking later loses nothing, and a platform that does not answer shows nothing else either.
      if (attempts < LEAST_ATTEMPTS || now - entry.searchFailingSince < GIVE_UP_AFTER_MS) {
        store(context, entry, { retryAt: Math.max(strayUntil, now + backoffMs(attempts, random())) });
        return undefined;
      }
      leaveUnresolved(context, reply, surface, entry, "probing-failed");
      return undefined;
    }
    case "undecided":
      if (!isLook && isSearchable(row.doubt))
        leaveUnresolved(context, reply, surface, entry, "probing-failed");
      return undefined;
    default:
      return rule satisfies never;
  }
}

/** Reports a failure that is a penalty to the gate, and returns its end in epoch milliseconds. Ignores other failures. */
export async function penalized(
  context: DeliveryContext,
  reply: Reply,
  failure: CallFailure,
): Promise<number | undefined> {
  if (failure.kind !== "retry-after") return undefined;
  const until = context.deps.clock.now() + failure.retryAfterMs;
  await penalize(context, reply.record.address, failure);
  return until;
}
