import type { RichText } from "../../src/core/message/rich-text.ts";
import type { Address, CallFailure } from "../../src/core/chat/surface.ts";
import { decide, GIVE_UP_AFTER_MS, isLocked } from "./call-policy.ts";
import type { Decision, RowMethod } from "./call-policy.ts";
import { logFailure, penalize } from "./delivery-context.ts";
import type { DeliveryContext } from "./delivery-context.ts";
import { answered } from "../outbox/doubt.ts";
import { formerChatOf } from "../outbox/move-reply.ts";
import { lost, refused, removed, shown, store } from "../outbox/outbox-change.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import { nextState } from "../outbox/outbox-state.ts";
import type { OutboxRow } from "../outbox/outbox-store.ts";
import type { Reply } from "../outbox/reply.ts";
import { addDuplicate } from "../outbox/duplicates.ts";
import { isRichDoubt, isRichRefusal } from "../outbox/rich-refusal.ts";
import type { Part } from "../text/split/index.ts";

export interface FailedCall {
  readonly method: RowMethod;
  /** The address that the call was made to. */
  readonly address: Address;
  readonly entry: OutboxEntry;
  readonly part?: Part<RichText>;
  readonly content?: RichText;
  readonly isInterim?: boolean;
  /** True if the message should be gone, so it is not posted again. @default false */
  readonly isLeftover?: boolean;
  /** True if the platform allows a search for a lost post. @default false */
  readonly canSearch?: boolean;
}

/**
 * Stores the result of a failed call in the row and the reply. Returns the time (epoch milliseconds) before which
 * nothing may be sent to the address, if there is one.
 */
