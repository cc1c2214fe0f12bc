import type { Adapter } from "chat";
import { textLength } from "../../../src/core/text/text-length.ts";
import type { ButtonLimits, OutgoingButton } from "../../../src/core/chat/surface.ts";

/** A message has at most 32,000 bytes with all its fields. The rest is room for the names of the card and its thread. */
const MOST_BYTES = 31_000;
/** JSON writes a quotation mark in two bytes. The markup of cards has two of them in at least 23 bytes, and a backslash never. */
const ESCAPED_SHARE = 1.1;
/** A card's token, which names its button, is ASCII. */
const TOKEN_BYTES = 36;
/** The names of a button's fields, and of the list that it may have for itself. */
const FIELD_BYTES = 150;

/** Text and buttons of a card share the limit of its message. */
export function buttonLimitsOf(adapter: Adapter): ButtonLimits {
  const { endpointUrl } = adapter as { readonly endpointUrl?: unknown };
  const functionBytes = typeof endpointUrl === "string" ? jsonBytes(endpointUrl) : TOKEN_BYTES;
  const bytesOf = (button: OutgoingButton): number =>
    FIELD_BYTES +
    jsonBytes(button.label) +
    (button.kind === "link" ? jsonBytes(button.url) : TOKEN_BYTES + functionBytes);
  const textRoom = (buttons: readonly OutgoingButton[]): number =>
    Math.floor((MOST_BYTES - buttons.reduce((sum, button) => sum + bytesOf(button), 0)) / ESCAPED_SHARE);
  return {
    maxRows: Infinity,
    maxPerRow: Infinity,
    maxTextLength: textRoom([]),
    maxLabelLength: Infinity,
    textRoom,
  };
}

function jsonBytes(text: string): number {
  return textLength(JSON.stringify(text), "utf8-bytes");
}
