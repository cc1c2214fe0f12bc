import type { RichText } from "../src/core/rich-text.ts";
import type { CallFailure, PostedMessage, Surface } from "../src/core/surface.ts";
import { adoptLate, watchLatePost } from "./late-post.ts";
import { callWithin } from "./call-within.ts";
import type { CallOutcome } from "./call-within.ts";
import { decide } from "./call-policy.ts";
import type { CallMethod, Decision } from "./call-policy.ts";
import { callTimeoutMs, classify, logFailure, penalize, TIMED_OUT } from "./delivery-context.ts";
import type { DeliveryContext } from "./delivery-context.ts";
import { entryOf, plannedRow } from "./outbox-entry.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import { nextState } from "./outbox-state.ts";
import type { OutboxRow } from "./outbox-store.ts";
import type { NextAction } from "./reconcile.ts";
import type { Reply } from "./reply.ts";
import { resentMark, withMark } from "./resent-mark.ts";
import type { Part } from "./split/index.ts";

export type Action = NextAction<Part<RichText>>;
export type CallAction = Extract<Action, { kind: "post" | "edit" | "remove" }>;

/** Makes one call and stores what came of it. Returns until when nothing may go to the address, if that was said. */
export async function performAction(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  action: CallAction,
): Promise<number | undefined> {
  switch (action.kind) {
    case "post":
      return post(context, reply, surface, action.part, action.entry);
    case "edit":
      return edit(context, reply, surface, action.part, action.entry, action.isInterim);
    case "remove":
      return remove(context, reply, surface, action.entry);
    default:
      return action satisfies never;
  }
}

/** A row that was found `sending` while nobody waits for its call: the process died under it. */
export function markLost(context: DeliveryContext, entry: OutboxEntry): void {
  store(context, entry, {
    state: nextState(entry.row.state, "lost"),
    doubts: entry.row.doubts + 1,
    code: "interrupted",
    retryAt: undefined,
  });
}

async function post(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  part: Part<RichText>,
  known: OutboxEntry | undefined,
): Promise<number | undefined> {
  const entry = known ?? entryOf(plannedRow(reply.record.id, part.index));
  const before = entry.row;
  const row: OutboxRow = {
    ...before,
    state: nextState(before.state, "begin"),
    attempts: before.attempts + 1,
    isMarked: before.isMarked || before.state === "unknown",
    messageId: undefined,
    retryAt: undefined,
  };
  context.database.transaction(() => {
    storeShown(context, reply);
    context.outbox.write(row);
  });
  entry.row = row;
  if (known === undefined) reply.entries.push(entry);

  const content = contentOf(reply, entry, part);
  const message = part.index === 0 ? { ...content, replyTo: reply.record.replyTo } : content;
  const outcome = await callWithin(
    context.deps.clock,
    callTimeoutMs(reply.record.policy),
    async (signal) => await surface.post(reply.record.address, message, { signal }),
  );
  if (outcome.kind === "done") {
    const isLast = reply.isFinal || part.complete;
    store(context, entry, {
      state: nextState(entry.row.state, "posted"),
      messageId: outcome.value.messageId,
      shownHash: isLast ? part.hash : undefined,
      failingSince: undefined,
      code: undefined,
    });
    entry.shownHash = part.hash;
    adoptLate(context, entry);
    return undefined;
  }
  const failure = failureOf(surface, outcome);
  if (outcome.kind === "timed-out") {
    watchLatePost(context, reply, surface, { entry, wasMarked: row.isMarked }, outcome.late);
  }
  const holdUntil = await applyFailure(context, reply, { method: "post", entry, part, content }, failure);
  adoptLate(context, entry);
  return holdUntil;
}

