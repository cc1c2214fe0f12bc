import type { OtherOwners, UnseenIds } from "../src/core/budget.ts";
import { errorCode } from "../src/core/errors.ts";
import type { OutgoingContent, Probing, Surface } from "../src/core/surface.ts";
import { backoffMs, GIVE_UP_AFTER_MS } from "./call-policy.ts";
import { callWithin } from "./call-within.ts";
import { conclude, isCertain, leaveOpen, POSTING_MS } from "./conclude-inquiry.ts";
import {
  BUDGET_TIMEOUT_MS,
  callTimeoutMs,
  classify,
  logFailure,
  penalize,
  TIMED_OUT,
} from "./delivery-context.ts";
import type { DeliveryContext } from "./delivery-context.ts";
import { rangeOf } from "./inquiry-range.ts";
import { isOnlyThread, LANDS_LATE_MS, landsBy } from "./landing.ts";
import { isGapQuestion } from "./open-question.ts";
import { store } from "./outbox-change.ts";
import type { Inquiry, OutboxEntry } from "./outbox-entry.ts";
import type { Reply } from "./reply.ts";

/*
 * How a post whose answer was lost is found again (I6). The ids of a box grow by one, and a bot can edit only its own
 * messages. So the ids after the newest one that was known when the post began are asked about, one call each, except
 * those that somebody has seen: incoming messages, and what this thread or another one has sent.
 *
 * - Where nobody else speaks for the bot, or the others are known, the first of them is looked at right away: most
 *   lost posts were made, and then the reply goes on at once. All of them are asked about when the post has settled.
 * - In a box of one chat the search ends with the first id that nothing has, behind all that is known. Was that a
 *   message that is deleted already, then the id of the message that is made anew tells that there was more.
 * - One is the bot's own: it is the lost message. It is adopted, and edited to what it should say.
 * - None is: the post did not happen, and is made anew, without a mark. The id of the new message then tells how far
 *   the box had really come: unseen ids between the last one asked about and that one are asked about too. A message
 *   found there is the lost one after all; it stays, and the newer one is taken away.
 *   Where the post was made more than once without an answer, there may be as many messages: the first stays.
 * - It was made anew before its time limit was over: when that has passed, the ids after the new message are asked
 *   about. What landed there is taken away.
 * - Some are, and another thread of the chat looks for a message of its own, too, or several messages of this thread
 *   were lost: nobody knows which they are, so they are taken away, and what is then not found is posted anew.
 * - More are, too many ids were unseen and the first of them are none of the bot's own, another thread of the chat may own one and cannot be asked, or the platform
 *   refuses to say: `onUnknown` of the policy decides.
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
  const { isTooLong } = outcome.value;
  const others = isOnlyThread(address) ? "none" : outcome.value.others;
  const ids = withoutOwned(context, probing, reply, outcome.value);
  if (isLook) {
    const [first] = ids;
    // Where another thread may have posted it, a look would tell nothing.
    if (first === undefined || others === "posting" || others === "unknown") return row.retryAt;
    entry.inquiry = { ...newInquiry([first], others, true), isLook: true };
    return undefined;
  }
  if (isTooLong) {
    const { newsWaits = 0 } = entry;
    if (newsWaits < MOST_NEWS_WAITS) {
      entry.newsWaits = newsWaits + 1;
      awaitNews(context, reply, entry);
      return undefined;
    }
  }
  entry.newsWaits = 0;
  const isEarly = context.deps.clock.now() < landsBy(row, reply);
  // A lost message is likelier near the beginning of a long range than anywhere else.
  entry.inquiry = { ...newInquiry(ids, others, isEarly), isPartial: isTooLong };
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

function newInquiry(ids: readonly number[], others: OtherOwners, isEarly: boolean): Inquiry {
  return { ids, others, isEarly, isPartial: false, asked: 0, hits: [], failures: 0, isLook: false };
}

/** Whether this id and all that follow are only asked about in case that more had come than anybody has seen. */
function isBehindNewest({ ids, asked }: Inquiry, id: number): boolean {
  return (ids.at(-1) ?? id) - id === ids.length - asked;
}

function keepProgress(context: DeliveryContext, entry: OutboxEntry, inquiry: Inquiry): void {
  if (inquiry.isLook) return;
  const { ids, others, isEarly, isPartial, asked, hits } = inquiry;
  const stored = { ids, others, isEarly, isPartial, asked, hits: [...hits] };
  store(context, entry, { inquiry: stored, retryAt: undefined });
}

/**
 * Asks about the next id; `intended` is what the lost message should say. Returns until when nothing may go to the
 * address, if there is a reason.
 */
