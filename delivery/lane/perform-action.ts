import type { CallFailure, OutgoingContent, OutgoingMedia, Surface } from "../../src/core/chat/surface.ts";
import { applyFailure } from "../calls/apply-failure.ts";
import { isLocked } from "../calls/call-policy.ts";
import { leaveDoubts } from "../lost-posts/conclude-search.ts";
import { adoptLate, watchLatePost } from "../lost-posts/late-post.ts";
import { adoptTold } from "../lost-posts/told-message.ts";
import { callWithin } from "../calls/call-within.ts";
import { sendWithin, sentFailureOf } from "../calls/send-within.ts";
import { keepLatePenalty } from "../calls/keep-late-penalty.ts";
import { modeOf } from "../modes/mode.ts";
import { performStreamStep } from "../modes/native.ts";
import type { StreamAction } from "../modes/native.ts";
import { showDraft } from "../modes/draft.ts";
import type { DraftAction } from "../modes/draft.ts";
import { failureOf, logFailure } from "../calls/delivery-context.ts";
import { callTimeoutMs, landsBy, postTimeoutMs } from "../outbox/reply-timing.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { cardNews } from "../outbox/card-news.ts";
import { shapeOf } from "../outbox/message-shape.ts";
import { formerChatOf, isRevisedElsewhere } from "../outbox/move-reply.ts";
import { afterRest, entryOf, plannedRow } from "../outbox/outbox-entry.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import { inOtherForm } from "../files/outgoing-files.ts";
import { nextState } from "../outbox/outbox-state.ts";
import type { OutboxRow } from "../outbox/outbox-store.ts";
import { landsSooner, lost, refused, removed, shown, store } from "../outbox/outbox-change.ts";
import type { NextAction } from "./reconcile.ts";
import { contentOf, intendedOf, messageOf, sendable, wantedOf } from "./row-content.ts";
import type { Reply } from "../outbox/reply.ts";
import { answered, isSearchable, nextDoubt } from "../outbox/doubt.ts";
import { newKeyedPost, repeatedPost } from "../outbox/keyed-post.ts";
import { probe } from "../lost-posts/probe.ts";
import { search } from "../lost-posts/search.ts";
import { resentMark, withMark } from "../outbox/resent-mark.ts";
import type { Part } from "../text/split/index.ts";

/** A timed out post is listened to for this long, because only its late answer tells which message to remove. */
const LATE_ANSWER_MS = 15_000;

export type Action = NextAction<Part<OutgoingContent>>;
export type CallAction =
  | Extract<Action, { kind: "post" | "edit" | "remove" | "probe" }>
  | DraftAction
  | StreamAction;

/**
 * Makes one call and stores its result. Returns the time (epoch milliseconds) before which nothing may be sent to the
 * address, if there is one.
 */
export async function performAction(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  action: CallAction,
): Promise<number | undefined> {
  if (action.kind === "post" || action.kind === "edit" || action.kind === "stream") reply.sends();
  const { entry } = action;
  if (entry !== undefined && action.kind !== "probe") {
    entry.row = afterRest(entry.row, context.deps.clock.now());
  }
  switch (action.kind) {
    case "post":
      return post(context, reply, surface, action.part, action.entry);
    case "edit":
      return edit(context, reply, surface, action.part, action.entry, action.isInterim);
    case "remove":
      return remove(context, reply, surface, action.entry);
    case "probe":
      return surface.search === undefined
        ? probe(context, reply, surface, action.entry, intendedOf(reply, surface, action.entry))
        : search(context, reply, surface, action.entry, wantedOf(context, reply, surface, action.entry));
    case "stream":
      return performStreamStep(context, reply, surface, action);
    case "draft":
      return showDraft(context, reply, surface, action);
    default:
      return action satisfies never;
  }
}

/**
 * Marks a row as lost that is `sending` although no call of this process is under way: the earlier process died during
 * the call.
 */
export function markLost(context: DeliveryContext, reply: Reply, entry: OutboxEntry): void {
  const { doubt } = entry.row;
  const { address, policy } = reply.record;
  const surface = context.surfaces.of(address.messengerId);
  if (adoptTold(context, reply, surface, entry)) return;
  if (doubt === undefined) context.budget.unresolved(address, surface);
  // Nothing has left since the death of the process, not even the rest of an upload.
  landsSooner(entry, landsBy(policy, surface, context.deps.clock.now()));
  store(context, entry, { ...lost(entry.row), code: "interrupted" });
  entry.isLookDue = doubt !== undefined;
  reply.isDirty = true;
}