async function edit(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  part: Part<RichText>,
  entry: OutboxEntry,
  isInterim: boolean,
): Promise<number | undefined> {
  const { messageId } = entry.row;
  if (messageId === undefined) throw new TypeError("A visible message has no id.");
  const content = contentOf(reply, entry, part);
  const outcome = await callWithin(
    context.deps.clock,
    callTimeoutMs(reply.record.policy),
    async (signal) => await surface.edit(reply.record.address, messageId, content, { signal }),
  );
  const failure = outcome.kind === "done" ? undefined : failureOf(surface, outcome);
  if (outcome.kind === "timed-out") {
    // An edit that lands late may put an older text over a newer one: what is visible is then not known.
    void outcome.late.then((late) => {
      if (late.kind !== "done" || entry.shownHash === part.hash) return;
      entry.shownHash = undefined;
      context.revisit(entry.row.replyId);
    });
  }
  if (failure === undefined) {
    shown(context, entry, part);
    return undefined;
  }
  return applyFailure(context, reply, { method: "edit", entry, part, content, isInterim }, failure);
}

async function remove(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
): Promise<number | undefined> {
  const { messageId } = entry.row;
  if (messageId === undefined) throw new TypeError("A visible message has no id.");
  const outcome = await callWithin(
    context.deps.clock,
    callTimeoutMs(reply.record.policy),
    async (signal) => await surface.remove(reply.record.address, messageId, { signal }),
  );
  if (outcome.kind === "done") {
    removed(context, entry);
    return undefined;
  }
  return applyFailure(context, reply, { method: "remove", entry }, failureOf(surface, outcome));
}

interface FailedCall {
  readonly method: CallMethod;
  readonly entry: OutboxEntry;
  readonly part?: Part<RichText>;
  readonly content?: RichText;
  readonly isInterim?: boolean;
}

/** Stores what a failure means for the row and the reply. */
async function applyFailure(
  context: DeliveryContext,
  reply: Reply,
  call: FailedCall,
  failure: CallFailure,
): Promise<number | undefined> {
  const { clock, random } = context.deps;
  const { entry, method, part } = call;
  const now = clock.now();
  const isInterim = call.isInterim ?? (part !== undefined && !reply.isFinal && !part.complete);
  const decision = decide(
    method,
    failure,
    {
      isInterim,
      isPlain: call.content === undefined || call.content.entities.length === 0,
      doubts: entry.row.doubts,
      isReplacement: entry.row.isReplacement,
      wasWhole: entry.row.shownHash !== undefined,
      failures: isInterim && method === "edit" ? entry.interimFailures : failuresOf(entry.row, method),
      failingForMs: now - (entry.row.failingSince ?? now),
    },
    random(),
  );
  const quiet = decision.kind === "done";
  if (!quiet) {
    const { replyId } = entry.row;
    const attempts = method === "post" ? entry.row.attempts : entry.row.attempts + 1;
    const what = { method, address: reply.record.address, replyId, part: entry.row.part, attempts };
    logFailure(context, what, failure);
  }
  return applyDecision(context, reply, { ...call, isInterim }, failure, decision, now);
}

