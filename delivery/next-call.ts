import type { Surface } from "../src/core/surface.ts";
import type { DeliveryContext } from "./delivery-context.ts";
import { errorName } from "./error-name.ts";
import { strayUntil } from "./outbox-entry.ts";
import { markLost } from "./perform-action.ts";
import type { Action, CallAction } from "./perform-action.ts";
import { reconcile } from "./reconcile.ts";
import type { Reply } from "./reply.ts";

/**
 * The call that a reply needs now; none when it needs other text first, or has ended. What has ended, and what was
 * lost with an earlier process, is stored on the way.
 */
export function nextCall(context: DeliveryContext, reply: Reply, surface: Surface): CallAction | undefined {
  const parts = partsOf(context, reply, surface);
  if (parts === undefined) return undefined;
  for (;;) {
    const action: Action = reconcile({
      entries: reply.entries,
      parts,
      isFinal: reply.isFinal,
      canEdit: surface.capabilities.edit,
      canRemove: surface.capabilities.remove,
      canProbe: surface.probing !== undefined,
      onUnknown: reply.record.policy.onUnknown ?? "resend-marked",
    });
    switch (action.kind) {
      case "lost":
        markLost(context, reply, surface, action.entry);
        break;
      case "idle":
        reply.isDirty = false;
        return undefined;
      case "ended":
        if (awaitsStrayEdit(reply, context.deps.clock.now())) return undefined;
        if (forgetStrayEdits(reply)) break;
        context.endReply(reply, action.code === undefined ? "delivered" : "failed", action.code);
        return undefined;
      default:
        return action;
    }
  }
}

function partsOf(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
): ReturnType<Reply["parts"]> | undefined {
  try {
    return reply.parts(surface);
  } catch (error) {
    // A text that cannot be cut must not hold the chat's other replies for ever.
    context.log.error("delivery.split-failed", { replyId: reply.record.id, code: errorName(error) });
    context.endReply(reply, "failed", "split-failed");
    return undefined;
  }
}

/**
 * Everything is visible, but an edit that was given up may still land on it: looked at again when that is over. Later
 * replies do not wait for it.
 */
function awaitsStrayEdit(reply: Reply, now: number): boolean {
  const until = strayUntil(reply.entries);
  if (until === undefined || until <= now) return false;
  reply.isWholeVisible = true;
  reply.notBefore = until;
  return true;
}

/** Whether something may have been changed by an edit that was given up: it is then not known what is visible. */
function forgetStrayEdits(reply: Reply): boolean {
  if (strayUntil(reply.entries) === undefined) return false;
  for (const entry of reply.entries) {
    if (entry.strayEdit === undefined) continue;
    entry.strayEdit = undefined;
    entry.shownHash = undefined;
  }
  return true;
}
