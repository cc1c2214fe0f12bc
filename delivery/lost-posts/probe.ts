import type { OutgoingContent, Surface } from "../../src/core/chat/surface.ts";
import { callWithin } from "../calls/call-within.ts";
import { keepLatePenalty } from "../calls/keep-late-penalty.ts";
import { failureOf } from "../calls/delivery-context.ts";
import { callTimeoutMs, landsBy } from "../outbox/reply-timing.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { store } from "../outbox/outbox-change.ts";
import type { OutboxEntry, Probe } from "../outbox/outbox-entry.ts";
import type { Reply } from "../outbox/reply.ts";
import { adopt, albumIds, leaveUnresolved, postAgain } from "./conclude-search.ts";
import { penalized, searchFailed } from "./search-failed.ts";
import { nextDoubt } from "../outbox/doubt.ts";
import { OWN_TAIL } from "./next-probe.ts";

/** Time limit of a question. It is shorter than that of a post, because asking again does no harm. */
const PROBE_TIMEOUT_MS = 3_000;
/** A box ends where this many ids in a row have no message. A single one may have been deleted. */
const ENDS_BOX = 2;

/**
 * Asks the platform about one id. `intended` is the text that the lost message should show. Returns the time (epoch
 * milliseconds) before which nothing may be sent to the address, if there is one.
 */
export async function probe(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  intended: OutgoingContent | undefined,
): Promise<number | undefined> {
  const { row, probe: chosen } = entry;
  const { probing } = surface;
  if (probing === undefined || chosen === undefined) return undefined;
  const { address, policy } = reply.record;
  // The text is only sent if the message can only be the lost one. It must not overwrite another conversation's
  // message.
  const safe = chosen.claim === "certain" ? intended : undefined;
  const timeoutMs = Math.min(PROBE_TIMEOUT_MS, callTimeoutMs(policy, surface));
  const outcome = await callWithin(context.deps.clock, timeoutMs, async (signal) =>
    probing.probe(address, String(chosen.id), { signal, intended: safe, buttons: intended?.buttons }),
  );
  keepLatePenalty(context, surface, address, outcome);
  const isVoid = entry.row !== row || entry.probe !== chosen;
  if (outcome.kind === "done") {
    if (isVoid) return undefined;
    entry.probe = undefined;
    if (outcome.value !== "own") goOn(context, reply, surface, entry, chosen, outcome.value === "none");
    else if (chosen.claim === "certain") adoptFound(context, reply, surface, entry, String(chosen.id));
    else leaveUnresolved(context, reply, surface, entry, "chat-shared");
    return undefined;
  }
  const failure = failureOf(surface, outcome);
  if (failure.kind === "unknown") {
    // A lost question may still take effect, and put this text or these buttons over newer ones.
    entry.strayEdit = { hash: undefined, until: landsBy(policy, surface, context.deps.clock.now()) };
  }
  if (!isVoid) {
    // The lost question may still take effect. Until then no message may get its id, and lose its buttons to it.
    const mayHitLater = failure.kind === "unknown" && chosen.id > chosen.newestId;
    const strayUntil = mayHitLater ? landsBy(policy, surface, context.deps.clock.now()) : 0;
    return searchFailed(context, reply, surface, entry, { isLook: chosen.isLook, strayUntil }, failure);
  }
  // The late answer has arrived in the meantime. A penalty still counts.
  return penalized(context, reply, failure);
}

/** Continues the search after an id that is not the lost message. */
function goOn(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  { id, isLook, newestId }: Probe,
  isNone: boolean,
): void {
  const { doubt } = entry.row;
  if (isLook || doubt?.kind !== "searching") return;
  entry.nonesInRow = isNone && id > newestId ? (entry.nonesInRow ?? 0) + 1 : 0;
  if (entry.nonesInRow === ENDS_BOX) {
    postAgain(context, reply, surface, entry);
    return;
  }
  const isOwnBox = surface.probing?.box(reply.record.address) === reply.record.address.chatId;
  // In a box of a single chat this is a message that the bot was not told of, so the box continues after it.
  const beforeId = isOwnBox && !isNone ? Math.max(doubt.beforeId, id + OWN_TAIL + 1) : doubt.beforeId;
  const asked = [...doubt.asked, id];
  store(context, entry, {
    doubt: nextDoubt(doubt, "asked", { ...doubt, asked, beforeId }),
    retryAt: undefined,
  });
}

function adoptFound(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  messageId: string,
): void {
  adopt(context, reply, surface, entry, messageId, albumIds(reply, surface, entry, messageId));
}