async function applyDecision(
  context: DeliveryContext,
  reply: Reply,
  call: FailedCall,
  failure: CallFailure,
  decision: Decision,
  now: number,
): Promise<number | undefined> {
  const { entry, part, method } = call;
  const { row } = entry;
  const isPost = method === "post";
  const refused = isPost ? nextState(row.state, "refused") : row.state;
  switch (decision.kind) {
    case "done":
      if (method === "remove") removed(context, entry);
      else if (part !== undefined) shown(context, entry, part);
      return undefined;
    case "wait":
      if (isPost) store(context, entry, { state: refused, code: failure.code });
      await penalize(context, reply.record.address, decision.delayMs);
      return now + decision.delayMs;
    case "retry":
      if (decision.tellOwner) {
        context.log.error("delivery.misconfigured", {
          messengerId: reply.record.address.messengerId,
          code: failure.code,
        });
      }
      if (method === "edit" && call.isInterim === true) {
        entry.interimFailures += 1;
        reply.notBefore = now + decision.delayMs;
        return undefined;
      }
      store(context, entry, {
        state: refused,
        attempts: isPost ? row.attempts : row.attempts + 1,
        code: failure.code,
        failingSince: row.failingSince ?? now,
        retryAt: now + decision.delayMs,
      });
      return undefined;
    case "give-up":
      store(context, entry, { state: nextState(row.state, "failed"), code: failure.code });
      context.endReply(reply, "failed", failure.code);
      return undefined;
    case "resend":
    case "leave-unknown":
      store(context, entry, {
        state: nextState(row.state, "lost"),
        doubts: row.doubts + 1,
        code: failure.code,
        retryAt: decision.kind === "resend" ? now + decision.delayMs : undefined,
      });
      return undefined;
    case "gone":
      store(context, entry, { state: refused, code: failure.code });
      context.endChat(reply.record.address, failure.code);
      return undefined;
    case "repost":
      store(context, entry, {
        state: nextState(row.state, "deleted"),
        messageId: undefined,
        shownHash: undefined,
        isReplacement: true,
      });
      entry.shownHash = undefined;
      return undefined;
    case "forget":
      store(context, entry, { state: nextState(row.state, "removed"), code: failure.code });
      return undefined;
    case "plain":
      if (isPost) store(context, entry, { state: refused, code: failure.code });
      entry.plainHash = part?.hash;
      return undefined;
    case "skip":
      if (isPost) store(context, entry, { state: refused, code: failure.code });
      entry.skippedHash = part?.hash;
      return undefined;
    case "fail":
      store(context, entry, { state: nextState(row.state, "failed"), code: failure.code });
      return undefined;
    case "ignore":
      return undefined;
    default:
      return decision satisfies never;
  }
}

function failureOf(
  surface: Surface,
  outcome: Exclude<CallOutcome<PostedMessage | void>, { kind: "done" }>,
): CallFailure {
  return outcome.kind === "timed-out" ? TIMED_OUT : classify(surface, outcome.error);
}

/** Attempts count posts that were begun, and failures of the other calls. */
function failuresOf(row: OutboxRow, method: CallMethod): number {
  return row.failingSince === undefined ? 0 : Math.max(0, row.attempts - (method === "post" ? 1 : 0));
}

function contentOf(reply: Reply, entry: OutboxEntry, part: Part<RichText>): RichText {
  const { text, entities } = part.content;
  const content = { text, entities: entry.plainHash === part.hash ? [] : entities };
  return entry.row.isMarked ? withMark(content, resentMark(reply.record.policy)) : content;
}

/** The message shows this part. Stored only when the row has something else to store: a second edit is harmless. */
function shown(context: DeliveryContext, entry: OutboxEntry, part: Part<RichText>): void {
  entry.shownHash = part.hash;
  entry.interimFailures = 0;
  const { failingSince, retryAt } = entry.row;
  if (failingSince === undefined && retryAt === undefined) return;
  store(context, entry, { failingSince: undefined, retryAt: undefined, code: undefined });
}

function removed(context: DeliveryContext, entry: OutboxEntry): void {
  store(context, entry, {
    state: nextState(entry.row.state, "removed"),
    shownHash: undefined,
    failingSince: undefined,
    retryAt: undefined,
    code: undefined,
  });
  entry.shownHash = undefined;
}

/** Before a later part is posted, the earlier ones are finished: their last state is stored with it. */
function storeShown(context: DeliveryContext, reply: Reply): void {
  for (const entry of reply.entries) {
    if (entry.row.state !== "sent" || entry.shownHash === entry.row.shownHash) continue;
    const row = { ...entry.row, shownHash: entry.shownHash };
    context.outbox.write(row);
    entry.row = row;
  }
}

/** Writes first, then remembers, so that a failed write changes nothing. */
function store(context: DeliveryContext, entry: OutboxEntry, change: Partial<OutboxRow>): void {
  const row = { ...entry.row, ...change };
  context.outbox.write(row);
  entry.row = row;
}
