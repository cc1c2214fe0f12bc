import { errorCode } from "../../src/core/base/errors.ts";
import type { PostedMessage, Surface } from "../../src/core/chat/surface.ts";
import type { LateOutcome } from "../calls/call-within.ts";
import { classify, penalize } from "../calls/delivery-context.ts";
import { replyFields } from "../outbox/reply-fields.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { formerChatOf, isRevisedElsewhere } from "../outbox/move-reply.ts";
import { store } from "../outbox/outbox-change.ts";
import { addDuplicate } from "../outbox/duplicates.ts";
import type { LateMessage, OutboxEntry } from "../outbox/outbox-entry.ts";
import { nextState } from "../outbox/outbox-state.ts";
import type { OutboxRow } from "../outbox/outbox-store.ts";
import type { Reply } from "../outbox/reply.ts";
import type { ReplyRecord } from "../outbox/reply-store.ts";
import { answered } from "../outbox/doubt.ts";

interface TimedOutPost {
  readonly entry: OutboxEntry;
  /** The reply when the post was sent. */
  readonly record: ReplyRecord;
  /** True if that post carried the mark. */
  readonly wasMarked: boolean;
  /** Hash of the content of that post. */
  readonly hash: string | undefined;
  /** True if that post carried the whole text of its part. */
  readonly isWhole: boolean;
}

/**
 * Listens to a post that ran into its time limit. While its row is `unknown`, the late answer settles the doubt. If the
 * row was posted again in the meantime, the second message is a duplicate and is removed.
 */
export function watchLatePost(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  post: TimedOutPost,
  late: Promise<LateOutcome<PostedMessage>>,
): void {
  void late
    .then((outcome) => hearLate(context, reply, surface, post, outcome))
    .catch((error: unknown) => {
      // The answer is not stored. The row stays in doubt, as if the answer had never come.
      context.log.error("delivery.late-answer-not-stored", { ...replyFields(reply), code: errorCode(error) });
    });
}

async function hearLate(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  post: TimedOutPost,
  outcome: LateOutcome<PostedMessage>,
): Promise<void> {
  const { entry } = post;
  entry.answerUntil = undefined;
  const formerChatId = formerChatOf(post.record.address, reply.record.address);
  if (formerChatId !== undefined) {
    if (outcome.kind === "done") adoptFormer(context, reply, post, outcome.value.messageId, formerChatId);
  } else if (outcome.kind === "done") {
    const { messageId, messageIds } = outcome.value;
    const moreIds = messageIds?.filter((id) => id !== messageId);
    entry.late = { messageId, moreIds, isMarked: post.wasMarked, hash: post.hash, isWhole: post.isWhole };
    if (entry.row.state !== "sending") {
      adopt(context, surface, entry, entry.late);
      context.budget.sent(reply.record.address, surface, outcome.value.messageId);
      context.replies.doubtEnded(reply.record.address);
    }
  } else {
    const failure = classify(surface, outcome.error);
    await penalize(context, reply.record.address, failure);
    if (failure.kind === "unknown") return;
    hearRefusal(context, reply, surface, post);
  }
  context.replies.revisit(entry.row.replyId);
}

function hearRefusal(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  { entry, wasMarked }: TimedOutPost,
): void {
  const { doubt } = entry.row;
  if (entry.row.state !== "unknown" || entry.row.doubts !== 1) return;
  // The repeated post may have been made, although this one was not.
  if (doubt?.kind === "landing" && doubt.post?.isRepeated === true) return;
  // The post was certainly not made, so the next post counts as the first one.
  store(context, entry, {
    state: nextState(entry.row.state, "refused"),
    doubts: 0,
    doubt: answered(entry.row.doubt),
    isMarked: wasMarked,
    retryAt: undefined,
  });
  entry.probe = undefined;
  context.budget.notSent(reply.record.address, surface);
  context.replies.doubtEnded(reply.record.address);
}

/**
 * Handles a late message in the old chat of a reply that has moved. The message counts, unless it was posted again in
 * the new chat.
 */
function adoptFormer(
  context: DeliveryContext,
  reply: Reply,
  { entry, hash, record }: TimedOutPost,
  messageId: string,
  formerChatId: string,
): void {
  const shownHash = isRevisedElsewhere(record, reply.record) ? undefined : hash;
  const { state } = entry.row;
  if (state !== "unknown" && state !== "planned") return;
  store(context, entry, {
    state: nextState(state === "planned" ? nextState(state, "begin") : state, "posted"),
    messageId,
    formerChatId,
    doubt: answered(entry.row.doubt),
    shownHash,
    sentAt: context.deps.clock.now(),
    retryAt: undefined,
    code: undefined,
  });
  entry.shownHash = shownHash;
}

/** Applies a late answer that came while the row was being posted again. */
export function adoptLate(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
): void {
  const { late } = entry;
  if (late === undefined || entry.row.state === "sending") return;
  adopt(context, surface, entry, late);
  context.budget.sent(reply.record.address, surface, late.messageId);
}

function adopt(context: DeliveryContext, surface: Surface, entry: OutboxEntry, late: LateMessage): void {
  entry.late = undefined;
  const { row } = entry;
  const { messageId, moreIds, isMarked, hash } = late;
  const reply = context.replies.get(row.replyId);
  // A search has found the message in the meantime, and it is being removed.
  if (reply?.entries.some((other) => other !== entry && other.row.messageId === messageId) === true) return;
  if (row.state === "sent") {
    if (row.messageId === messageId || row.messageId === undefined) return;
    // After the end of the reply nothing would update the earlier message, so the later one stays.
    if (reply?.isOpen !== true) return;
    const isLater = !row.isMarked && Number(messageId) > Number(row.messageId);
    const isOutdated = !surface.capabilities.edit && hash !== entry.shownHash;
    keepOne(context, entry, late, isMarked || isLater || isOutdated ? row : late);
  } else if (row.state === "unknown" || row.state === "planned") {
    const state = row.state === "planned" ? nextState("planned", "begin") : row.state;
    store(context, entry, {
      state: nextState(state, "posted"),
      messageId,
      moreIds,
      doubt: answered(row.doubt),
      isMarked,
      shownHash: wholeHash(late),
      sentAt: context.deps.clock.now(),
      retryAt: undefined,
      code: undefined,
    });
    entry.probe = undefined;
    entry.shownHash = hash;
    entry.stream = undefined;
  }
}

/**
 * Keeps one of two messages of a part. The earlier one stays, because it is in the right place and needs no mark. The
 * newer one stays if the earlier one has a mark, or shows an outdated text that cannot be edited.
 */
function keepOne(
  context: DeliveryContext,
  entry: OutboxEntry,
  late: LateMessage,
  kept: OutboxRow | LateMessage,
): void {
  const { row } = entry;
  const surplus = kept === late ? row : late;
  context.database.transaction(() => {
    for (const id of [surplus.messageId, ...(surplus.moreIds ?? [])])
      if (id !== undefined) addDuplicate(context, row.replyId, id);
    if (kept !== late) return;
    const { messageId, moreIds } = late;
    store(context, entry, { messageId, moreIds, isMarked: false, shownHash: wholeHash(late) });
    entry.shownHash = late.hash;
    // The kept message had a different stream, which may still be open.
    entry.stream = undefined;
  });
}

/** Returns the hash that is stored, so that the next process knows the text of a message that it cannot edit. */
function wholeHash({ hash, isWhole }: LateMessage): string | undefined {
  return isWhole ? hash : undefined;
}