async function post(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  part: Part<OutgoingContent>,
  known: OutboxEntry | undefined,
): Promise<number | undefined> {
  const entry = known ?? entryOf(plannedRow(reply.record.id, part.index));
  const before = entry.row;
  const { record } = reply;
  const { address, policy } = record;
  const newestId = context.budget.newestId(address, surface);
  const now = context.deps.clock.now();
  const earlier = before.doubt?.kind === "unresolved" ? before.doubt.post : undefined;
  // A post that replaces one leaves nothing to search for: it can be repeated.
  const placeholder =
    part.index === 0 ? context.placeholders.find(address.messengerId, record.seenMessageId) : undefined;
  const marks = (policy.onUnknown ?? "resend-marked") === "resend-marked";
  const isMarked = before.isMarked || (marks && before.state === "unknown" && placeholder === undefined);
  const { text } = isMarked ? withMark(part.content, resentMark(policy)) : part.content;
  const leaving = { hash: part.hash, text };
  const keyed =
    surface.search === undefined || placeholder !== undefined
      ? undefined
      : earlier === undefined
        ? newKeyedPost(context.deps.newId(), now, leaving)
        : repeatedPost(earlier, leaving);
  const posting = {
    kind: "posting",
    afterId: newestId,
    landsBy: landsBy(policy, surface, now, sendable(context, address, part.content)),
    ...(keyed !== undefined && { post: keyed }),
  } as const;
  const canSearch = newestId > 0 || keyed !== undefined;
  const row: OutboxRow = {
    ...before,
    state: nextState(before.state, "begin"),
    attempts: before.attempts + 1,
    isMarked,
    messageId: undefined,
    moreIds: undefined,
    retryAt: undefined,
    doubt: canSearch ? nextDoubt(before.doubt, "begin", posting) : undefined,
    formerChatId: undefined,
    shape: shapeOf(part.content),
  };
  context.database.transaction(() => {
    if (!reply.isFinal && !surface.capabilities.edit) context.replies.keepText(reply);
    storeShown(context, reply);
    context.outbox.write(row);
  });
  entry.row = row;
  entry.probe = undefined;
  entry.isLookDue = false;
  if (known === undefined) reply.entries.push(entry);

  const content = contentOf(reply, surface, entry, part);
  const isLast = reply.isFinal || part.complete;
  // Growing text is streamed. Text that is already whole is an ordinary message.
  const canStream = !isLast && placeholder === undefined && modeOf(reply, surface) === "native";
  const stream = canStream ? surface.stream : undefined;
  const { image } = content;
  const files = content.files ?? (image !== undefined && "source" in image ? [image] : undefined);
  const message = messageOf(context, reply, entry, content);
  const { isUnsent, outcome, sentAt } = await sendWithin(
    context.deps.clock,
    { limitMs: postTimeoutMs(policy, surface, message), textMs: callTimeoutMs(policy, surface) },
    async (options) =>
      stream === undefined
        ? await surface.post(address, message, {
            ...options,
            openFile: (hash) => context.files.open(hash),
            ...(placeholder !== undefined && { placeholder }),
          })
        : await stream.begin(address, message, options),
  );
  if (outcome.kind === "done") {
    context.access.works(reply.record.address);
    if (placeholder !== undefined) context.placeholders.forget(address.messengerId, placeholder.messageId);
    if (content.blocks !== undefined) reply.richDoubts = 0;
    const { messageId } = outcome.value;
    const moreIds = outcome.value.messageIds?.filter((id) => id !== messageId);
    // A platform that still remembers the key has returned the earlier message.
    const isEarlier = earlier !== undefined && surface.search?.repeatableForMs !== undefined;
    const shownHash = isEarlier || isRevisedElsewhere(record, reply.record) ? undefined : part.hash;
    store(context, entry, {
      state: nextState(entry.row.state, "posted"),
      messageId,
      moreIds,
      doubt: answered(entry.row.doubt),
      shownHash: isLast ? shownHash : undefined,
      sentAt: context.deps.clock.now(),
      failingSince: undefined,
      code: undefined,
      formerChatId: formerChatOf(address, reply.record.address),
    });
    entry.stream = { state: stream === undefined ? "ended" : "open", content };
    // A stream must still be ended, even if it already shows the whole text.
    entry.shownHash = stream === undefined ? shownHash : undefined;
    for (const id of [messageId, ...(moreIds ?? [])]) context.budget.sent(address, surface, id);
    if (files !== undefined) context.files.remember(address, files, outcome.value);
    context.replies.doubtEnded(address);
    adoptLate(context, reply, surface, entry);
    const card = cardNews(reply, surface);
    if (card !== undefined) void context.budget.cardSent(address, card);
    return undefined;
  }
  const told = sentFailureOf(surface, { outcome, isUnsent });
  const failure: CallFailure =
    placeholder !== undefined && told.kind === "unknown" ? { kind: "transient", code: told.code } : told;
  if (placeholder !== undefined && failure.kind === "missing") {
    context.placeholders.forget(address.messengerId, placeholder.messageId);
    store(context, entry, { ...refused(entry.row), code: failure.code });
    context.budget.notSent(address, surface);
    return undefined;
  }
  if (sentAt !== undefined) landsSooner(entry, landsBy(policy, surface, sentAt));
  if (stream !== undefined && isRefusal(failure)) {
    reply.isStreamRefused = true;
    store(context, entry, { ...refused(entry.row), code: failure.code });
    context.budget.notSent(address, surface);
    return undefined;
  }
  if (
    (files !== undefined || image !== undefined) &&
    reshape(context, reply, surface, entry, files ?? [], failure, isBareCaption(reply, part, content))
  )
    return undefined;
  if (outcome.kind === "timed-out" && !isUnsent && placeholder === undefined) {
    // A stream from a late answer must still be ended, whatever it shows.
    const hash = stream === undefined ? part.hash : undefined;
    entry.answerUntil = context.deps.clock.now() + LATE_ANSWER_MS;
    const late = { entry, record, wasMarked: row.isMarked, hash, isWhole: isLast };
    watchLatePost(context, reply, surface, late, outcome.late);
  }
  if (failure.kind === "unknown" && adoptTold(context, reply, surface, entry)) return undefined;
  // Without a known id before it, the post cannot be searched for.
  if (failure.kind === "unknown" && entry.row.doubt === undefined)
    context.budget.unresolved(address, surface);
  const call = {
    method: "post",
    address,
    entry,
    part,
    content,
    canSearch: surface.probing !== undefined || surface.search !== undefined,
  } as const;
  const holdUntil = await applyFailure(context, reply, call, failure);
  if (!isSearchable(entry.row.doubt)) {
    context.budget.notSent(address, surface);
    context.replies.doubtEnded(address);
  }
  adoptLate(context, reply, surface, entry);
  // It ended while the post was under way.
  if (!reply.isOpen && reply.record.state !== "withdrawn") leaveDoubts(context, reply, surface);
  return holdUntil;
}

