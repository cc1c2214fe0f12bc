import { possibleMode } from "../../src/core/degrade.ts";
import type { DeliveryMode } from "../../src/core/delivery-mode.ts";
import type { RichText } from "../../src/core/rich-text.ts";
import type { Surface } from "../../src/core/surface.ts";
import { isWorthShowing } from "./first-text.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { Reply } from "../outbox/reply.ts";
import type { Part } from "../text/split/index.ts";

/** Returns the mode in which a reply appears now: that of its policy or of the platform, if it is possible. */
export function modeOf(
  reply: Pick<Reply, "record" | "draft" | "isStreamRefused">,
  surface: Surface,
): DeliveryMode {
  const { address, policy } = reply.record;
  return possibleMode(policy.mode ?? surface.mode ?? "edit", {
    edit: surface.capabilities.edit,
    drafts: surface.drafts !== undefined && address.isDirectMessage && !reply.draft.isRefused,
    stream: surface.stream !== undefined && !reply.isStreamRefused,
  });
}

/**
 * Returns the parts of a growing text that are messages already. They are always a prefix of all parts, so the visible
 * text is a prefix too. In the mode `draft`, a part keeps a message that it has because a model call was restarted or a
 * draft was refused.
 */
export function partsToShow(
  mode: DeliveryMode,
  parts: readonly Part<RichText>[],
  entries: readonly OutboxEntry[],
): readonly Part<RichText>[] {
  switch (mode) {
    case "final-only":
      return [];
    case "buffered":
      return prefix(parts, (part) => part.complete);
    case "draft":
      return prefix(parts, (part) => part.complete || (hasMessage(part, entries) && isReadable(part)));
    case "edit":
    case "native":
      return prefix(parts, (part) => part.complete || isReadable(part) || hasLaterMessage(part, entries));
    default:
      return mode satisfies never;
  }
}

/** Tells whether a part has something to read, or is complete without it. */
export function isReadable({ complete, content }: Part<RichText>): boolean {
  return complete || isWorthShowing(content.text);
}

/** Tells whether a part has a message. A post that was not made yet, or was refused, is not one. */
export function hasMessage({ index }: Part<RichText>, entries: readonly OutboxEntry[]): boolean {
  const row = entries.find((entry) => entry.row.part === index)?.row;
  return row !== undefined && row.state !== "planned" && row.state !== "removed" && row.state !== "failed";
}

/**
 * Tells whether a part other than the first already has a message. Half a word does not start a new message, but may be
 * shown in an existing one.
 */
function hasLaterMessage(part: Part<RichText>, entries: readonly OutboxEntry[]): boolean {
  return part.index > 0 && hasMessage(part, entries);
}

function prefix(
  parts: readonly Part<RichText>[],
  isShown: (part: Part<RichText>) => boolean,
): readonly Part<RichText>[] {
  const end = parts.findIndex((part) => !isShown(part));
  return end === -1 ? parts : parts.slice(0, end);
}
