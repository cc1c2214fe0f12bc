import type { UnclaimedIds } from "../../src/core/gate.ts";
import { errorCode } from "../../src/core/errors.ts";
import type { Address, Surface } from "../../src/core/surface.ts";
import { callWithin } from "../calls/call-within.ts";
import type { CallOutcome } from "../calls/call-within.ts";
import { GATE_TIMEOUT_MS } from "../calls/delivery-context.ts";
import { replyFields } from "../outbox/reply-fields.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { store } from "../outbox/outbox-change.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { Reply } from "../outbox/reply.ts";
import { leaveUnresolved, postAgain } from "./conclude-search.ts";
import { isSearchable, nextDoubt } from "../outbox/doubt.ts";
import type { Searching } from "../outbox/doubt.ts";

/*
 * How a post whose answer was lost is found again (I6). The ids of a box grow by one, and a bot can edit only its own
 * messages. So ids after the newest one that was known when the post began are asked about, one call each, except those
 * that are somebody's already: incoming messages, and what this conversation or another one has sent.
 *
 * 1. The right to post is held while a post is in doubt. So at most one message of the chat is unclaimed, and a message
 *    of the bot that is found is the lost one. Where that is not certain, nothing is concluded.
 * 2. The likeliest id is looked at right away: most lost posts were made, and then the reply goes on at once.
 * 3. Otherwise nothing is posted until the post cannot land any more. Then one search decides: the message is found and
 *    adopted, or it was not made and is posted again, without a mark.
 * 4. When a search cannot tell, the policy decides (`onUnknown`).
 * 5. How far a search has come is stored: a process that is killed again and again comes to its end all the same.
 *
 * It is a heuristic: a message that another program sends with the same token into the same chat at the same time,
 * without any update to this one, would be taken for the lost message.
 */

/**
 * Ids after the newest one that is known. Groups have messages of which a bot is not told; in a box of its own a search
 * sees where the box ends.
 */
const SHARED_TAIL = 6;
export const OWN_TAIL = 4;
/** Most ids that one search asks about. A group has twenty calls a minute. */
const MOST_ASKED = 60;
const MOST_ASKED_IN_GROUP = 15;
/** Another conversation posts at this moment: what it posts will be known soon. */
const BUSY_MS = 1_000;

/** Chooses the next id to ask about. Costs no call to the platform. */
export async function chooseProbe(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
): Promise<void> {
  const { row } = entry;
  const { probing } = surface;
  const { doubt } = row;
  if (probing === undefined || !isSearchable(doubt)) return;
  const { address } = reply.record;
  const { clock } = context.deps;
  const isLook = isLookDue(entry, clock.now());
  entry.isLookDue = false;
  const outcome = await unclaimedIds(context, address, surface, doubt.afterId);
  if (entry.row !== row) return;
  if (outcome.kind !== "done") {
    const code = outcome.kind === "failed" ? errorCode(outcome.error) : outcome.kind;
    context.log.warn("delivery.gate-unreachable", { ...replyFields(reply), code });
    if (!isLook) store(context, entry, { retryAt: clock.now() + GATE_TIMEOUT_MS });
    return;
  }
  const { ids, newestId, searches, claim } = outcome.value;
  if (isLook) {
    const [id] = ids;
    if (id !== undefined && claim === "certain") entry.probe = { id, isLook, claim, newestId };
    return;
  }
  if (claim === "busy") {
    store(context, entry, { retryAt: clock.now() + BUSY_MS });
    return;
  }
  const isShared = probing.box(address) !== address.chatId;
  const tail = isShared ? SHARED_TAIL : OWN_TAIL;
  const searching: Searching =
    doubt.kind === "searching"
      ? doubt
      : {
          kind: "searching",
          afterId: doubt.afterId,
          beforeId: newestId + (isShared ? searches : 0) + tail + 1,
          asked: [],
        };
  const id = ids.find((one) => one < searching.beforeId && !searching.asked.includes(one));
  const most = address.isDirectMessage ? MOST_ASKED : MOST_ASKED_IN_GROUP;
  if (doubt.kind === "landing") {
    store(context, entry, { doubt: nextDoubt(doubt, "settled", searching), retryAt: undefined });
  }
  if (id === undefined) postAgain(context, reply, surface, entry);
  else if (searching.asked.length >= most) leaveUnresolved(context, reply, surface, entry, "range-too-long");
  else entry.probe = { id, isLook, claim, newestId };
}

/** Whether the likeliest id may be looked at before the post has settled. */
export function isLookDue({ isLookDue = false, probe, row }: OutboxEntry, now: number): boolean {
  if (probe !== undefined) return probe.isLook;
  return isLookDue && row.doubt?.kind === "landing" && row.doubt.landsBy > now;
}

/** Leaves out what this conversation owns itself: it may have posted since, and a gate that was restarted knows less. */
async function unclaimedIds(
  { budget, deps, outbox }: DeliveryContext,
  address: Address,
  { probing }: Surface,
  afterId: number,
): Promise<CallOutcome<UnclaimedIds>> {
  if (probing === undefined) throw new TypeError("The surface has no message ids.");
  const outcome = await callWithin(deps.clock, GATE_TIMEOUT_MS, () =>
    budget.unclaimed(address, probing, afterId),
  );
  if (outcome.kind !== "done") return outcome;
  const box = probing.box(address);
  const owned = new Set(
    outbox
      .owners(outcome.value.ids.map(String))
      .filter((owner) => probing.box(owner.address) === box)
      .map(({ messageId }) => Number(messageId)),
  );
  return { kind: "done", value: { ...outcome.value, ids: outcome.value.ids.filter((id) => !owned.has(id)) } };
}