async function edit(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  part: Part<OutgoingContent>,
  entry: OutboxEntry,
  isInterim: boolean,
): Promise<number | undefined> {
  const { messageId } = entry.row;
  if (messageId === undefined) throw new TypeError("A visible message has no id.");
  const content = contentOf(reply, surface, entry, part);
  const { record } = reply;
  const { address, policy } = record;
  const message = sendable(context, address, content);
  const { clock } = context.deps;
  // The stored hash of the visible text is removed before the edit changes that text.
  if (entry.row.shownHash !== undefined && entry.row.shownHash !== part.hash) {
    store(context, entry, { shownHash: undefined });
  }
  if (entry.strayEdit !== undefined && entry.strayEdit.until <= clock.now()) entry.strayEdit = undefined;
  const textMs = callTimeoutMs(policy, surface);
  const { isUnsent, outcome } = await sendWithin(
    clock,
    { limitMs: postTimeoutMs(policy, surface, message), textMs },
    async (options) =>
      await surface.edit(address, messageId, message, {
        ...options,
        openFile: (hash) => context.files.open(hash),
      }),
  );
  keepLatePenalty(context, surface, address, outcome);
  const failure = outcome.kind === "done" ? undefined : sentFailureOf(surface, { outcome, isUnsent });
  if (outcome.kind === "timed-out") {
    // A late edit may overwrite a newer text with an older one. Then the visible text is not known.
    void outcome.late.then((late) => {
      if (late.kind !== "done" || entry.shownHash === part.hash) return;
      entry.shownHash = undefined;
      context.replies.revisit(entry.row.replyId);
    });
  }
  if (failure === undefined) {
    context.access.works(reply.record.address);
    if (content.blocks !== undefined) reply.richDoubts = 0;
    if (!isRevisedElsewhere(record, reply.record)) shown(context, entry, part);
    return undefined;
  }
  const { image } = content;
  const isAboutId = failure.kind === "rejected" && failure.about === "file-id";
  if (isAboutId && image !== undefined && "source" in image && context.files.forget(address, [image])) {
    reply.isDirty = true;
    return undefined;
  }
  if (failure.kind === "unknown") {
    const isSame = entry.strayEdit === undefined || entry.strayEdit.hash === part.hash;
    const until = clock.now() + textMs;
    entry.shownHash = undefined;
    entry.strayEdit = { hash: isSame ? part.hash : undefined, until };
  }
  const isLeftover = reply.isLeftover(part.index);
  const call = { method: "edit", address, entry, part, content, isInterim, isLeftover } as const;
  return applyFailure(context, reply, call, failure);
}

