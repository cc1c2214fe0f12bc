import type { RichText } from "../../src/core/message/rich-text.ts";
import type { Surface } from "../../src/core/chat/surface.ts";
import { modeOf } from "./mode.ts";
import { plannerOptions } from "../outbox/reply.ts";
import type { Reply } from "../outbox/reply.ts";
import { repairMarkdown } from "../text/split/scan/repair.ts";
import { splitText } from "../text/split/index.ts";

/**
 * Returns the beginning of a running reply's text that people see, or will see when the current call is done. Open
 * formatting is closed. Undefined if this is not known: after a start, unless an interrupted text stays, and in modes
 * without messages yet. If the draft of an interrupted text is visible, its text is returned.
 */
export function seenText(reply: Reply, surface: Surface): string | undefined {
  const mode = modeOf(reply, surface);
  if (mode === "draft" && reply.isHeld) return repairMarkdown(reply.text).source;
  if (mode === "draft" || mode === "final-only") return undefined;
  const visible = reply.entries.filter(({ row }) => row.state !== "removed" && row.state !== "failed");
  if (visible.length === 0) return "";
  if (reply.sentLength === 0) return undefined;
  const last = Math.max(...visible.map(({ row }) => row.part));
  return repairMarkdown(upToPart(reply, surface, last)).source;
}

/** Returns the longest beginning of the last planned text that shows no more than the parts up to `last`. */
function upToPart(reply: Reply, surface: Surface, last: number): string {
  const text = reply.text.slice(0, reply.sentLength);
  const parts = reply.parts(surface);
  const shownLength = last + 1 < parts.length ? (parts[last]?.content.text.length ?? 0) : Infinity;
  const options = { ...plannerOptions(reply.record.policy, surface), final: true };
  const fits = (length: number): boolean => {
    const fitting = splitText<RichText>(repairMarkdown(text.slice(0, length)).source, options);
    return fitting.length <= last + 1 && (fitting[last]?.content.text.length ?? 0) <= shownLength;
  };
  if (fits(text.length)) return text;
  let enough = 0;
  let tooLong = text.length;
  while (tooLong - enough > 1) {
    const middle = Math.floor((enough + tooLong) / 2);
    if (fits(middle)) enough = middle;
    else tooLong = middle;
  }
  return text.slice(0, enough);
}
