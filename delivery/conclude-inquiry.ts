import type { Address, Surface } from "../src/core/surface.ts";
import { GIVE_UP_AFTER_MS } from "./call-policy.ts";
import { replyFields } from "./delivery-context.ts";
import type { DeliveryContext } from "./delivery-context.ts";
import { mostOf, rangeOf } from "./inquiry-range.ts";
import { landsBy } from "./landing.ts";
import { addDuplicate, keepEarlier } from "./late-post.ts";
import {
  isGapQuestion,
  isOnlyLateQuestion,
  isOtherPostLate,
  isOtherPostLeft,
  isOtherPostOpen,
} from "./open-question.ts";
import { store } from "./outbox-change.ts";
import type { Inquiry, OutboxEntry } from "./outbox-entry.ts";
import { nextState } from "./outbox-state.ts";
import type { Reply } from "./reply.ts";

/** A post has an answer by then, most times. */
export const POSTING_MS = 1_000;

/** All ids were asked about, or enough: what is known now of the lost post. */
export function conclude(context: DeliveryContext, reply: Reply, surface: Surface, entry: OutboxEntry): void {
  const { inquiry, row } = entry;
  if (inquiry === undefined) return;
  const { hits } = inquiry;
  const { address } = reply.record;
  if (row.state !== "unknown" && hits.length > 0 && isOtherPostOpen(context, entry, address)) {
    // One that is looked for since may be among them: asked again when that is found.
    entry.inquiry = undefined;
    store(context, entry, { inquiry: undefined });
    return;
  }
  if (row.state !== "unknown" && hits.length > 0 && isOtherPostLeft(context, entry, address)) {
    leaveOpen(context, reply, entry, "several-messages");
    return;
  }
  if (hits.length === 0 && inquiry.isPartial && isOnlyLateQuestion(row)) {
    // It was not likely, and what is read already is not called a repetition for it.
    closeQuestion(context, entry, false);
  } else if (hits.length === 0 && inquiry.isPartial) {
    leaveOpen(context, reply, entry, "range-too-long");
  } else if (hits.length === 0) {
    if (row.state !== "unknown") closeQuestion(context, entry, isGapQuestion(row));
    else postAnew(context, reply, entry, inquiry);
  } else if (
    surface.capabilities.remove &&
    (areAllLost(context, entry, inquiry, address) ||
      (isCertain(inquiry) && isOutOfPlace(reply, entry, inquiry)))
  ) {
    if (context.otherRows(entry, address).some(({ state }) => state === "sending")) {
      // One of them may be the one that is being posted.
      entry.inquiry = undefined;
      store(context, entry, { inquiry: undefined, retryAt: context.deps.clock.now() + POSTING_MS });
      return;
    }
    context.database.transaction(() => removeAll(context, reply, entry, inquiry));
    for (const hit of hits) context.budget.sent(address, surface, String(hit));
  } else if (hits.length > mostOf(row)) {
    leaveOpen(context, reply, entry, "several-messages");
  } else if (inquiry.others !== "none") {
    leaveOpen(context, reply, entry, "chat-shared");
  } else {
    context.database.transaction(() => adopt(context, reply, entry, hits.map(String)));
    for (const hit of hits) context.budget.sent(address, surface, String(hit));
  }
}

/**
 * Whether what was found are lost posts of which nobody can tell whose they are: of this thread and of another one, or
 * of several messages of this thread. More than were lost belong to somebody else.
 */
function areAllLost(
  context: DeliveryContext,
  entry: OutboxEntry,
  { hits, others }: Inquiry,
  address: Address,
): boolean {
  if (others !== "none") return others === "lost";
  const own = mostOf(entry.row);
  if (hits.length <= own) return false;
  const rest = context.otherRows(entry, address).map((row) => Math.max(0, mostOf(row)));
  return hits.length <= rest.reduce((sum, most) => sum + most, own);
}

/**
 * Whether a message that was found would stand above one that it follows in its reply: that was taken away when the text
 * was begun anew, and came again below it.
 */
function isOutOfPlace(reply: Reply, { row }: OutboxEntry, { hits }: Inquiry): boolean {
  if (row.state !== "unknown") return false;
  return reply.entries.some(
    ({ row: other }) =>
      other.part >= 0 &&
      other.part < row.part &&
      other.state === "sent" &&
      hits.some((hit) => Number(other.messageId) > hit),
  );
}

/** Whether it is known what becomes of a message that is found. */
export function isCertain({ others }: Pick<Inquiry, "others">): boolean {
  return others === "none" || others === "lost";
}

/**
 * What was found belongs to a lost post, of this thread or of another one that looks for its own: it is taken away, and
 * both say anew what they then do not find.
 */