export async function probeNext(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  intended: OutgoingContent | undefined,
): Promise<number | undefined> {
  const { inquiry, row } = entry;
  const { probing } = surface;
  const id = inquiry?.ids[inquiry.asked];
  if (probing === undefined || inquiry === undefined || id === undefined) return undefined;
  const { address, policy } = reply.record;
  const { clock, random } = context.deps;
  // What may be another thread's message is not made to say this.
  const safe = inquiry.others === "none" ? intended : undefined;
  const outcome = await callWithin(clock, callTimeoutMs(policy), async (signal) =>
    probing.probe(address, String(id), { signal, intended: safe }),
  );
  const failure =
    outcome.kind === "done"
      ? undefined
      : outcome.kind === "timed-out"
        ? TIMED_OUT
        : classify(surface, outcome.error);
  if (entry.row !== row || entry.inquiry !== inquiry) {
    // The lost answer came meanwhile, or the message has become another reply's. A penalty is one all the same.
    if (failure?.kind !== "retry-after") return undefined;
    const until = clock.now() + failure.retryAfterMs;
    await penalize(context, address, failure.retryAfterMs);
    return until;
  }
  if (outcome.kind === "done") {
    if (outcome.value === "own") {
      const found = await stillUnseen(context, reply, probing, entry, id);
      if (entry.row !== row || entry.inquiry !== inquiry) return undefined;
      if (found === undefined) {
        store(context, entry, { retryAt: clock.now() + BUDGET_TIMEOUT_MS });
        return undefined;
      }
      if (found.isUnseen) {
        // It may be the one that is being posted: whose it is will be known in a moment.
        if (found.others === "posting" && clock.now() < landsBy(row, reply)) {
          store(context, entry, { retryAt: clock.now() + POSTING_MS });
          return undefined;
        }
        inquiry.others = found.others;
        inquiry.hits.push(id);
      }
    }
    inquiry.asked += 1;
    const isEnd = outcome.value === "none" && !isGapQuestion(row) && isBehindNewest(inquiry, id);
    if (isEnd) inquiry.ids = inquiry.ids.slice(0, inquiry.asked);
    if (inquiry.isLook && (inquiry.hits.length === 0 || !isCertain(inquiry))) {
      entry.inquiry = undefined;
      // What the others of the chat have sent is known, it turns out: what lands late is found and taken away.
      const settlesAt = Math.min(row.retryAt ?? Infinity, clock.now() + LANDS_LATE_MS);
      if (isCertain(inquiry)) store(context, entry, { retryAt: settlesAt });
      // What follows waits too, so that a message that lands late still stands before it.
      return entry.row.retryAt;
    }
    if (inquiry.asked === inquiry.ids.length) {
      // What was found some calls ago may have found its owner since.
      const isFresh = inquiry.hits.every((hit) => hit === id);
      const hits = isFresh ? inquiry.hits : await unseenAmong(context, reply, probing, entry);
      if (entry.row !== row || entry.inquiry !== inquiry) return undefined;
      if (hits === undefined) {
        store(context, entry, { retryAt: clock.now() + BUDGET_TIMEOUT_MS });
        return undefined;
      }
      entry.inquiry = { ...inquiry, hits };
      conclude(context, reply, surface, entry);
    } else {
      keepProgress(context, entry, inquiry);
    }
    return undefined;
  }
  if (failure === undefined) return undefined;
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
    case "misconfigured":
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
async function stillUnseen(
  context: DeliveryContext,
  reply: Reply,
  probing: Probing,
  entry: OutboxEntry,
  id: number,
): Promise<{ readonly isUnseen: boolean; readonly others: OtherOwners } | undefined> {
  const found = await unseenFrom(context, reply, probing, entry, id, id);
  return found && { isUnseen: found.ids.includes(id), others: found.others };
}

/** Those of the messages that were found that nobody has claimed since. */
async function unseenAmong(
  context: DeliveryContext,
  reply: Reply,
  probing: Probing,
  entry: OutboxEntry,
): Promise<number[] | undefined> {
  const hits = entry.inquiry?.hits ?? [];
  const [first = 0] = hits;
  const found = await unseenFrom(context, reply, probing, entry, first, hits.at(-1) ?? first);
  return found && hits.filter((id) => found.ids.includes(id));
}

async function unseenFrom(
  context: DeliveryContext,
  reply: Reply,
  probing: Probing,
  { row }: OutboxEntry,
  first: number,
  last: number,
): Promise<Pick<UnseenIds, "ids" | "others"> | undefined> {
  const { address } = reply.record;
  const range = { afterId: first - 1, beforeId: last + 1, sinceAt: rangeOf(row).sinceAt };
  const outcome = await callWithin(context.deps.clock, BUDGET_TIMEOUT_MS, () =>
    context.budget.unseen(address, probing, range),
  );
  if (outcome.kind !== "done") return undefined;
  const { others } = outcome.value;
  // This thread may have posted since the search began, and the root may have forgotten what it was told.
  const ids = withoutOwned(context, probing, reply, outcome.value);
  return { ids, others: isOnlyThread(address) ? "none" : others };
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
