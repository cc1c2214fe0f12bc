import { draftIdOf } from "./draft-id.ts";
import type { RichText } from "../../src/core/message/rich-text.ts";
import type { Surface } from "../../src/core/chat/surface.ts";
import { backoffMs, CALL_RULES } from "../calls/call-policy.ts";
import { callWithin } from "../calls/call-within.ts";
import { keepLatePenalty } from "../calls/keep-late-penalty.ts";
import { failureOf, logFailure, penalize } from "../calls/delivery-context.ts";
import { callTimeoutMs } from "../outbox/reply-timing.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { hasMessage, isReadable } from "./mode.ts";
import type { Reply } from "../outbox/reply.ts";
import { isAboutRich, isRichDoubt, isRichRefusal } from "../outbox/rich-refusal.ts";
import type { Part } from "../text/split/index.ts";

/**
 * Shows this part in the draft. A draft has no outbox row: it is a preview, and its text is sent as a message later.
 */
export interface DraftAction {
  readonly kind: "draft";
  readonly part: Part<RichText>;
  readonly entry?: undefined;
}

/**
 * Time limit of a draft call. The whole text waits for a running draft call, so that the draft cannot arrive after it.
 */
const DRAFT_TIMEOUT_MS = 5_000;
/** The draft is shown again when this share of its time is over. */
const REFRESH_SHARE = 2 / 3;
/** A draft of a turn that stays silent for this long is not shown again: the turn may never come back. */
const LONGEST_SILENCE_MS = 10 * 60 * 1000;

/** Returns the draft that a streaming reply needs now: of its first part that is not a message yet. */
export function nextDraft(
  reply: Reply,
  parts: readonly Part<RichText>[],
  now: number,
): DraftAction | undefined {
  const { draft, entries } = reply;
  const part = parts.find((candidate) => !candidate.complete && !hasMessage(candidate, entries));
  if (part === undefined || !isReadable(part)) return undefined;
  if (!draft.shows(part.hash)) return { kind: "draft", part };
  if (now < draft.refreshAt) return undefined;
  // The draft of a silent turn may fade. New text shows it again.
  return now - reply.touchedAt < LONGEST_SILENCE_MS ? { kind: "draft", part } : undefined;
}

/**
 * Shows the draft once. Returns the time (epoch milliseconds) before which nothing may be sent to the address, if there
 * is one.
 */
export async function showDraft(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  { part }: DraftAction,
): Promise<number | undefined> {
  const { drafts } = surface;
  const { address, id, policy } = reply.record;
  const { draft } = reply;
  if (drafts === undefined) throw new TypeError("The surface has no drafts.");
  const { clock, random } = context.deps;
  const startedAt = clock.now();
  const content = { ...part.content, id: draftIdOf(id), linkPreviews: policy.linkPreviews };
  const outcome = await callWithin(
    clock,
    Math.min(callTimeoutMs(policy, surface), DRAFT_TIMEOUT_MS),
    async (signal) => await drafts.show(address, content, { signal }),
  );
  keepLatePenalty(context, surface, address, outcome);
  const failure = outcome.kind === "done" ? undefined : failureOf(surface, outcome);
  if (failure === undefined || CALL_RULES.draft[failure.kind] === "done") {
    context.access.works(address);
    draft.shown(part.hash, startedAt + drafts.lastsMs * REFRESH_SHARE);
    if (content.blocks !== undefined) reply.richDoubts = 0;
    return undefined;
  }
  if (isRichRefusal(content, failure) && isAboutRich(surface, failure)) {
    draft.hide();
    context.rich.refused(reply, surface, failure);
    return undefined;
  }
  if (isRichDoubt(surface, content, failure)) context.rich.doubted(reply, surface, failure);
  const failures = draft.failed();
  logFailure(
    context,
    { method: "draft", address, replyId: id, part: part.index, attempts: failures },
    failure,
  );
  const rule = CALL_RULES.draft[failure.kind];
  switch (rule) {
    case "wait": {
      const delayMs = failure.kind === "retry-after" ? failure.retryAfterMs : 0;
      await penalize(context, address, failure);
      return clock.now() + delayMs;
    }
    case "retry":
      // If the text has become whole in the meantime, it does not wait for a draft.
      if (!reply.isFinal) reply.notBefore = clock.now() + backoffMs(failures, random());
      return undefined;
    case "abandon":
      draft.isRefused = true;
      return undefined;
    case "done":
      return undefined;
    default:
      return rule satisfies never;
  }
}

/**
 * Notes that a message was posted to the thread. The platform then removes the thread's drafts, and they are shown
 * again.
 */
export function hideDrafts(replies: readonly Reply[]): void {
  for (const reply of replies) if (reply.draft.hide()) reply.isDirty = true;
}
