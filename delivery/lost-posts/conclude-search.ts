import type { Surface } from "../../src/core/chat/surface.ts";
import { GIVE_UP_AFTER_MS } from "../calls/call-policy.ts";
import { replyFields } from "../outbox/reply-fields.ts";
import { cardNews } from "../outbox/card-news.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { store } from "../outbox/outbox-change.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import { nextState } from "../outbox/outbox-state.ts";
import type { Reply } from "../outbox/reply.ts";
import { answered, isKeyed, isSearchable, nextDoubt, unresolved } from "../outbox/doubt.ts";

/**
 * Gives the found message to the row. An edit then brings it up to date, unless `shown` says that it is.
 *
 * @param moreIds for an album, the ids of its other messages
 */
export function adopt(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  messageId: string,
  moreIds: readonly string[] | undefined,
  shown?: { readonly hash: string; readonly isWhole: boolean },
): void {
  const { row } = entry;
  context.log.info("delivery.lost-post-found", {
    ...replyFields(reply),
    part: row.part,
    attempts: row.attempts,
  });
  store(context, entry, {
    state: nextState(row.state, "posted"),
    messageId,
    moreIds,
    shownHash: shown?.isWhole === true ? shown.hash : undefined,
    doubts: Math.max(0, row.doubts - 1),
    doubt: answered(row.doubt),
    sentAt: context.deps.clock.now(),
    code: undefined,
    retryAt: undefined,
    failingSince: undefined,
  });
  entry.shownHash = shown?.hash;
  ended(context, reply, entry);
  const { address } = reply.record;
  for (const id of [messageId, ...(moreIds ?? [])]) context.budget.sent(address, surface, id);
  const card = cardNews(reply, surface);
  if (card !== undefined) void context.budget.cardSent(address, card);
}

/** Returns the ids of an album's other messages where they are consecutive and a search finds the first one. */
export function albumIds(
  reply: Reply,
  surface: Surface,
  { row }: OutboxEntry,
  messageId: string,
): readonly string[] | undefined {
  const part = reply.parts(surface).find(({ index }) => index === row.part);
  const count = part?.content.files?.length ?? 1;
  if (count === 1) return undefined;
  return Array.from({ length: count - 1 }, (_, index) => String(Number(messageId) + index + 1));
}

/** Posts again without a mark, because the post was not made and can no longer be made. */
export function postAgain(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
): void {
  const { row } = entry;
  const now = context.deps.clock.now();
  // The time of failing does not start with the post, because the machine may have been off for days.
  const failingSince = row.failingSince ?? now;
  const isGivenUp = now - failingSince > GIVE_UP_AFTER_MS;
  if (!isGivenUp) {
    context.log.info("delivery.lost-post-not-made", { ...replyFields(reply), part: row.part });
  }
  store(context, entry, {
    state: nextState(row.state, isGivenUp ? "failed" : "refused"),
    doubts: Math.max(0, row.doubts - 1),
    doubt: nextDoubt(row.doubt, "not-found"),
    failingSince,
    retryAt: undefined,
  });
  ended(context, reply, entry);
  context.budget.notSent(reply.record.address, surface);
}

/** Ends a search that cannot tell the outcome. The policy decides what follows. */
export function leaveUnresolved(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  code: string,
): void {
  const { row } = entry;
  context.log.warn("delivery.lost-post-unresolved", { ...replyFields(reply), part: row.part, code });
  store(context, entry, {
    doubt: unresolved(row.doubt),
    retryAt: undefined,
  });
  ended(context, reply, entry);
  context.budget.unresolved(reply.record.address, surface);
}

/**
 * Ends the searches of a reply that has ended. Its posts may have been made, so other conversations must not take their
 * messages for theirs. A post with a key cannot be taken for another one: its search continues if the reply does.
 */
export function leaveDoubts(
  context: Pick<DeliveryContext, "budget" | "outbox">,
  { entries, record }: Reply,
  surface: Surface | undefined,
): void {
  for (const entry of entries) {
    const { doubt, state } = entry.row;
    if (state !== "unknown" || !isSearchable(doubt) || isKeyed(doubt)) continue;
    store(context, entry, { doubt: unresolved(doubt), retryAt: undefined });
    if (surface !== undefined) context.budget.unresolved(record.address, surface);
  }
}

function ended(context: DeliveryContext, reply: Reply, entry: OutboxEntry): void {
  entry.probe = undefined;
  entry.nonesInRow = undefined;
  entry.repeats = undefined;
  entry.probeFailures = undefined;
  entry.searchFailingSince = undefined;
  reply.isDirty = true;
  context.replies.doubtEnded(reply.record.address);
}