async function remove(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
): Promise<number | undefined> {
  const { messageId } = entry.row;
  if (messageId === undefined) throw new TypeError("A visible message has no id.");
  const { address } = reply.record;
  // The text may need the message again before the outcome is known.
  if (entry.row.isLeaving !== true) store(context, entry, { isLeaving: true, shownHash: undefined });
  entry.shownHash = undefined;
  const outcome = await callWithin(
    context.deps.clock,
    callTimeoutMs(reply.record.policy, surface),
    async (signal) => await surface.remove(address, messageId, { signal }),
  );
  keepLatePenalty(context, surface, address, outcome);
  if (outcome.kind === "done") {
    removed(context, entry);
    return undefined;
  }
  const failure = failureOf(surface, outcome);
  if (isUnremovable(failure) && context.cards.lock(reply)) return undefined;
  return applyFailure(context, reply, { method: "remove", address, entry }, failure);
}

/** Whether the message exists but the platform refuses to remove it. */
function isUnremovable(failure: CallFailure): boolean {
  return failure.kind === "rejected" || isLocked(failure);
}

/**
 * Prepares another form of refused files: a document for a photo, bytes for an id, single files for an album, a text
 * with the name for a file, or a card without its picture. Returns false if no other form exists.
 */
function reshape(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  files: readonly OutgoingMedia[],
  failure: CallFailure,
  isBareCaption: boolean,
): boolean {
  // A refusal that names no file may be about the formatting of the caption, or the quote. They are left out first.
  if (failure.kind !== "rejected" || (failure.about === undefined && !isBareCaption)) return false;
  const { address, body, content, id } = reply.record;
  const isSentById = failure.about === "file-id" && context.files.forget(address, files);
  const other = content === "card" ? undefined : inOtherForm(files, failure);
  const isBare = content === "card" && !isSentById && hasPicture(reply);
  const isRefused = other === undefined && !isSentById && body?.kind === "files";
  if (other === undefined && !isSentById && !isBare && !isRefused) return false;
  context.database.transaction(() => {
    store(context, entry, { ...refused(entry.row), code: failure.code });
    if (other !== undefined) context.replies.reshapeFiles(reply, other);
    if (isBare) context.replies.leaveOutPicture(reply);
    if (isRefused) context.replies.refuseFiles(reply, files, failure.code);
  });
  if (isBare || isRefused) {
    const { attempts, part } = entry.row;
    logFailure(context, { method: "post", address, replyId: id, part, attempts }, failure);
  }
  reply.isDirty = true;
  context.budget.notSent(address, surface);
  context.replies.doubtEnded(address);
  return true;
}

/** Tells whether a content has neither formatting nor a quote that could be left out. */
function isBareCaption(
  { record }: Reply,
  { index }: Part<OutgoingContent>,
  { entities }: OutgoingContent,
): boolean {
  return entities.length === 0 && (index > 0 || record.replyTo === undefined);
}

function hasPicture({ record: { body } }: Reply): boolean {
  return body?.kind === "card" && body.card.image !== undefined && body.isPictureRefused !== true;
}

/** Tells whether the platform refuses to stream here. An ordinary message may still work. */
function isRefusal({ kind }: CallFailure): boolean {
  return kind === "rejected" || kind === "misconfigured" || kind === "missing";
}

/**
 * Stores that the visible messages are up to date. This happens when a later part is posted, and when only a question
 * is left, so that a new process does not send the same texts again. A message is left out if a late edit may still
 * change it, because after a crash no process would know of that edit.
 */
export function storeShown(context: Pick<DeliveryContext, "outbox">, reply: Reply): void {
  for (const entry of reply.entries) {
    if (entry.row.state !== "sent" || entry.shownHash === entry.row.shownHash) continue;
    // An edit that may still land leaves the text uncertain, also for a later process.
    if (entry.strayEdit !== undefined) continue;
    const row = { ...entry.row, shownHash: entry.shownHash };
    context.outbox.write(row);
    entry.row = row;
  }
}
