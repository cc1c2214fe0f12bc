import type { Surface } from "../../src/core/chat/surface.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { store } from "../outbox/outbox-change.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { Reply } from "../outbox/reply.ts";
import { adopt } from "./conclude-search.ts";

/*
 * A person who presses a button of a card tells its message. If the answer of the post was lost, nobody else may ever
 * tell it, and a card that cannot be found keeps its buttons forever.
 */

/** Whether nobody knows what became of a row's post. */
export function isLostRow(entry: OutboxEntry | undefined): boolean {
  return entry?.row.state === "unknown" && entry.row.formerChatId === undefined;
}

/**
 * Gives the message with the pressed button to the card's last row, which has the buttons, if its message is not known.
 * While a post of the row is under way, the id is stored beside it, for the case that its answer is lost.
 * Returns true if the row has a message since then.
 */
export function takeTold(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  messageId: string,
): boolean {
  const entry = reply.entries.at(-1);
  if (entry === undefined) return false;
  const isPosting = entry.row.state === "sending" && entry.row.messageId === undefined;
  if (!isPosting && !isLostRow(entry)) return false;
  if (context.outbox.has(reply.record.address, messageId)) return false;
  if (isPosting) store(context, entry, { messageId });
  else adopt(context, reply, surface, entry, messageId, undefined);
  return !isPosting;
}

/** Ends a post whose answer was lost, if a press has told its message. Returns false if nobody has. */
export function adoptTold(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
): boolean {
  const { formerChatId, messageId } = entry.row;
  if (messageId === undefined || formerChatId !== undefined) return false;
  adopt(context, reply, surface, entry, messageId, undefined);
  return true;
}
