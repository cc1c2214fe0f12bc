import type { Address, OutgoingContent, OutgoingMessage, Surface } from "../../src/core/chat/surface.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import type { WantedMessage } from "../lost-posts/search.ts";
import { modeOf, partsToShow } from "../modes/mode.ts";
import { formatOf } from "../outbox/card-forms.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { Reply } from "../outbox/reply.ts";
import { resentMark, withMark } from "../outbox/resent-mark.ts";
import type { Part } from "../text/split/index.ts";

/** Returns a part as its row shows it: with the mark of a repetition, without formatting that was refused. */
export function contentOf(
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
  part: Part<OutgoingContent>,
): OutgoingContent {
  const { entities } = part.content;
  const { linkPreviews } = reply.record.policy;
  const content = {
    ...part.content,
    entities: entry.plainHash === part.hash ? [] : entities,
    linkPreviews,
  };
  if (!entry.row.isMarked) return content;
  return withMark(content, resentMark(reply.record.policy), formatOf(surface, content));
}

/**
 * Returns the text that a row's message should show. Undefined if its part is no longer needed, or has nothing to show.
 */
export function intendedOf(reply: Reply, surface: Surface, entry: OutboxEntry): OutgoingContent | undefined {
  const part = reply.parts(surface).find(({ index }) => index === entry.row.part);
  const isEmpty = part?.content.files === undefined && part?.content.text.trim() === "";
  return part === undefined || isEmpty ? undefined : contentOf(reply, surface, entry, part);
}

/** Returns the message that a lost post should have made. Undefined if its part is not needed, or not to be shown yet. */
export function wantedOf(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  entry: OutboxEntry,
): WantedMessage | undefined {
  const all = reply.parts(surface);
  const shown = reply.isFinal ? all : partsToShow(modeOf(reply, surface), all, reply.entries);
  const part = all.find(({ index }) => index === entry.row.part);
  const isShown = shown.some(({ index }) => index === entry.row.part);
  const content = intendedOf(reply, surface, entry);
  if (part === undefined || !isShown || content === undefined) return undefined;
  return { part, message: messageOf(context, reply, entry, content) };
}

/** Returns the message of a row that is posted with this content. */
export function messageOf(
  context: DeliveryContext,
  reply: Reply,
  { row: { doubt, part } }: OutboxEntry,
  content: OutgoingContent,
): OutgoingMessage {
  const { address, options, replyTo } = reply.record;
  const key = doubt === undefined || doubt.kind === "searching" ? undefined : doubt.post?.key;
  return {
    ...sendable(context, address, content),
    ...options,
    ...(part === 0 && replyTo !== undefined && { replyTo }),
    ...(key !== undefined && { key }),
  };
}

/** Returns content as it is sent now: files and pictures that the platform knows go by its ids. */
export function sendable(
  context: DeliveryContext,
  address: Address,
  content: OutgoingContent,
): OutgoingContent {
  const { files, image } = content;
  return {
    ...content,
    ...(files !== undefined && { files: context.files.resolve(address, files) }),
    ...(image !== undefined && { image: context.files.resolveImage(address, image) }),
  };
}
