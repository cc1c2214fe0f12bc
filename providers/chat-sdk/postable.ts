import type { AdapterPostableMessage, CardElement, FileUpload } from "chat";
import type { MessengerCapabilities } from "../../src/core/messenger-event.ts";
import type { OutgoingButton, OutgoingContent } from "../../src/core/surface.ts";

interface PostableAbilities extends Pick<MessengerCapabilities, "canEditMessages" | "supportsActions"> {
  /** Whether only the first row of buttons is shown. */
  readonly isOneRow: boolean;
}

type CardChild = CardElement["children"][number];
type ActionsElement = Extract<CardChild, { type: "actions" }>;

/**
 * Returns a message for an adapter: a card of the SDK if the platform has buttons, otherwise Markdown. A card without
 * buttons is one too, if it can be edited: one may have lost its buttons, or get some.
 */
export function toPostable(
  { buttons = [], isCard = false, text }: OutgoingContent,
  { canEditMessages, isOneRow, supportsActions }: PostableAbilities,
  uploads: readonly FileUpload[] = [],
): AdapterPostableMessage {
  if (!isCard || !supportsActions || (buttons.length === 0 && !canEditMessages))
    return { markdown: text, ...(uploads.length > 0 && { files: [...uploads] }) };
  const shown = isOneRow && buttons.length > 0 ? [buttons.flat()] : buttons;
  const rows = shown.map((row): ActionsElement => ({ type: "actions", children: row.flatMap(toElement) }));
  const children: CardChild[] = [{ type: "text", content: text }, ...rows];
  return { card: { type: "card", children }, fallbackText: text };
}

function toElement(button: OutgoingButton): ActionsElement["children"] {
  switch (button.kind) {
    case "callback":
      return [{ type: "button", id: button.token, label: button.label }];
    case "link":
      return [{ type: "link-button", label: button.label, url: button.url }];
    case "copy":
      // The surface has no buttons that copy. The card's text has the text to copy.
      return [];
    default:
      return button satisfies never;
  }
}