function removeAll(context: DeliveryContext, reply: Reply, entry: OutboxEntry, inquiry: Inquiry): void {
  const { row } = entry;
  for (const hit of inquiry.hits) addDuplicate(context, row.replyId, String(hit));
  context.log.info("delivery.lost-posts-removed", {
    ...replyFields(reply),
    part: row.part,
    messages: inquiry.hits.length,
  });
  reply.isDirty = true;
  if (row.state === "unknown") postAnew(context, reply, entry, inquiry);
  else closeQuestion(context, entry, isGapQuestion(row));
}

function adopt(
  context: DeliveryContext,
  reply: Reply,
  entry: OutboxEntry,
  [messageId, ...repeated]: readonly string[],
): void {
  const { row, inquiry } = entry;
  if (messageId === undefined) return;
  for (const other of repeated) addDuplicate(context, row.replyId, other);
  context.log.info("delivery.lost-post-found", {
    ...replyFields(reply),
    part: row.part,
    attempts: row.attempts,
  });
  reply.isDirty = true;
  if (row.state !== "unknown") {
    const isGap = isGapQuestion(row);
    if (isGap) keepEarlier(context, entry, messageId);
    else addDuplicate(context, row.replyId, messageId);
    closeQuestion(context, entry, isGap);
    return;
  }
  // Not all ids were asked about: another post of the row may have been made too.
  const isRestOpen = (inquiry?.isLook === true || inquiry?.isPartial === true) && row.attempts > 1;
  const now = context.deps.clock.now();
  // Which of several posts was found is not known: the last one may be to come yet.
  const mayBeOther = row.attempts > 1 || isOtherPostLate(context, entry, reply.record.address);
  const landsUntil = mayBeOther && landsBy(row, reply) > now ? landsBy(row, reply) : 0;
  const lateUntil = Math.max(isRestOpen ? now : 0, landsUntil, row.lateUntil ?? 0);
  store(context, entry, {
    state: nextState(row.state, "posted"),
    messageId,
    shownHash: undefined,
    doubts: Math.max(0, row.doubts - 1),
    sentAt: now,
    code: undefined,
    retryAt: undefined,
    failingSince: undefined,
    inquiry: undefined,
    // Whatever there was to find between the two posts, this was it.
    probedTo: undefined,
    doubtedAt: lateUntil === 0 ? undefined : (row.doubtedAt ?? row.begunAt),
    lateUntil: lateUntil === 0 ? undefined : lateUntil,
  });
  entry.shownHash = undefined;
  entry.inquiry = undefined;
}

function postAnew(
  context: DeliveryContext,
  reply: Reply,
  entry: OutboxEntry,
  { ids, isEarly }: Inquiry,
): void {
  const { row } = entry;
  const landsUntil = landsBy(row, reply);
  const { afterId } = rangeOf(row);
  const now = context.deps.clock.now();
  // Not since the post: the machine may have been off for days, and nothing is given up for that.
  const failingSince = row.failingSince ?? now;
  entry.inquiry = undefined;
  if (now - failingSince > GIVE_UP_AFTER_MS) {
    store(context, entry, { state: nextState(row.state, "failed"), retryAt: undefined, inquiry: undefined });
    return;
  }
  context.log.info("delivery.lost-post-not-made", { ...replyFields(reply), part: row.part });
  store(context, entry, {
    state: nextState(row.state, "refused"),
    doubts: Math.max(0, row.doubts - 1),
    failingSince,
    retryAt: undefined,
    inquiry: undefined,
    // What landed since an id was asked about may have taken it.
    probedTo: isEarly ? afterId : (ids.at(-1) ?? afterId),
    doubtedAt: row.doubtedAt ?? row.begunAt,
    lateUntil: landsUntil > now ? landsUntil : row.lateUntil,
  });
  reply.isDirty = true;
}

/** One of the two questions about a visible message is answered; the one about late posts comes last. */
function closeQuestion(context: DeliveryContext, entry: OutboxEntry, isGap: boolean): void {
  const { row } = entry;
  entry.inquiry = undefined;
  const lateUntil = isGap ? row.lateUntil : undefined;
  const doubtedAt = lateUntil === undefined ? undefined : row.doubtedAt;
  store(context, entry, {
    probedTo: undefined,
    doubtedAt,
    lateUntil,
    retryAt: undefined,
    inquiry: undefined,
  });
}

/** Probing cannot tell: a lost post is left to the policy; a message that may be a repetition says so. */
export function leaveOpen(context: DeliveryContext, reply: Reply, entry: OutboxEntry, code: string): void {
  const { row } = entry;
  context.log.warn("delivery.lost-post-unresolved", { ...replyFields(reply), part: row.part, code });
  reply.isDirty = true;
  if (row.state === "unknown") {
    entry.inquiry = undefined;
    store(context, entry, { isAmbiguous: true, retryAt: undefined, inquiry: undefined });
    return;
  }
  closeQuestion(context, entry, isGapQuestion(row));
  if (row.state !== "sent") return;
  if ((reply.record.policy.onUnknown ?? "resend-marked") !== "resend-marked") return;
  store(context, entry, { isMarked: true, shownHash: undefined });
  entry.shownHash = undefined;
}
