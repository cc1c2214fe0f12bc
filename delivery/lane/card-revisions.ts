import type { IfDeleted } from "../../src/core/chat/delivery.ts";
import type { Database } from "../../src/core/store/database.ts";
import type { Deps } from "../../src/core/base/deps.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { OutboxRow, OutboxStore } from "../outbox/outbox-store.ts";
import type { ReplyBody } from "../outbox/reply-body.ts";
import { Reply } from "../outbox/reply.ts";
import type { ReplyRecord, ReplyStore } from "../outbox/reply-store.ts";
import type { ChatMoves } from "./chat-moves.ts";

export interface CardRevisionsOptions {
  readonly database: Database;
  readonly deps: Deps;
  readonly replies: ReplyStore;
  readonly outbox: OutboxStore;
  readonly moves: ChatMoves;
  /** The rows of a reply that has ended. */
  readonly entriesOf: (record: ReplyRecord) => OutboxEntry[];
}

/**
 * Changes cards, also ended ones. The card's reply becomes `final` again with its rows, and the lane brings its
 * messages up to date, as for any other reply.
 */
export class CardRevisions {
  readonly #options: CardRevisionsOptions;

  constructor(options: CardRevisionsOptions) {
    this.#options = options;
  }

  /** Reopens a card and returns its reply: `known` if that is given. Undefined if the card no longer exists. */
  reopen(replyId: string, known: Reply | undefined, text: string, body: ReplyBody): Reply | undefined {
    const { database, deps, entriesOf, moves, outbox, replies } = this.#options;
    const record = known?.record ?? replies.read(replyId);
    if (record?.content !== "card") return undefined;
    const address = moves.currentAddress(record.address);
    if (replies.goneCode(address) !== undefined) return undefined;
    const now = deps.clock.now();
    // Orders the revisions of a card.
    const finishedAt = Math.max(now, (record.finishedAt ?? 0) + 1);
    const next: ReplyRecord = {
      ...record,
      address,
      state: "final",
      text,
      body,
      finishedAt,
      code: undefined,
      endedAt: undefined,
    };
    const before = known?.entries ?? entriesOf(record);
    const entries = database.transaction(() => {
      replies.revise(replyId, address, text, body, finishedAt);
      if (address !== record.address) moves.moveEntries(before, record.address);
      return reopenRows(outbox, before, body.kind === "card" ? body.ifDeleted : "leave");
    });
    const reply = known ?? new Reply(next, entries, now);
    reply.entries = entries;
    reply.revise(next);
    return reply;
  }

  /**
   * Makes the messages that a card no longer needs be edited, because the platform does not remove them. Returns false
   * if there is nothing to change.
   */
  lock(reply: Reply): boolean {
    const { address, body, finishedAt = 0, id, text = "" } = reply.record;
    if ((body?.kind !== "removed" && body?.kind !== "card") || body.isLocked === true) return false;
    const locked = { ...body, isLocked: true };
    this.#options.replies.revise(id, address, text, locked, finishedAt);
    reply.revise({ ...reply.record, body: locked });
    return true;
  }
}

/**
 * Prepares the rows of a card for its next revision. A message that could not be posted is tried again. A message that
 * a person has deleted is posted again if `ifDeleted` says so. A message in a chat that has moved since stays behind.
 * The entries stay the same objects, for calls under way.
 */
function reopenRows(
  outbox: OutboxStore,
  entries: readonly OutboxEntry[],
  ifDeleted: IfDeleted,
): OutboxEntry[] {
  return entries.filter((entry) => {
    const { row } = entry;
    const isWanted = row.state === "removed" && row.code !== undefined && ifDeleted === "post";
    if (isWanted || (row.state === "failed" && row.messageId === undefined)) {
      outbox.delete(row);
      return false;
    }
    const isLeftBehind = row.formerChatId !== undefined;
    const next: OutboxRow = {
      ...row,
      isReplacement: false,
      // A revision is shown in the chat of today, also one that is equal to the message in the former chat.
      ...(isLeftBehind && { shownHash: undefined }),
      // The message may show half of an earlier revision.
      ...(row.state === "failed" && { state: "sent", shownHash: undefined, code: undefined }),
    };
    if (next.state !== row.state || row.isReplacement || isLeftBehind) outbox.write(next);
    entry.row = next;
    if (isLeftBehind) entry.shownHash = undefined;
    return true;
  });
}
