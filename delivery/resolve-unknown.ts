import type { IdRange, UnseenIds } from "../src/core/budget.ts";
import { errorCode } from "../src/core/errors.ts";
import type { Probing, Surface } from "../src/core/surface.ts";
import { backoffMs, GIVE_UP_AFTER_MS } from "./call-policy.ts";
import { callWithin } from "./call-within.ts";
import {
  BUDGET_TIMEOUT_MS,
  callTimeoutMs,
  classify,
  logFailure,
  penalize,
  TIMED_OUT,
} from "./delivery-context.ts";
import type { DeliveryContext } from "./delivery-context.ts";
import { isOnlyThread, landsBy } from "./landing.ts";
import { addDuplicate, keepEarlier } from "./late-post.ts";
import { isGapQuestion } from "./open-question.ts";
import { store } from "./outbox-change.ts";
import type { Inquiry, OutboxEntry } from "./outbox-entry.ts";
import { nextState } from "./outbox-state.ts";
import type { OutboxRow } from "./outbox-store.ts";
import type { Reply } from "./reply.ts";

/*
 * How a post whose answer was lost is found again (I6). The ids of a box grow by one, and a bot can edit only its own
 * messages. So the ids after the newest one that was known when the post began are asked about, one call each, except
 * those that somebody has seen: incoming messages, and what this thread or another one has sent.
 *
 * - Where nobody else speaks for the bot, the first of them is looked at right away: most lost posts were made, and
 *   then the reply goes on at once. All of them are asked about when the post has settled (`settlesAt`).
 * - One is the bot's own: it is the lost message. It is adopted, and edited to what it should say.
 * - None is: the post did not happen, and is made anew, without a mark. The id of the new message then tells how far
 *   the box had really come: unseen ids between the last one asked about and that one are asked about too. A message
 *   found there is the lost one after all; it stays, and the newer one is taken away.
 *   Where the post was made more than once without an answer, there may be as many messages: the first stays.
 * - It was made anew before its time limit was over: when that has passed, the ids after the new message are asked
 *   about. What landed there is taken away.
 * - More are, too many ids were unseen, another thread of the chat may own one, or the platform refuses to
 *   say: `onUnknown` of the policy decides.
 *
 * It is a heuristic: what another program sends with the same token, in the same chat, at the same time, without any
 * update to this one, would be taken for the lost message. How far the search has come is stored, so that a process
 * that is killed again and again comes to its end all the same.
 */

/** What came and what others sent is told to the root a moment later: a long range is looked at again, so often. */
const NEWS_MS = 3_000;
const MOST_NEWS_WAITS = 2;

/** Finds out which ids to ask about. Costs no call to the platform. Returns until when nothing may go to the address. */
export async function prepareInquiry(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
): Promise<number | undefined> {
  const { row } = entry;
  const { probing } = surface;
  if (probing === undefined) return undefined;
  const { address } = reply.record;
  const outcome = await callWithin(context.deps.clock, BUDGET_TIMEOUT_MS, () =>
    context.budget.unseen(address, probing, rangeOf(row)),
  );
  if (entry.row !== row) return undefined;
  const isLook = isLookDue(entry, context.deps.clock.now());
  entry.isLookDue = false;
  if (outcome.kind !== "done") {
    const code = outcome.kind === "failed" ? errorCode(outcome.error) : outcome.kind;
    context.log.warn("delivery.budget-unreachable", { code });
    if (isLook) return row.retryAt;
    store(context, entry, { retryAt: context.deps.clock.now() + BUDGET_TIMEOUT_MS });
    return undefined;
  }
  const { isTooLong, isShared } = outcome.value;
  const ids = withoutOwned(context, probing, reply, outcome.value);
  if (isLook) {
    const [first] = ids;
    // Where another thread may have posted it, a look would tell nothing.
    if (first === undefined || (isShared && !isOnlyThread(address))) return row.retryAt;
    entry.inquiry = { ...newInquiry([first], isShared), isLook: true };
    return undefined;
  }
  if (isTooLong) {
    const { newsWaits = 0 } = entry;
    if (newsWaits < MOST_NEWS_WAITS) {
      entry.newsWaits = newsWaits + 1;
      awaitNews(context, reply, entry);
      return undefined;
    }
    leaveOpen(context, reply, entry, "range-too-long");
    return undefined;
  }
  entry.newsWaits = 0;
  entry.inquiry = newInquiry(ids, isShared);
  if (ids.length === 0) conclude(context, reply, surface, entry);
  else keepProgress(context, entry, entry.inquiry);
  return undefined;
}

/** Whether the first id may be looked at before the post has settled. */
export function isLookDue({ isLookDue = false, inquiry, row }: OutboxEntry, now: number): boolean {
  return inquiry?.isLook ?? (isLookDue && row.state === "unknown" && (row.retryAt ?? 0) > now);
}

