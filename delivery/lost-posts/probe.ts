import type { CallFailure, OutgoingContent, Surface } from "../../src/core/surface.ts";
import { backoffMs, CALL_RULES, GIVE_UP_AFTER_MS } from "../calls/call-policy.ts";
import { callWithin } from "../calls/call-within.ts";
import { failureOf, logFailure, penalize } from "../calls/delivery-context.ts";
import { callTimeoutMs } from "../outbox/reply-timing.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { store } from "../outbox/outbox-change.ts";
import type { OutboxEntry, Probe } from "../outbox/outbox-entry.ts";
import type { Reply } from "../outbox/reply.ts";
import { adopt, leaveUnresolved, postAgain } from "./conclude-search.ts";
import { isSearchable, nextDoubt } from "../outbox/doubt.ts";
import { OWN_TAIL } from "./next-probe.ts";

/** The first calls after days in which the machine was off may fail for that alone. */
const LEAST_ATTEMPTS = 10;
/** A question that is asked again changes nothing, so it need not be waited for as long as a post. */
const PROBE_TIMEOUT_MS = 3_000;
/** A message may have been deleted: the end of a box is where two ids in a row have nothing. */
const ENDS_BOX = 2;

/**
 * Asks the platform about one id; `intended` is what the lost message should say. Returns until when nothing may go to
 * the address, if that was said.
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
  // What may be another conversation's message is not made to say this.
  const safe = chosen.claim === "certain" ? intended : undefined;
  const timeoutMs = Math.min(PROBE_TIMEOUT_MS, callTimeoutMs(policy, surface));
  const outcome = await callWithin(context.deps.clock, timeoutMs, async (signal) =>
    probing.probe(address, String(chosen.id), { signal, intended: safe }),
  );
  const isVoid = entry.row !== row || entry.probe !== chosen;
  if (outcome.kind === "done") {
    if (isVoid) return undefined;
    entry.probe = undefined;
    if (outcome.value !== "own") goOn(context, reply, surface, entry, chosen, outcome.value === "none");
    else if (chosen.claim === "certain") adopt(context, reply, surface, entry, String(chosen.id));
    else leaveUnresolved(context, reply, surface, entry, "chat-shared");
    return undefined;
  }
  const failure = failureOf(surface, outcome);
  if (!isVoid) return failed(context, reply, surface, entry, chosen, failure);
  // The lost answer has come meanwhile. A penalty is one all the same.
  return failure.kind === "retry-after" ? penalized(context, reply, failure.retryAfterMs) : undefined;
}

/** The id is not the lost message. */
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
  // In a box of one chat it is somebody else's message, of which the bot was not told: the box goes on.
  const beforeId = isOwnBox && !isNone ? Math.max(doubt.beforeId, id + OWN_TAIL + 1) : doubt.beforeId;
  const asked = [...doubt.asked, id];
  store(context, entry, {
    doubt: nextDoubt(doubt, "asked", { ...doubt, asked, beforeId }),
    retryAt: undefined,
  });
}

async function failed(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  { isLook }: Probe,
  failure: CallFailure,
): Promise<number | undefined> {
  const { row } = entry;
  const { address } = reply.record;
  const { clock, random } = context.deps;
  const now = clock.now();
  entry.probe = undefined;
  entry.probeFailures = (entry.probeFailures ?? 0) + 1;
  const attempts = entry.probeFailures;
  logFailure(context, { method: "probe", address, replyId: row.replyId, part: row.part, attempts }, failure);
  const rule = CALL_RULES.probe[failure.kind];
  switch (rule) {
    case "wait": {
      const delayMs = failure.kind === "retry-after" ? failure.retryAfterMs : 0;
      store(context, entry, { retryAt: Math.max(now + delayMs, row.retryAt ?? 0) });
      return penalized(context, reply, delayMs);
    }
    case "gone":
      context.endPlace(address, failure);
      return undefined;
    case "move":
      if (failure.kind === "moved") context.movePlace(address, failure);
      return undefined;
    case "retry": {
      if (isLook) return undefined;
      entry.searchFailingSince ??= now;
      // Nothing is lost by asking later, and a platform that does not answer shows nothing else either.
      if (attempts < LEAST_ATTEMPTS || now - entry.searchFailingSince < GIVE_UP_AFTER_MS) {
        store(context, entry, { retryAt: now + backoffMs(attempts, random()) });
        return undefined;
      }
      leaveUnresolved(context, reply, surface, entry, "probing-failed");
      return undefined;
    }
    case "undecided":
      if (!isLook && isSearchable(row.doubt))
        leaveUnresolved(context, reply, surface, entry, "probing-failed");
      return undefined;
    default:
      return rule satisfies never;
  }
}

/** Tells the gate. Returns until when nothing may go to the address. */
async function penalized(context: DeliveryContext, reply: Reply, retryAfterMs: number): Promise<number> {
  const until = context.deps.clock.now() + retryAfterMs;
  await penalize(context, reply.record.address, retryAfterMs);
  return until;
}
