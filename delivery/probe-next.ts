import type { UnseenIds } from "../src/core/budget.ts";
import type { CallFailure, OutgoingContent, Probing, Surface } from "../src/core/surface.ts";
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
import { LANDS_LATE_MS, landsBy } from "./landing.ts";
import { isGapQuestion } from "./open-question.ts";
import { store } from "./outbox-change.ts";
import type { Inquiry, OutboxEntry } from "./outbox-entry.ts";
import type { OutboxRow } from "./outbox-store.ts";
import { keepProgress } from "./prepare-inquiry.ts";
import type { Reply } from "./reply.ts";
import { unseenIds } from "./unseen-ids.ts";

/** The first calls after days in which the machine was off may fail for that alone. */
const LEAST_ATTEMPTS = 10;

/** One search, as it was when its next id was asked about. */
interface Search {
  readonly context: DeliveryContext;
  readonly reply: Reply;
  readonly surface: Surface;
  readonly probing: Probing;
  readonly entry: OutboxEntry;
  readonly row: OutboxRow;
  readonly inquiry: Inquiry;
}

/**
 * Asks about the next id, or concludes the search when none is left; `intended` is what the lost message should say.
 * Returns until when nothing may go to the address, if there is a reason.
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
  if (probing === undefined || inquiry === undefined) return undefined;
  const search: Search = { context, reply, surface, probing, entry, row, inquiry };
  const id = inquiry.ids[inquiry.asked];
  if (id === undefined) {
    // The root could not be reached for the conclusion, or another reply took the message over at that moment.
    await endSearch(search, undefined);
    return undefined;
  }
  const { address, policy } = reply.record;
  // What may be another thread's message is not made to say this.
  const safe = inquiry.others === "none" ? intended : undefined;
  const outcome = await callWithin(context.deps.clock, callTimeoutMs(policy), async (signal) =>
    probing.probe(address, String(id), { signal, intended: safe }),
  );
  if (outcome.kind === "done") {
    if (isVoid(search)) return undefined;
    if (outcome.value === "own" && !(await noteHit(search, id))) return undefined;
    return goOn(search, id, outcome.value === "none");
  }
  const failure = outcome.kind === "timed-out" ? TIMED_OUT : classify(surface, outcome.error);
  if (!isVoid(search)) return failed(search, failure);
  // A penalty is one all the same.
  return failure.kind === "retry-after" ? penalized(search, failure.retryAfterMs) : undefined;
}

/** Whether the lost answer has come meanwhile, or the message has become another reply's. */
function isVoid({ entry, row, inquiry }: Search): boolean {
  return entry.row !== row || entry.inquiry !== inquiry;
}

/** A message of the bot was found. Whether the search goes on now; otherwise it was put off, or is void. */
async function noteHit(search: Search, id: number): Promise<boolean> {
  const { context, reply, row, inquiry } = search;
  // Other threads of the chat go on while ids are asked about: it may have found its owner.
  const found = await unseenBetween(search, id, id);
  if (isVoid(search)) return false;
  if (found === undefined) {
    putOff(search, BUDGET_TIMEOUT_MS);
    return false;
  }
  if (!found.ids.includes(id)) return true;
  // It may be the one that is being posted: whose it is will be known in a moment.
  if (found.others === "posting" && context.deps.clock.now() < landsBy(row, reply)) {
    putOff(search, POSTING_MS);
    return false;
  }
  inquiry.others = found.others;
  inquiry.hits.push(id);
  return true;
}

/** The id was asked about: on to the next one, or to the conclusion. `isNone`: nothing has it. */
async function goOn(search: Search, id: number, isNone: boolean): Promise<number | undefined> {
  const { context, entry, row, inquiry } = search;
  inquiry.asked += 1;
  if (isNone && !isGapQuestion(row) && isBehindNewest(inquiry, id)) {
    inquiry.ids = inquiry.ids.slice(0, inquiry.asked);
  }
  if (inquiry.isLook && (inquiry.hits.length === 0 || !isCertain(inquiry))) return endLook(search);
  if (inquiry.asked < inquiry.ids.length) keepProgress(context, entry, inquiry);
  else await endSearch(search, id);
  return undefined;
}

