import type { ReplyPolicy } from "../../src/core/chat/delivery.ts";
import { mostDoubts } from "../calls/call-policy.ts";
import { isPutOff } from "../outbox/outbox-entry.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import { isSearchable } from "../outbox/doubt.ts";
import { shapeOf } from "../outbox/message-shape.ts";
import type { OutgoingContent } from "../../src/core/chat/surface.ts";

/** The fields of a part that reconciliation needs. */
export interface DesiredPart {
  readonly index: number;
  readonly complete: boolean;
  readonly hash: string;
  readonly content: Pick<OutgoingContent, "text" | "image" | "isCaption" | "files" | "location">;
}

export interface ReconcileInput<Part extends DesiredPart> {
  /** Messages that are visible, or may be. */
  readonly entries: readonly OutboxEntry[];
  /** Parts that should be visible, in order. */
  readonly parts: readonly Part[];
  /** True if the text is whole. */
  readonly isFinal: boolean;
  readonly canEdit: boolean;
  readonly canRemove: boolean;
  /** True if the platform allows a search for lost posts. */
  readonly canSearch: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The policy for lost posts that cannot be searched for. */
  readonly onUnknown: NonNullable<ReplyPolicy["onUnknown"]>;
}

export type NextAction<Part extends DesiredPart> =
  /** Post a new message. `entry` is set if the part already has a row. A row that is `unknown` is sent again. */
  | { readonly kind: "post"; readonly part: Part; readonly entry: OutboxEntry | undefined }
  | { readonly kind: "edit"; readonly part: Part; readonly entry: OutboxEntry; readonly isInterim: boolean }
  | { readonly kind: "remove"; readonly entry: OutboxEntry }
  /** Search for a lost post. */
  | { readonly kind: "probe"; readonly entry: OutboxEntry }
  /** A post whose process died during the call. */
  | { readonly kind: "lost"; readonly entry: OutboxEntry }
  /** A message that cannot be edited shows something else. This part and all later ones are posted again. */
  | { readonly kind: "superseded"; readonly entry: OutboxEntry }
  /** Nothing to do until the text changes. */
  | { readonly kind: "idle" }
  /** Nothing is left to do. `code` is set if a part is not visible, and never will be. */
  | { readonly kind: "ended"; readonly code: string | undefined };

/**
 * Returns the next step from the visible messages to the desired parts. Pure. Each part is brought up to date before a
 * later one is posted, unless that has failed for a while. Surplus messages go last, starting from the end. If it is
 * called again after each step, it comes to an end.
 */
export function reconcile<Part extends DesiredPart>(input: ReconcileInput<Part>): NextAction<Part> {
  const { entries, parts, isFinal, canRemove, canSearch, now } = input;
  const lost = entries.find(({ row }) => row.state === "sending");
  if (lost !== undefined) return { kind: "lost", entry: lost };
  // Nothing is posted while a post is in doubt, even if the text no longer needs that post.
  const inDoubt = canSearch ? entries.find(isInDoubt) : undefined;
  // There is nothing to show yet. The visible text of an earlier attempt stays until new text replaces it.
  if (!isFinal && parts.every(isBlank)) return afterDoubt(inDoubt, { kind: "idle" });
  let failedCode: string | undefined;
  let putOff: NextAction<Part> | undefined;
  for (const part of parts) {
    const entry = entries.find(({ row }) => row.part === part.index);
    const step = stepFor(part, entry, input);
    if (step.kind === "act") {
      if (entry === undefined || !isPutOff(entry, now)) {
        return step.action.kind === "post" ? afterDoubt(inDoubt, step.action) : step.action;
      }
      putOff ??= step.action;
    }
    if (step.kind === "failed") failedCode ??= step.code;
    // Later parts are not posted before this one.
    if (step.kind === "hold") return afterDoubt(inDoubt, { kind: "idle" });
  }
  if (inDoubt !== undefined) return { kind: "probe", entry: inDoubt };
  if (putOff !== undefined) return putOff;
  if (canRemove) {
    const surplus = entries.findLast(
      (entry) => isWithinReach(entry) && !parts.some(({ index }) => index === entry.row.part),
    );
    if (surplus !== undefined) return { kind: "remove", entry: surplus };
  }
  if (!isFinal) return { kind: "idle" };
  return { kind: "ended", code: failedCode };
}

type Step<Part extends DesiredPart> =
  | { readonly kind: "act"; readonly action: NextAction<Part> }
  | { readonly kind: "shown" }
  | { readonly kind: "hold" }
  | { readonly kind: "failed"; readonly code: string };

function stepFor<Part extends DesiredPart>(
  part: Part,
  entry: OutboxEntry | undefined,
  { isFinal, canEdit, canRemove, canSearch, onUnknown }: ReconcileInput<Part>,
): Step<Part> {
  const isInterim = !isFinal && !part.complete;
  if (isBlank(part)) {
    if (isFinal && canRemove && entry !== undefined && isWithinReach(entry))
      return act({ kind: "remove", entry });
    return { kind: "shown" };
  }
  if (entry === undefined) return act({ kind: "post", part, entry });
  const { row } = entry;
  switch (row.state) {
    case "planned":
      if (isInterim && entry.skippedHash === part.hash) return { kind: "hold" };
      return act({ kind: "post", part, entry });
    case "removed":
      // With a code, a person removed the message. Without one it was surplus, and is needed again.
      return row.code === undefined ? act({ kind: "post", part, entry }) : { kind: "shown" };
    case "unknown":
      if (canSearch && isInDoubt({ row })) return act({ kind: "probe", entry });
      if (onUnknown !== "leave" && row.doubts < mostDoubts(onUnknown, canSearch))
        return act({ kind: "post", part, entry });
      return { kind: "failed", code: row.code ?? "unknown" };
    case "failed":
      return { kind: "failed", code: row.code ?? "failed" };
    case "sent":
      if (entry.shownHash === part.hash) return { kind: "shown" };
      if (!canEdit) {
        return entry.shownHash === undefined ? { kind: "shown" } : act({ kind: "superseded", entry });
      }
      // A place cannot be edited, so one that a search found is as it was sent.
      if (part.content.location !== undefined && isWithinReach(entry)) return { kind: "shown" };
      if (!isWithinReach(entry) || row.shape !== shapeOf(part.content))
        return act({ kind: "superseded", entry });
      if (isInterim && entry.skippedHash === part.hash) return { kind: "shown" };
      return act({ kind: "edit", part, entry, isInterim });
    case "sending":
      return { kind: "hold" };
    default:
      return row.state satisfies never;
  }
}

function afterDoubt<Part extends DesiredPart>(
  inDoubt: OutboxEntry | undefined,
  action: NextAction<Part>,
): NextAction<Part> {
  return inDoubt === undefined ? action : { kind: "probe", entry: inDoubt };
}

function isInDoubt({ row }: Pick<OutboxEntry, "row">): boolean {
  return row.state === "unknown" && isSearchable(row.doubt);
}

function act<Part extends DesiredPart>(action: NextAction<Part>): Step<Part> {
  return { kind: "act", action };
}

/** Tells whether there is a message that can be changed. */
function isWithinReach({ row }: OutboxEntry): boolean {
  return row.state === "sent" && row.formerChatId === undefined;
}

/** Tells whether a part has nothing to see. Platforms refuse such a message. */
function isBlank({ content: { files, location, text } }: DesiredPart): boolean {
  return text.trim() === "" && files === undefined && location === undefined;
}
