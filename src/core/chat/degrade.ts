/**
 * The one rule for what a platform cannot do. The content still arrives, in the next best form:
 * 1. A card that a message with buttons cannot hold is text with numbered options.
 * 2. A reply that cannot grow in its message is posted in messages that are complete: one by one, or all at the end.
 * 3. A private word is a message in the private chat. In a group, a warning names its person.
 * 4. A file is a link to its address. Without an address a word says that it cannot be sent.
 */
import type { DeliveryMode } from "./delivery-mode.ts";
import type { LengthUnit } from "../text/text-length.ts";
import { textLength } from "../text/text-length.ts";
import type {
  ButtonLimits,
  FileCapabilities,
  OutgoingButton,
  OutgoingMedia,
  PrivateWords,
} from "./surface.ts";

/**
 * Returns the rows of buttons as the platform can show them. Undefined if it cannot, so that the card is text with
 * numbered options.
 */
export function buttonRows<Button extends Pick<OutgoingButton, "label">>(
  rows: readonly (readonly Button[])[],
  limits: ButtonLimits | undefined,
  unit: LengthUnit | undefined,
): readonly (readonly Button[])[] | undefined {
  if (limits === undefined) return rows;
  const { maxLabelLength, maxPerRow, maxRows } = limits;
  const buttons = rows.flat();
  if (buttons.some(({ label }) => textLength(label, unit) > maxLabelLength)) return undefined;
  if (rows.length <= maxRows && rows.every((row) => row.length <= maxPerRow)) return rows;
  if (buttons.length > maxRows * maxPerRow) return undefined;
  const count = Math.ceil(buttons.length / maxPerRow);
  return Array.from({ length: count }, (_, row) => buttons.slice(row * maxPerRow, (row + 1) * maxPerRow));
}

/** Abilities that a mode needs, in this chat and at this moment. */
export interface ModeAbilities {
  readonly edit: boolean;
  readonly drafts: boolean;
  readonly stream: boolean;
}

/** Returns the mode in which a reply can appear. */
export function possibleMode(mode: DeliveryMode, { drafts, edit, stream }: ModeAbilities): DeliveryMode {
  switch (mode) {
    case "draft":
      return drafts ? "draft" : possibleMode("edit", { drafts, edit, stream });
    case "native":
      return stream && edit ? "native" : possibleMode("edit", { drafts, edit, stream });
    case "edit":
      return edit ? "edit" : "buffered";
    case "buffered":
    case "final-only":
      return mode;
    default:
      return mode satisfies never;
  }
}

/** Returns how a private word after a press of a button reaches the person who pressed. */
export function wordForm(privateWords: PrivateWords, isDirectMessage: boolean): "private" | "message" {
  return privateWords !== "note" && isDirectMessage ? "message" : "private";
}

/** Returns the form in which a file reaches its readers. */
export function fileForm(
  { refusal, source }: Pick<OutgoingMedia, "refusal" | "source">,
  files: FileCapabilities | undefined,
): "file" | "link" | "word" {
  if (refusal !== undefined) return "word";
  if (files !== undefined) return "file";
  return source.kind === "address" ? "link" : "word";
}