function awaitNews(context: DeliveryContext, reply: Reply, entry: OutboxEntry): void {
  const until = context.deps.clock.now() + NEWS_MS;
  if (entry.row.state === "unknown") {
    store(context, entry, { retryAt: until });
    return;
  }
  // All is shown: nobody needs to wait for the question whether it is shown twice.
  reply.isWholeVisible = true;
  reply.notBefore = until;
}

function newInquiry(ids: readonly number[], isShared: boolean): Inquiry {
  return { ids, isShared, asked: 0, hits: [], failures: 0, isLook: false };
}

function keepProgress(context: DeliveryContext, entry: OutboxEntry, inquiry: Inquiry): void {
  if (inquiry.isLook) return;
  const { ids, isShared, asked, hits } = inquiry;
  store(context, entry, { inquiry: { ids, isShared, asked, hits: [...hits] }, retryAt: undefined });
}

/** Asks about the next id. Returns until when nothing may go to the address, if there is a reason. */
export async function probeNext(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
): Promise<number | undefined> {
  const { inquiry, row } = entry;
  const { probing } = surface;
  const id = inquiry?.ids[inquiry.asked];
  if (probing === undefined || inquiry === undefined || id === undefined) return undefined;
  const { address, policy } = reply.record;
  const { clock, random } = context.deps;
  const outcome = await callWithin(clock, callTimeoutMs(policy), async (signal) =>
    probing.probe(address, String(id), { signal }),
  );
  // The lost answer came meanwhile.
  if (entry.row !== row || entry.inquiry !== inquiry) return undefined;
  if (outcome.kind === "done") {
    if (outcome.value === "own") {
      const isUnseen = await isStillUnseen(context, reply, probing, entry, id);
      if (entry.row !== row || entry.inquiry !== inquiry) return undefined;
      if (isUnseen === undefined) {
        store(context, entry, { retryAt: clock.now() + BUDGET_TIMEOUT_MS });
        return undefined;
      }
      if (isUnseen) inquiry.hits.push(id);
    }
    inquiry.asked += 1;
    const isOthers = inquiry.isShared && !isOnlyThread(address);
    if (inquiry.isLook && (inquiry.hits.length === 0 || isOthers)) {
      entry.inquiry = undefined;
      // What follows waits too, so that a message that lands late still stands before it.
      return row.retryAt;
    }
    if (inquiry.asked === inquiry.ids.length || inquiry.hits.length > mostOf(row)) {
      conclude(context, reply, surface, entry);
    } else {
      keepProgress(context, entry, inquiry);
    }
    return undefined;
  }
  const failure = outcome.kind === "timed-out" ? TIMED_OUT : classify(surface, outcome.error);
  inquiry.failures += 1;
  const attempts = inquiry.failures;
  logFailure(context, { method: "probe", address, replyId: row.replyId, part: row.part, attempts }, failure);
  if (inquiry.isLook) entry.inquiry = undefined;
  switch (failure.kind) {
    case "retry-after": {
      const until = clock.now() + failure.retryAfterMs;
      store(context, entry, { retryAt: Math.max(until, row.retryAt ?? 0) });
      await penalize(context, address, failure.retryAfterMs);
      return until;
    }
    case "gone":
      context.endChat(address, failure.code);
      return undefined;
    case "transient":
    case "unknown":
      if (inquiry.isLook) return row.retryAt;
      // Nothing is lost by asking later, and a platform that does not answer shows nothing else either.
      if (clock.now() - landsBy(row, reply) < GIVE_UP_AFTER_MS) {
        store(context, entry, { retryAt: clock.now() + backoffMs(inquiry.failures, random()) });
        return undefined;
      }
      break;
    case "missing":
    case "unchanged":
    case "rejected":
    case "misconfigured":
      break;
    default:
      failure satisfies never;
  }
  if (inquiry.isLook) return row.retryAt;
  leaveOpen(context, reply, entry, "probing-failed");
  return undefined;
}

/**
 * Other threads of the chat go on while ids are asked about: whether a message may still be the lost one. Nothing when
 * the root cannot be asked.
 */
async function isStillUnseen(
  context: DeliveryContext,
  reply: Reply,
  probing: Probing,
  { row, inquiry }: OutboxEntry,
  id: number,
): Promise<boolean | undefined> {
  const range = { afterId: id - 1, beforeId: id + 1, sinceAt: rangeOf(row).sinceAt };
  const outcome = await callWithin(context.deps.clock, BUDGET_TIMEOUT_MS, () =>
    context.budget.unseen(reply.record.address, probing, range),
  );
  if (outcome.kind !== "done") return undefined;
  if (inquiry !== undefined && outcome.value.isShared) inquiry.isShared = true;
  return outcome.value.ids.includes(id);
}

