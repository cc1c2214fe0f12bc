import type { UnclaimedIds } from "../../src/core/chat/gate.ts";
import { errorCode } from "../../src/core/base/errors.ts";
import type { Address, Surface } from "../../src/core/chat/surface.ts";
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
import type { Searchable, Searching } from "../outbox/doubt.ts";

/*
 * Chooses the next message id to check in the search for a lost post (I6). `probe.ts` checks it, and
 * `conclude-search.ts` ends the search.
 *
 * The ids of a box are consecutive, and a bot can edit only its own messages. So the search checks the ids after the
 * newest one that was known when the post began, one call each. It skips ids with a known owner: incoming messages, and
 * messages that this or another conversation has sent.
 *
 * 1. The conversation holds the right to post while its post is in doubt. So at most one message of the chat is
 *    unclaimed, and if a message of the bot is found, it is the lost one. If this is not certain, the search concludes
 *    nothing.
 * 2. The likeliest id is checked at once. Most lost posts were made, and then the reply continues immediately.
 * 3. Otherwise nothing is posted until the post cannot land any more. Then one search decides: the message is found and
 *    adopted, or it was not made and is posted again, without a mark.
 * 4. If the search cannot tell, the policy decides (`onUnknown`).
 * 5. "Not there" counts only for a complete range. It ends at a newer message (`endId`), or where no message of the bot
 *    can be (`postedUpTo`), even if the root was killed in the middle of many posts.
 * 6. The progress of a search is stored, so it ends even if the process is killed again and again.
 *
 * The search is a heuristic. If another program sends a message with the same token into the same chat at the same
 * time, without any update to this one, that message would be taken for the lost one.
 */

/**
 * Number of ids that a search checks above the highest one that the bot's own messages can have. In a shared box the bot
 * is not told of all messages. In a box of a single chat the search sees where the box ends.
 */
const SHARED_TAIL = 6;
export const OWN_TAIL = 4;
/** Most ids that one search checks. A group has a budget of twenty calls a minute. */
const MOST_ASKED = 60;
const MOST_ASKED_IN_GROUP = 15;
/** Wait while another conversation is posting. Its message will be known soon. */
const BUSY_MS = 1_000;

/** Chooses the next id to check. Makes no call to the platform. */
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
  const outcome = await unclaimedIds(context, address, surface, doubt);
  if (entry.row !== row) return;
  if (outcome.kind !== "done") {
    const code = outcome.kind === "failed" ? errorCode(outcome.error) : outcome.kind;
    context.log.warn("delivery.gate-unreachable", { ...replyFields(reply), code });
    if (!isLook) store(context, entry, { retryAt: clock.now() + GATE_TIMEOUT_MS });
    return;
  }
  const { ids, newestId, postedUpTo, searches, claim, endId } = outcome.value;
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
  const endOfShared = endId ?? postedUpTo + searches + SHARED_TAIL + 1;
  const end = isShared ? endOfShared : newestId + OWN_TAIL + 1;
  const { afterId, landsBy } = doubt;
  const searching: Searching =
    doubt.kind === "landing"
      ? { kind: "searching", afterId, beforeId: end, asked: [], landsBy }
      : { ...doubt, beforeId: endId ?? (isShared ? Math.max(doubt.beforeId, end) : doubt.beforeId) };
  const id = ids.find((one) => one < searching.beforeId && !searching.asked.includes(one));
  const most = address.isDirectMessage ? MOST_ASKED : MOST_ASKED_IN_GROUP;
  if (doubt.kind === "landing") {
    store(context, entry, { doubt: nextDoubt(doubt, "settled", searching), retryAt: undefined });
  }
  if (id === undefined) postAgain(context, reply, surface, entry);
  else if (searching.asked.length >= most) leaveUnresolved(context, reply, surface, entry, "range-too-long");
  else entry.probe = { id, isLook, claim, newestId };
}

/** Tells whether the likeliest id may be checked while the post may still land. */
export function isLookDue({ isLookDue = false, probe, row }: OutboxEntry, now: number): boolean {
  if (probe !== undefined) return probe.isLook;
  return isLookDue && row.doubt?.kind === "landing" && row.doubt.landsBy > now;
}

/**
 * Returns the unclaimed ids without those that this conversation owns. It may have posted since, and a restarted gate
 * knows less.
 */
async function unclaimedIds(
  { budget, deps, outbox }: DeliveryContext,
  address: Address,
  { probing }: Surface,
  search: Searchable,
): Promise<CallOutcome<UnclaimedIds>> {
  if (probing === undefined) throw new TypeError("The surface has no message ids.");
  const outcome = await callWithin(deps.clock, GATE_TIMEOUT_MS, () =>
    budget.unclaimed(address, probing, search),
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
