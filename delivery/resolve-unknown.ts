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
import { addDuplicate, keepEarlier } from "./late-post.ts";
import { store } from "./outbox-change.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import { nextState } from "./outbox-state.ts";
import type { OutboxRow } from "./outbox-store.ts";
import type { Reply } from "./reply.ts";

/*
 * How a post whose answer was lost is found again (I6). The ids of a box grow by one, and a bot can edit only its own
 * messages. So the ids after the newest one that was known when the post began are asked about, one call each, except
 * those that somebody has seen: incoming messages, and what this thread or another one has sent.
 *
 * - One is the bot's own: it is the lost message. It is adopted, and edited to what it should say.
 * - None is: the post did not happen, and is made anew, without a mark. The id of the new message then tells how far
 *   the box had really come: unseen ids between the last one asked about and that one are asked about too. A message
 *   found there is the lost one after all; it stays, and the newer one is taken away.
 *   Where the post was made more than once without an answer, there may be as many messages: the first stays.
 * - More are, too many ids were unseen, another thread of the chat may own one, or the platform refuses to
 *   say: `onUnknown` of the policy decides.
 *
 * It is a heuristic: what another program sends with the same token, in the same chat, at the same time, without any
 * update to this one, would be taken for the lost message. Nothing here is stored but the conclusion: after a crash the
 * ids are asked about again.
 */

/** A post may land this much after its time limit. */
export const LANDS_LATE_MS = 2_000;
/** What came and what others sent may be told to the root late, on a busy machine: a long range is looked at again. */
const NEWS_LATE_MS = 8_000;

/** Epoch milliseconds after which a lost post of the row cannot land any more. */
export function landsBy(row: OutboxRow, reply: Reply): number {
  return (row.begunAt ?? 0) + callTimeoutMs(reply.record.policy) + LANDS_LATE_MS;
}

/** Finds out which ids to ask about. Costs no call to the platform. */
export async function prepareInquiry(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
): Promise<void> {
  const { row } = entry;
  const { probing } = surface;
  if (probing === undefined) return;
  const { address } = reply.record;
  const outcome = await callWithin(context.deps.clock, BUDGET_TIMEOUT_MS, () =>
    context.budget.unseen(address, probing, rangeOf(row)),
  );
  if (entry.row !== row) return;
  if (outcome.kind !== "done") {
    const code = outcome.kind === "failed" ? errorCode(outcome.error) : outcome.kind;
    context.log.warn("delivery.budget-unreachable", { code });
    store(context, entry, { retryAt: context.deps.clock.now() + BUDGET_TIMEOUT_MS });
    return;
  }
  const { isTooLong, isShared } = outcome.value;
  if (isTooLong) {
    const { clock } = context.deps;
    if (row.state === "unknown" && clock.now() < landsBy(row, reply) + NEWS_LATE_MS) {
      store(context, entry, { retryAt: clock.now() + NEWS_LATE_MS / 2 });
      return;
    }
    leaveOpen(context, reply, entry, "range-too-long");
    return;
  }
  const ids = withoutOwned(context, probing, reply, outcome.value);
  entry.inquiry = { ids, isShared, asked: 0, hits: [], failures: 0 };
  if (ids.length === 0) conclude(context, reply, surface, entry);
}

/** Asks about the next id. Returns until when nothing may go to the address, if that was said. */
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
    if (inquiry.asked === inquiry.ids.length || inquiry.hits.length > mostOf(row)) {
      conclude(context, reply, surface, entry);
    }
    return undefined;
  }
  const failure = outcome.kind === "timed-out" ? TIMED_OUT : classify(surface, outcome.error);
  inquiry.failures += 1;
  const attempts = inquiry.failures;
  logFailure(context, { method: "probe", address, replyId: row.replyId, part: row.part, attempts }, failure);
  switch (failure.kind) {
    case "retry-after": {
      const until = clock.now() + failure.retryAfterMs;
      store(context, entry, { retryAt: until });
      await penalize(context, address, failure.retryAfterMs);
      return until;
    }
    case "gone":
      context.endChat(address, failure.code);
      return undefined;
    case "transient":
    case "unknown":
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
function rangeOf({ state, afterId = 0, probedTo, messageId, begunAt = 0, doubtedAt }: OutboxRow): IdRange {
  const sinceAt = Math.min(begunAt, doubtedAt ?? begunAt);
  if (state === "sent") return { afterId: probedTo ?? 0, beforeId: Number(messageId), sinceAt };
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
  // In a private chat without topics nobody else speaks for the bot.
  const isOnlyThread = address.isDirectMessage && address.topicId === undefined;
  if (hits.length === 0) {
    if (row.state === "sent") closeQuestion(context, entry);
    else postAnew(context, reply, entry, inquiry.ids.at(-1) ?? rangeOf(row).afterId);
  } else if (hits.length > mostOf(row)) {
    leaveOpen(context, reply, entry, "several-messages");
  } else if (inquiry.isShared && !isOnlyThread) {
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
  const { row } = entry;
  if (messageId === undefined) return;
  for (const other of repeated) addDuplicate(context, row.replyId, other);
  context.log.info("delivery.lost-post-found", {
    replyId: row.replyId,
    part: row.part,
    attempts: row.attempts,
  });
  if (row.state === "sent") {
    keepEarlier(context, entry, messageId);
    closeQuestion(context, entry);
    return;
  }
  store(context, entry, {
    state: nextState(row.state, "posted"),
    messageId,
    shownHash: undefined,
    doubts: Math.max(0, row.doubts - 1),
    sentAt: context.deps.clock.now(),
    code: undefined,
    retryAt: undefined,
    failingSince: undefined,
    // Whatever there was to find between the two posts, this was it.
    probedTo: undefined,
    doubtedAt: undefined,
  });
  entry.shownHash = undefined;
  entry.inquiry = undefined;
  reply.isDirty = true;
}

function postAnew(context: DeliveryContext, reply: Reply, entry: OutboxEntry, probedTo: number): void {
  const { row } = entry;
  const failingSince = row.failingSince ?? row.begunAt;
  entry.inquiry = undefined;
  if (context.deps.clock.now() - (failingSince ?? Infinity) > GIVE_UP_AFTER_MS) {
    store(context, entry, { state: nextState(row.state, "failed"), retryAt: undefined });
    return;
  }
  context.log.info("delivery.lost-post-not-made", { replyId: row.replyId, part: row.part });
  store(context, entry, {
    state: nextState(row.state, "refused"),
    doubts: Math.max(0, row.doubts - 1),
    failingSince,
    retryAt: undefined,
    probedTo,
    doubtedAt: row.doubtedAt ?? row.begunAt,
  });
  reply.isDirty = true;
}

function closeQuestion(context: DeliveryContext, entry: OutboxEntry): void {
  entry.inquiry = undefined;
  store(context, entry, { probedTo: undefined, doubtedAt: undefined, retryAt: undefined });
}

/** Probing cannot tell: a lost post is left to the policy; a message that may be a repetition says so. */
function leaveOpen(context: DeliveryContext, reply: Reply, entry: OutboxEntry, code: string): void {
  const { row } = entry;
  entry.inquiry = undefined;
  context.log.warn("delivery.lost-post-unresolved", { replyId: row.replyId, part: row.part, code });
  reply.isDirty = true;
  if (row.state === "unknown") {
    store(context, entry, { isAmbiguous: true, retryAt: undefined });
    return;
  }
  closeQuestion(context, entry);
  if ((reply.record.policy.onUnknown ?? "resend-marked") !== "resend-marked") return;
  store(context, entry, { isMarked: true, shownHash: undefined });
  entry.shownHash = undefined;
}
