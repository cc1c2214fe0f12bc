import type { Surface } from "../src/core/surface.ts";
import { failureCode } from "../src/core/errors.ts";
import { replyFields } from "./delivery-context.ts";
import type { DeliveryContext } from "./delivery-context.ts";
import { nextDraft } from "./draft.ts";
import { modeOf, partsToShow } from "./mode.ts";
import { nextStreamStep } from "./mode-native.ts";
import { supersede } from "./mode-buffered.ts";
import { isGapQuestion, isOtherPostOpen } from "./open-question.ts";
import { strayUntil } from "./outbox-entry.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import { contentOf, markLost, storeShown } from "./perform-action.ts";
import type { Action, CallAction } from "./perform-action.ts";
import { reconcile } from "./reconcile.ts";
import type { Reply } from "./reply.ts";

/**
 * It is looked at again whether another lost post has been found: soon, and after a tenth of the time that has gone by
 * since the post, because a penalty may last for hours.
 */
const OTHERS_MS = 1_000;
const LONGEST_OTHERS_MS = 10 * 60 * 1_000;

/**
 * The call that a reply needs now; none when it needs other text first, or has ended. What has ended, and what was
 * lost with an earlier process, is stored on the way.
 */
export function nextCall(context: DeliveryContext, reply: Reply, surface: Surface): CallAction | undefined {
  const all = partsOf(context, reply, surface);
  if (all === undefined) return undefined;
  const mode = modeOf(reply, surface);
  const growsInPlace = mode === "edit" || mode === "native";
  const parts = reply.isFinal ? all : partsToShow(mode, all, reply.entries);
  for (;;) {
    const action: Action = reconcile({
      entries: reply.entries,
      parts,
      isFinal: reply.isFinal,
      canEdit: surface.capabilities.edit,
      // What has no message of its own while the text grows is not surplus yet.
      canRemove: surface.capabilities.remove && (reply.isFinal || growsInPlace),
      canProbe: surface.probing !== undefined,
      now: context.deps.clock.now(),
      onUnknown: reply.record.policy.onUnknown ?? "resend-marked",
    });
    switch (action.kind) {
      case "lost":
        markLost(context, reply, surface, action.entry);
        break;
      case "probe":
        return asked(context, reply, action);
      case "superseded":
        supersede(context, reply, action.entry);
        break;
      case "idle": {
        const draft =
          mode === "draft" && !reply.isFinal ? nextDraft(reply, all, context.deps.clock.now()) : undefined;
        if (draft === undefined) reply.isDirty = false;
        return draft;
      }
      case "ended":
        if (awaitsStrayEdit(reply, context.deps.clock.now())) return undefined;
        if (forgetStrayEdits(reply)) break;
        if (surface.capabilities.remove && awaitsLateAnswer(reply, all, context.deps.clock.now()))
          return undefined;
        context.endReply(reply, action.code === undefined ? "delivered" : "failed", action.code);
        return undefined;
      case "edit": {
        if (mode !== "native") return action;
        const step = nextStreamStep(action, contentOf(reply, action.entry, action.part));
        if (step === "edit") return action;
        if (step !== "none") return step;
        reply.isDirty = false;
        return undefined;
      }
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
    context.log.error("delivery.split-failed", { ...replyFields(reply), code: failureCode(error) });
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

/**
 * Everything is visible, but a post of which the text has no use any more may still be answered: its message is taken
 * away then. Later replies do not wait for it.
 */
function awaitsLateAnswer(reply: Reply, parts: readonly { readonly index: number }[], now: number): boolean {
  const moments = reply.entries
    .filter(({ row }) => row.state === "unknown" && !parts.some(({ index }) => index === row.part))
    .map(({ answerUntil = 0 }) => answerUntil);
  const until = Math.max(0, ...moments);
  if (until <= now) return false;
  reply.isWholeVisible = true;
  reply.notBefore = until;
  return true;
}

/** A question about a message that is visible: a start meanwhile need not say again what all the messages say. */
function asked(
  context: DeliveryContext,
  reply: Reply,
  action: Extract<Action, { kind: "probe" }>,
): CallAction | undefined {
  const { row } = action.entry;
  if (row.state === "unknown") return action;
  storeShown(context, reply);
  if (awaitsOthers(context, reply, action.entry)) return undefined;
  if (!isGapQuestion(row)) reply.isWholeVisible = true;
  return action;
}

/**
 * The same for the questions about a visible message: a post that was taken for not made may still land until then, and
 * what is found meanwhile may be another post's that is looked for.
 */
function awaitsOthers(context: DeliveryContext, reply: Reply, entry: OutboxEntry): boolean {
  const { row } = entry;
  const now = context.deps.clock.now();
  const lateUntil = isGapQuestion(row) ? 0 : (row.lateUntil ?? 0);
  const isOpen = isOtherPostOpen(context, entry, reply.record.address);
  const until = Math.max(lateUntil, isOpen ? now + othersMs(now - (row.begunAt ?? now)) : 0);
  if (until <= now) return false;
  reply.isWholeVisible = true;
  reply.notBefore = until;
  return true;
}

function othersMs(sinceMs: number): number {
  return Math.min(LONGEST_OTHERS_MS, Math.max(OTHERS_MS, sinceMs / 10));
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