export async function applyFailure(
  context: DeliveryContext,
  reply: Reply,
  call: FailedCall,
  failure: CallFailure,
): Promise<number | undefined> {
  if (formerChatOf(call.address, reply.record.address) !== undefined) {
    if (call.method === "post") refusePostBeforeMove(context, call.entry, failure);
    return undefined;
  }
  const surface = context.surfaces.of(reply.record.address.messengerId);
  if (isRichRefusal(call.content, failure)) {
    const { row } = call.entry;
    if (call.method === "post") {
      store(context, call.entry, { ...refused(row), code: failure.code });
    }
    context.rich.refused(reply, surface, failure);
    return undefined;
  }
  if (isRichDoubt(surface, call.content, failure)) context.rich.doubted(reply, surface, failure);
  const { clock, random } = context.deps;
  const { entry, method, part } = call;
  const now = clock.now();
  const isInterim =
    (call.isInterim ?? (part !== undefined && !reply.isFinal && !part.complete)) ||
    isPast(context, reply, call);
  const failingSince = failingSinceOf(entry, failure, now);
  const decision = decide(
    method,
    failure,
    {
      isInterim,
      // A refused file would also be refused without formatting.
      isPlain: call.content === undefined || call.content.entities.length === 0 || isAboutFile(failure),
      isQuoting: method === "post" && part?.index === 0 && reply.record.replyTo !== undefined,
      doubts: entry.row.doubts,
      isSearchable: entry.row.doubt?.kind === "posting",
      onUnknown: reply.record.policy.onUnknown ?? "resend-marked",
      canSearch: call.canSearch === true,
      // A locked message was not deleted by a person, so its text is wanted.
      isReplacement: (entry.row.isReplacement && !isLocked(failure)) || call.isLeftover === true,
      wasWhole: wasWhole(reply, entry),
      failingForMs: now - failingSince,
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
  return applyDecision(context, reply, { ...call, isInterim, failingSince }, failure, decision, now);
}

function isAboutFile(failure: CallFailure): boolean {
  return failure.kind === "rejected" && failure.about !== undefined;
}

/**
 * Whether the message has shown its whole text before. A card is posted whole. If a person has deleted it, it stays
 * deleted, unless the bot wants it posted again, or may have removed the message itself.
 */
function wasWhole({ record: { body, content } }: Reply, { row }: OutboxEntry): boolean {
  if (row.isLeaving === true) return false;
  if (content !== "card") return row.shownHash !== undefined;
  return body?.kind !== "card" || body.ifDeleted === "leave";
}

/**
 * Handles a failed post to a chat that has moved in the meantime. It cannot be searched for, whether it was made or
 * not.
 */
function refusePostBeforeMove(context: DeliveryContext, entry: OutboxEntry, failure: CallFailure): void {
  const { code, kind } = failure;
  store(context, entry, { ...(kind === "unknown" ? lost(entry.row) : refused(entry.row)), code });
}

/**
 * Tells whether the message should show another text by now: more text has arrived, or another reply has taken it over.
 */
function isPast(context: DeliveryContext, reply: Reply, { entry, part }: FailedCall): boolean {
  if (entry.row.replyId !== reply.record.id) return true;
  if (part === undefined) return false;
  const wanted = reply.parts(context.surfaces.of(reply.record.address.messengerId));
  return wanted.find(({ index }) => index === part.index)?.hash !== part.hash;
}

/** Returns when this failure began. A different error after a day starts the clock again. */
function failingSinceOf(
  { row, interimFailingSince }: OutboxEntry,
  { code }: CallFailure,
  now: number,
): number {
  const since = interimFailingSince ?? row.failingSince ?? now;
  return now - since > GIVE_UP_AFTER_MS && row.code !== code ? now : since;
}

async function applyDecision(
  context: DeliveryContext,
  reply: Reply,
  call: FailedCall & { readonly failingSince: number },
  failure: CallFailure,
  decision: Decision,
  now: number,
): Promise<number | undefined> {
  const { entry, part, method } = call;
  const { row } = entry;
  const isPost = method === "post";
  // Only a failed post changes the state of the row.
  const notPosted = isPost ? refused(row) : {};
  switch (decision.kind) {
    case "done":
      if (method === "remove") removed(context, entry);
      else if (part !== undefined) shown(context, entry, part);
      return undefined;
    case "wait":
      if (isPost || call.isInterim !== true) {
        // A penalty is no failure of this message, so its time does not count as time of failing.
        const failingSince = row.failingSince === undefined ? undefined : row.failingSince + decision.delayMs;
        // Kept in the row too, in case the gate cannot be told.
        store(context, entry, {
          ...notPosted,
          code: failure.code,
          failingSince,
          retryAt: now + decision.delayMs,
        });
      }
      await penalize(context, reply.record.address, failure);
      return now + decision.delayMs;
    case "retry":
      if (decision.tellOwner) {
        context.access.refused(reply.record.address, failure.code);
      }
      if (method === "edit" && call.isInterim === true) {
        entry.interimFailingSince ??= now;
        // If the text has become whole in the meantime, it does not wait for an interim state.
        if (!reply.isFinal) reply.notBefore = now + decision.delayMs;
        return undefined;
      }
      store(context, entry, {
        ...notPosted,
        attempts: isPost ? row.attempts : row.attempts + 1,
        code: failure.code,
        failingSince: call.failingSince,
        retryAt: now + decision.delayMs,
      });
      return undefined;
    case "give-up":
      store(context, entry, { ...failedFrom(row), code: failure.code });
      context.replies.end(reply, "failed", failure.code);
      return undefined;
    case "search":
      store(context, entry, { ...lost(row), code: failure.code });
      entry.isLookDue = true;
      return undefined;
    case "resend":
    case "leave-unknown":
      store(context, entry, {
        ...lost(row),
        code: failure.code,
        retryAt: decision.kind === "leave-unknown" ? undefined : now + decision.delayMs,
      });
      // The next parts wait too, so that a message that lands late is still above them.
      return now + decision.delayMs;
    case "gone":
      store(context, entry, { ...notPosted, code: failure.code });
      context.replies.endPlace(reply.record.address, failure);
      return undefined;
    case "move":
      store(context, entry, { ...notPosted, code: failure.code });
      if (failure.kind === "moved") context.replies.movePlace(reply.record.address, failure);
      return undefined;
    case "repost":
      context.database.transaction(() => {
        // Platforms also report this for messages that still exist. Such a message would stay beside the new one.
        if (row.messageId !== undefined) addDuplicate(context, row.replyId, row.messageId);
        store(context, entry, {
          state: nextState(row.state, "deleted"),
          messageId: undefined,
          moreIds: undefined,
          shownHash: undefined,
          isReplacement: true,
          isLeaving: undefined,
        });
      });
      entry.shownHash = undefined;
      entry.replacedId = row.messageId;
      return undefined;
    case "forget":
      store(context, entry, { state: nextState(row.state, "removed"), code: failure.code });
      return undefined;
    case "plain":
      if (isPost) store(context, entry, { ...notPosted, code: failure.code });
      entry.plainHash = part?.hash;
      return undefined;
    case "unquoted":
      store(context, entry, { ...notPosted, code: failure.code });
      context.replies.unquote(reply);
      return undefined;
    case "skip":
      if (isPost) store(context, entry, { ...notPosted, code: failure.code });
      entry.skippedHash = part?.hash;
      return undefined;
    case "fail":
      context.database.transaction(() => {
        const messageId = isPost ? takeBack(context, reply, entry) : undefined;
        store(context, entry, {
          ...failedFrom(row),
          code: failure.code,
          ...(messageId !== undefined && { messageId }),
        });
      });
      return undefined;
    default:
      return decision satisfies never;
  }
}

/**
 * Returns the change that marks a row as failed. A row that was posted keeps no doubt, because the platform has
 * answered.
 */
function failedFrom(row: OutboxRow): Pick<OutboxRow, "state" | "doubt"> {
  return { state: nextState(row.state, "failed"), doubt: answered(row.doubt) };
}

/**
 * Returns the id of the message that the part should have replaced. It stays, because half a text is better than none.
 */
function takeBack(context: DeliveryContext, reply: Reply, { replacedId }: OutboxEntry): string | undefined {
  const replaced = reply.entries.find(
    ({ row }) => row.part < 0 && row.state === "sent" && row.messageId === replacedId,
  );
  if (replaced === undefined) return undefined;
  context.outbox.delete(replaced.row);
  reply.entries = reply.entries.filter((other) => other !== replaced);
  return replacedId;
}
