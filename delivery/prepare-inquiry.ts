import type { OtherOwners } from "../src/core/budget.ts";
import { errorCode } from "../src/core/errors.ts";
import type { Surface } from "../src/core/surface.ts";
import { conclude } from "./conclude-inquiry.ts";
import { BUDGET_TIMEOUT_MS, replyFields } from "./delivery-context.ts";
import type { DeliveryContext } from "./delivery-context.ts";
import { rangeOf } from "./inquiry-range.ts";
import { landsBy } from "./landing.ts";
import { store } from "./outbox-change.ts";
import type { Inquiry, OutboxEntry } from "./outbox-entry.ts";
import type { Reply } from "./reply.ts";
import { unseenIds } from "./unseen-ids.ts";

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
 * - More are, too many ids were unseen and the first of them are none of the bot's own, another thread of the chat may
 *   own one and cannot be asked, or the platform refuses to say: `onUnknown` of the policy decides.
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
  const outcome = await unseenIds(context, address, probing, rangeOf(row));
  if (entry.row !== row) return undefined;
  const isLook = isLookDue(entry, context.deps.clock.now());
  entry.isLookDue = false;
  if (outcome.kind !== "done") {
    const code = outcome.kind === "failed" ? errorCode(outcome.error) : outcome.kind;
    context.log.warn("delivery.budget-unreachable", { ...replyFields(reply), code });
    if (isLook) return row.retryAt;
    store(context, entry, { retryAt: context.deps.clock.now() + BUDGET_TIMEOUT_MS });
    return undefined;
  }
  const { ids, isTooLong, others } = outcome.value;
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

export function keepProgress(context: DeliveryContext, entry: OutboxEntry, inquiry: Inquiry): void {
  if (inquiry.isLook) return;
  const { ids, others, isEarly, isPartial, asked, hits } = inquiry;
  const stored = { ids, others, isEarly, isPartial, asked, hits: [...hits] };
  store(context, entry, { inquiry: stored, retryAt: undefined });
}
