import type {
  OutgoingContent,
  OutgoingMessage,
  PostedMessage,
  Surface,
} from "../../src/core/chat/surface.ts";
import { callWithin } from "../calls/call-within.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { failureOf } from "../calls/delivery-context.ts";
import { keepLatePenalty } from "../calls/keep-late-penalty.ts";
import { sendWithin, sentFailureOf } from "../calls/send-within.ts";
import { isKeyed, nextDoubt } from "../outbox/doubt.ts";
import type { Searchable } from "../outbox/doubt.ts";
import { addDuplicate } from "../outbox/duplicates.ts";
import { repeatedPost, wordsOf } from "../outbox/keyed-post.ts";
import type { KeyedPost } from "../outbox/keyed-post.ts";
import { store } from "../outbox/outbox-change.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { Reply } from "../outbox/reply.ts";
import { callTimeoutMs, landsBy, postTimeoutMs } from "../outbox/reply-timing.ts";
import type { Part } from "../text/split/index.ts";
import { adopt, leaveUnresolved, postAgain } from "./conclude-search.ts";
import { penalized, searchFailed } from "./search-failed.ts";

/*
 * The search for a lost post by its key, or in a list (I6). One call tells.
 *
 * 1. As long as the platform remembers the key, the post is made again with it: that makes no second message. If that is
 *    refused or not answered, the message is looked for before the next try.
 * 2. Otherwise the message is looked for at once. If it is there, the reply continues with it.
 * 3. If it is not there, nothing is posted until the post cannot land any more. Then one search decides.
 * 4. If the search cannot tell, the policy decides (`onUnknown`). A post that follows has the same key. If it is lost as
 *    well, the search finds both, and only the first one stays.
 */

/** Time limit of a search. It is shorter than that of a post, because asking again does no harm. */
const SEARCH_TIMEOUT_MS = 5_000;

/** What the message of a lost post should show. */
export interface WantedMessage {
  readonly part: Part<OutgoingContent>;
  /** With the key of the lost post. */
  readonly message: OutgoingMessage;
}

/** The content that a found message is known to show. */
type Shown = Parameters<typeof adopt>[6];

/**
 * Makes one call that finds the message of a lost post, or repeats the post with its key. `wanted` is undefined if the
 * message is not needed any more. Returns the time (epoch milliseconds) before which nothing may be sent to the address,
 * if there is one.
 */
export async function search(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  wanted: WantedMessage | undefined,
): Promise<number | undefined> {
  const { doubt } = entry.row;
  const now = context.deps.clock.now();
  entry.isLookDue = false;
  if (!isKeyed(doubt)) {
    // The post was made before the messenger could search by key.
    leaveUnresolved(context, reply, surface, entry, "no-key");
    return undefined;
  }
  const { post } = doubt;
  const by = landsBy(reply.record.policy, surface, now, wanted?.message);
  const isRemembered = by <= post.since + (surface.search?.repeatableForMs ?? 0);
  // A repetition would get the earlier message, which nothing can bring up to date.
  const isOther = !surface.capabilities.edit && wanted?.part.hash !== post.hash;
  const isRepeated =
    isRemembered && !isOther && entry.repeats !== "refused" && entry.repeats !== "unanswered";
  if (wanted === undefined || !isRepeated)
    return find(context, reply, surface, entry, { doubt, wanted, isLook: doubt.landsBy > now });
  return repeat(context, reply, surface, entry, { doubt, wanted, by });
}

interface Question {
  readonly doubt: Extract<Searchable, { kind: "landing" }> & { readonly post: KeyedPost };
  readonly wanted: WantedMessage | undefined;
  /** True if the post may still land, so that finding nothing proves nothing. */
  readonly isLook: boolean;
}

