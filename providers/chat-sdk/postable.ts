import type { AdapterPostableMessage, CardElement, FileUpload } from "chat";
import type { MessengerCapabilities } from "../../src/core/chat/messenger-event.ts";
import type { OutgoingButton, OutgoingContent } from "../../src/core/chat/surface.ts";

interface PostableAbilities extends Pick<MessengerCapabilities, "canEditMessages" | "supportsActions"> {
  /** Whether the text of cards is written in a format of its own, so that it is always sent as a card. */
  readonly hasCards: boolean;
  /** Whether the adapter gets Markdown. If not, it gets the platform's own text. */
  readonly takesMarkdown: boolean;
}

type CardChild = CardElement["children"][number];
type ActionsElement = Extract<CardChild, { type: "actions" }>;

/**
 * Returns a message for an adapter: a card of the SDK if the platform has buttons, otherwise text. A card without
 * buttons is one too, if it can be edited: one may have lost its buttons, or get some.
 */
export function toPostable(
  { buttons = [], isCard = false, text }: OutgoingContent,
  { canEditMessages, hasCards, supportsActions, takesMarkdown }: PostableAbilities,
  uploads: readonly FileUpload[] = [],
): AdapterPostableMessage {
  if (!isCard || !supportsActions || (buttons.length === 0 && !canEditMessages && !hasCards)) {
    const files = uploads.length > 0 && { files: [...uploads] };
    return takesMarkdown ? { markdown: text, ...files } : { raw: text, ...files };
  }
  const rows = buttons.map((row): ActionsElement => ({ type: "actions", children: row.flatMap(toElement) }));
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