/** How many messages there may be without an answer: one for each post, save the one that is known. */
function mostOf({ state, attempts }: OutboxRow): number {
  return state === "sent" ? attempts - 1 : attempts;
}

/** A post that began anew while an earlier one had not been found may have either message. */
function rangeOf(row: OutboxRow): IdRange {
  const { state, afterId = 0, probedTo, messageId, begunAt = 0, doubtedAt } = row;
  const sinceAt = Math.min(begunAt, doubtedAt ?? begunAt);
  if (isGapQuestion(row)) return { afterId: probedTo ?? 0, beforeId: Number(messageId), sinceAt };
  if (state === "sent") return { afterId: Number(messageId), sinceAt };
  return { afterId: Math.min(afterId, probedTo ?? afterId), sinceAt };
}

/** Leaves out the messages that a reply of this thread shows already. */
function withoutOwned(
  context: DeliveryContext,
  probing: Probing,
  reply: Reply,
  { ids }: UnseenIds,
): readonly number[] {
  const box = probing.box(reply.record.address);
  const owned = new Set(
    context.outbox
      .owners(ids.map(String))
      .filter(({ address }) => probing.box(address) === box)
      .map(({ messageId }) => Number(messageId)),
  );
  return ids.filter((id) => !owned.has(id));
}

function conclude(context: DeliveryContext, reply: Reply, surface: Surface, entry: OutboxEntry): void {
  const { inquiry, row } = entry;
  if (inquiry === undefined) return;
  const { hits } = inquiry;
  const { address } = reply.record;
  if (hits.length === 0) {
    if (row.state === "sent") closeQuestion(context, entry, isGapQuestion(row));
    else postAnew(context, reply, entry, inquiry.ids.at(-1) ?? rangeOf(row).afterId);
  } else if (hits.length > mostOf(row)) {
    leaveOpen(context, reply, entry, "several-messages");
  } else if (inquiry.isShared && !isOnlyThread(address)) {
    leaveOpen(context, reply, entry, "chat-shared");
  } else {
    for (const hit of hits) context.budget.sent(address, surface, String(hit));
    context.database.transaction(() => adopt(context, reply, entry, hits.map(String)));
  }
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
    replyId: row.replyId,
    part: row.part,
    attempts: row.attempts,
  });
  reply.isDirty = true;
  if (row.state === "sent") {
    const isGap = isGapQuestion(row);
    if (isGap) keepEarlier(context, entry, messageId);
    else addDuplicate(context, row.replyId, messageId);
    closeQuestion(context, entry, isGap);
    return;
  }
  // Not all ids were asked about: another post of the row may have been made too.
  const isRestOpen = inquiry?.isLook === true && row.attempts > 1;
  const now = context.deps.clock.now();
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
    doubtedAt: row.lateUntil === undefined && !isRestOpen ? undefined : (row.doubtedAt ?? row.begunAt),
    lateUntil: isRestOpen ? Math.max(now, row.lateUntil ?? 0) : row.lateUntil,
  });
  entry.shownHash = undefined;
  entry.inquiry = undefined;
}

function postAnew(context: DeliveryContext, reply: Reply, entry: OutboxEntry, probedTo: number): void {
  const { row } = entry;
  const landsUntil = landsBy(row, reply);
  const isEarly = landsUntil > context.deps.clock.now();
  const failingSince = row.failingSince ?? row.begunAt;
  entry.inquiry = undefined;
  if (context.deps.clock.now() - (failingSince ?? Infinity) > GIVE_UP_AFTER_MS) {
    store(context, entry, { state: nextState(row.state, "failed"), retryAt: undefined, inquiry: undefined });
    return;
  }
  context.log.info("delivery.lost-post-not-made", { replyId: row.replyId, part: row.part });
  store(context, entry, {
    state: nextState(row.state, "refused"),
    doubts: Math.max(0, row.doubts - 1),
    failingSince,
    retryAt: undefined,
    inquiry: undefined,
    // What lands from now on may take an id that was asked about.
    probedTo: isEarly ? rangeOf(row).afterId : probedTo,
    doubtedAt: row.doubtedAt ?? row.begunAt,
    lateUntil: isEarly ? landsUntil : row.lateUntil,
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
function leaveOpen(context: DeliveryContext, reply: Reply, entry: OutboxEntry, code: string): void {
  const { row } = entry;
  context.log.warn("delivery.lost-post-unresolved", { replyId: row.replyId, part: row.part, code });
  reply.isDirty = true;
  if (row.state === "unknown") {
    entry.inquiry = undefined;
    store(context, entry, { isAmbiguous: true, retryAt: undefined, inquiry: undefined });
    return;
  }
  closeQuestion(context, entry, isGapQuestion(row));
  if ((reply.record.policy.onUnknown ?? "resend-marked") !== "resend-marked") return;
  store(context, entry, { isMarked: true, shownHash: undefined });
  entry.shownHash = undefined;
}
