import type { RichText } from "../../src/core/message/rich-text.ts";
import type { Surface } from "../../src/core/chat/surface.ts";
import { failureCode } from "../../src/core/base/errors.ts";
import { replyFields } from "../outbox/reply-fields.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { nextDraft } from "../modes/draft.ts";
import { modeOf, partsToShow } from "../modes/mode.ts";
import { nextStreamStep } from "../modes/native.ts";
import { supersede } from "../modes/buffered.ts";
import { strayUntil } from "../outbox/outbox-entry.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import { markLost, storeShown } from "./perform-action.ts";
import { contentOf } from "./row-content.ts";
import type { CallAction } from "./perform-action.ts";
import { reconcile } from "./reconcile.ts";
import { refusedCode } from "../outbox/reply-body.ts";
import type { Reply } from "../outbox/reply.ts";
import type { Part } from "../text/split/index.ts";

/** The next need of a reply. */
export type CallPlan =
  | { readonly kind: "call"; readonly action: CallAction }
  /** Wait until the text changes. */
  | { readonly kind: "idle" }
  /** Everything is visible, but a late answer of an abandoned edit or post may arrive until this time. */
  | { readonly kind: "await-late-news"; readonly until: number }
  | { readonly kind: Settled["kind"]; readonly settled: Settled };

/** The end of a part or a reply, which must be stored before the next call can be planned. */
export type Settled =
  | { readonly kind: "lost"; readonly entry: OutboxEntry }
  | { readonly kind: "superseded"; readonly entry: OutboxEntry }
  | { readonly kind: "stray-edits" }
  | { readonly kind: "ended"; readonly code: string | undefined }
  | { readonly kind: "broken"; readonly error: unknown };

/** Returns what a reply needs now. Pure. `now` in epoch milliseconds. */
export function planCall(reply: Reply, surface: Surface, now: number): CallPlan {
  let all: readonly Part<RichText>[];
  try {
    all = reply.parts(surface);
  } catch (error) {
    return settled({ kind: "broken", error });
  }
  const mode = modeOf(reply, surface);
  const growsInPlace = mode === "edit" || mode === "native";
  const parts = reply.isFinal ? all : partsToShow(mode, all, reply.entries);
  const action = reconcile({
    entries: reply.entries,
    parts,
    isFinal: reply.isFinal,
    canEdit: surface.capabilities.edit,
    // While the text grows, a message without a part is not surplus yet.
    canRemove: surface.capabilities.remove && (reply.isFinal || growsInPlace),
    canSearch: surface.probing !== undefined || surface.search !== undefined,
    now,
    onUnknown: reply.record.policy.onUnknown ?? "resend-marked",
  });
  switch (action.kind) {
    case "lost":
    case "superseded":
      return settled(action);
    case "idle": {
      const draft = mode === "draft" && !reply.isFinal ? nextDraft(reply, all, now) : undefined;
      return draft === undefined ? { kind: "idle" } : { kind: "call", action: draft };
    }
    case "ended": {
      const strayEdit = strayUntil(reply.entries);
      if (strayEdit !== undefined) {
        return strayEdit > now
          ? { kind: "await-late-news", until: strayEdit }
          : settled({ kind: "stray-edits" });
      }
      const lateAnswer = surface.capabilities.remove ? lateAnswerUntil(reply.entries, all) : 0;
      return lateAnswer > now ? { kind: "await-late-news", until: lateAnswer } : settled(action);
    }
    case "edit": {
      if (mode !== "native") return { kind: "call", action };
      const step = nextStreamStep(action, contentOf(reply, surface, action.entry, action.part));
      if (step === "none") return { kind: "idle" };
      return { kind: "call", action: step === "edit" ? action : step };
    }
    default:
      return { kind: "call", action };
  }
}

export function settle(context: DeliveryContext, reply: Reply, end: Settled): void {
  switch (end.kind) {
    case "lost":
      markLost(context, reply, end.entry);
      return;
    case "superseded":
      supersede(context, reply, end.entry);
      return;
    case "stray-edits":
      forgetStrayEdits(reply);
      return;
    case "ended": {
      const code = end.code ?? refusedCode(reply.record.body);
      context.replies.end(reply, code === undefined ? "delivered" : "failed", code);
      return;
    }
    case "broken":
      // A text that cannot be split must not hold up the chat's other replies forever.
      context.log.error("delivery.split-failed", { ...replyFields(reply), code: failureCode(end.error) });
      context.replies.end(reply, "failed", "split-failed");
      return;
    default:
      end satisfies never;
  }
}

/** Notes the plan in the reply. The rest of the loop relies on it. */
export function notePlan(context: DeliveryContext, reply: Reply, plan: CallPlan): void {
  switch (plan.kind) {
    case "idle":
      reply.isDirty = false;
      return;
    case "await-late-news":
      // Later replies need not wait for this one.
      reply.isWholeVisible = true;
      reply.notBefore = plan.until;
      return;
    case "call": {
      const isSurplusInDoubt = plan.action.kind === "probe" && reply.isFinal;
      // A search takes a while. If the process starts again during it, the other messages need not be sent again.
      if (isSurplusInDoubt) storeShown(context, reply);
      return;
    }
    default:
  }
}

function settled(end: Settled): CallPlan {
  return { kind: end.kind, settled: end };
}

/**
 * Returns until when (epoch milliseconds) a post that the text no longer needs may still be answered. Its message is
 * then removed.
 */
function lateAnswerUntil(
  entries: readonly OutboxEntry[],
  parts: readonly { readonly index: number }[],
): number {
  const moments = entries
    .filter(({ row }) => row.state === "unknown" && !parts.some(({ index }) => index === row.part))
    .map(({ answerUntil = 0 }) => answerUntil);
  return Math.max(0, ...moments);
}

/** An abandoned edit may have changed these messages, so they are sent again. */
function forgetStrayEdits(reply: Reply): void {
  for (const entry of reply.entries) {
    if (entry.strayEdit === undefined) continue;
    entry.strayEdit = undefined;
    entry.shownHash = undefined;
  }
}