/** All ids were asked about, `lastId` just now. A hit of some calls ago may have found its owner since. */
async function endSearch(search: Search, lastId: number | undefined): Promise<void> {
  const { context, reply, surface, entry, inquiry } = search;
  const { hits } = inquiry;
  const [first] = hits;
  const found =
    first === undefined || hits.every((hit) => hit === lastId)
      ? { ids: hits }
      : await unseenBetween(search, first, hits.at(-1) ?? first);
  if (isVoid(search)) return;
  if (found === undefined) {
    putOff(search, BUDGET_TIMEOUT_MS);
    return;
  }
  entry.inquiry = { ...inquiry, hits: hits.filter((hit) => found.ids.includes(hit)) };
  conclude(context, reply, surface, entry);
}

/** Whether this id and all that follow are only asked about in case that more had come than anybody has seen. */
function isBehindNewest({ ids, asked }: Inquiry, id: number): boolean {
  return (ids.at(-1) ?? id) - id === ids.length - asked;
}

/** A look that tells nothing: the post has to settle. What follows waits too, so that a late message stands before it. */
function endLook({ context, entry, row, inquiry }: Search): number | undefined {
  entry.inquiry = undefined;
  // What the others of the chat have sent is known, it turns out: what lands late is found and taken away.
  const settlesAt = Math.min(row.retryAt ?? Infinity, context.deps.clock.now() + LANDS_LATE_MS);
  if (isCertain(inquiry)) store(context, entry, { retryAt: settlesAt });
  return entry.row.retryAt;
}

async function failed(search: Search, failure: CallFailure): Promise<number | undefined> {
  const { context, reply, entry, row, inquiry } = search;
  const { address } = reply.record;
  const { clock, random } = context.deps;
  inquiry.failures += 1;
  const attempts = inquiry.failures;
  logFailure(context, { method: "probe", address, replyId: row.replyId, part: row.part, attempts }, failure);
  if (inquiry.isLook) entry.inquiry = undefined;
  switch (failure.kind) {
    case "retry-after": {
      const until = clock.now() + failure.retryAfterMs;
      store(context, entry, { retryAt: Math.max(until, row.retryAt ?? 0) });
      return penalized(search, failure.retryAfterMs);
    }
    case "gone":
      context.endPlace(address, failure);
      return undefined;
    case "moved":
      context.movePlace(address, failure);
      return undefined;
    case "transient":
    case "unknown":
    case "misconfigured":
      if (inquiry.isLook) return row.retryAt;
      // Nothing is lost by asking later, and a platform that does not answer shows nothing else either.
      if (attempts < LEAST_ATTEMPTS || clock.now() - landsBy(row, reply) < GIVE_UP_AFTER_MS) {
        putOff(search, backoffMs(inquiry.failures, random()));
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

/** The search goes on after this time, where it is now. */
function putOff({ context, entry }: Search, waitMs: number): void {
  store(context, entry, { retryAt: context.deps.clock.now() + waitMs });
}

/** Tells the root. Returns until when nothing may go to the address. */
async function penalized({ context, reply }: Search, retryAfterMs: number): Promise<number> {
  const until = context.deps.clock.now() + retryAfterMs;
  await penalize(context, reply.record.address, retryAfterMs);
  return until;
}

/** Which of these ids nobody has claimed by now. Nothing when the root cannot be asked. */
async function unseenBetween(
  { context, reply, probing, row }: Search,
  first: number,
  last: number,
): Promise<UnseenIds | undefined> {
  const range = { afterId: first - 1, beforeId: last + 1, sinceAt: rangeOf(row).sinceAt };
  const outcome = await unseenIds(context, reply.record.address, probing, range);
  return outcome.kind === "done" ? outcome.value : undefined;
}