async function find(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  { doubt, wanted, isLook }: Question,
): Promise<number | undefined> {
  if (entry.repeats === "unanswered") entry.repeats = undefined;
  const { row } = entry;
  const { address, policy } = reply.record;
  const isOther = (messageId: string): boolean => context.outbox.has(address, messageId);
  const { post } = doubt;
  const { key, since, words } = post;
  const lost = {
    key,
    since,
    until: doubt.landsBy,
    isOther,
    isText: (text: string) => words.includes(wordsOf(text)),
  };
  const timeoutMs = Math.min(SEARCH_TIMEOUT_MS, callTimeoutMs(policy, surface));
  const outcome = await callWithin(
    context.deps.clock,
    timeoutMs,
    async (signal) => (await surface.search?.find(address, lost, { signal })) ?? "undecided",
  );
  keepLatePenalty(context, surface, address, outcome);
  if (outcome.kind !== "done") {
    const failure = failureOf(surface, outcome);
    if (entry.row === row)
      return searchFailed(context, reply, surface, entry, { isLook, strayUntil: 0 }, failure);
    // The late answer has arrived in the meantime. A penalty still counts.
    return penalized(context, reply, failure);
  }
  if (entry.row !== row) return undefined;
  if (outcome.value !== "undecided" && outcome.value.length > 0)
    adoptAll(context, reply, surface, entry, outcome.value, shownBy(post, wanted, reply, surface));
  else if (isLook) store(context, entry, { retryAt: Math.max(row.retryAt ?? 0, doubt.landsBy) });
  else if (outcome.value === "undecided") leaveUnresolved(context, reply, surface, entry, "not-told");
  else postAgain(context, reply, surface, entry);
  return undefined;
}

interface Repetition extends Pick<Question, "doubt"> {
  readonly wanted: WantedMessage;
  /** Time after which it cannot land any more, in epoch milliseconds. */
  readonly by: number;
}

async function repeat(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  { doubt, wanted, by }: Repetition,
): Promise<number | undefined> {
  const { message, part } = wanted;
  const { address, policy } = reply.record;
  const repeated = repeatedPost(doubt.post, { hash: part.hash, text: message.text });
  // It may land as late as the first one, also if this process dies.
  const until = Math.max(doubt.landsBy, by);
  store(context, entry, {
    doubt: nextDoubt(doubt, "asked", { ...doubt, landsBy: until, post: repeated }),
    retryAt: until,
  });
  const { row } = entry;
  const { isUnsent, outcome } = await sendWithin(
    context.deps.clock,
    { limitMs: postTimeoutMs(policy, surface, message), textMs: callTimeoutMs(policy, surface) },
    async (options) =>
      await surface.post(address, message, { ...options, openFile: (hash) => context.files.open(hash) }),
  );
  keepLatePenalty(context, surface, address, outcome);
  if (outcome.kind === "done") {
    if (entry.row === row)
      adoptAll(context, reply, surface, entry, [outcome.value], shownBy(repeated, wanted, reply, surface));
    return undefined;
  }
  const failure = sentFailureOf(surface, { outcome, isUnsent });
  if (entry.row !== row) return penalized(context, reply, failure);
  if (failure.kind === "rejected" || failure.kind === "missing") {
    // The platform may have made the first post all the same.
    entry.repeats = "refused";
    store(context, entry, { retryAt: undefined });
    return undefined;
  }
  if (failure.kind === "unknown") entry.repeats = "unanswered";
  // Another repetition makes no second message either, so it need not wait.
  return searchFailed(context, reply, surface, entry, { isLook: false, strayUntil: 0 }, failure);
}

/** Gives the first message to the row. The others repeat it, and are removed. */
function adoptAll(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  [first, ...others]: readonly PostedMessage[],
  shown: Shown,
): void {
  if (first === undefined) return;
  const { messageId, messageIds } = first;
  const moreIds = messageIds?.filter((id) => id !== messageId);
  const isAlone = others.length === 0;
  context.database.transaction(() => {
    if (surface.capabilities.remove) {
      for (const other of others)
        for (const id of other.messageIds ?? [other.messageId]) addDuplicate(context, reply.record.id, id);
    }
    adopt(context, reply, surface, entry, messageId, moreIds, isAlone ? shown : undefined);
    // Nothing else repeats the message, so it needs no mark.
    if (entry.row.isMarked) store(context, entry, { isMarked: false, shownHash: undefined });
  });
}

/**
 * Returns the content that a found message shows. Undefined if an edit must follow: posts with the key had different
 * contents, or a stream may still be open.
 */
function shownBy(
  { hash }: KeyedPost,
  wanted: WantedMessage | undefined,
  reply: Reply,
  surface: Surface,
): Shown {
  if (surface.stream !== undefined) return undefined;
  if (wanted !== undefined && wanted.part.hash === hash)
    return { hash, isWhole: reply.isFinal || wanted.part.complete };
  // Without edits the message goes on showing what the lost post had, also if no text wants it yet.
  return surface.capabilities.edit || hash === undefined ? undefined : { hash, isWhole: true };
}
