import type { InlineKeyboardButton } from "grammy/types";
import type { OutgoingButton, OutgoingContent } from "../../src/core/chat/surface.ts";

/** Returns the inline keyboard of a message. An edit without one removes the message's keyboard. */
export function keyboardOf(content: Pick<OutgoingContent, "buttons"> | undefined): {
  reply_markup?: { inline_keyboard: InlineKeyboardButton[][] };
} {
  const rows = content?.buttons ?? [];
  if (rows.length === 0) return {};
  return { reply_markup: { inline_keyboard: rows.map((row) => row.map(toButton)) } };
}

function toButton(button: OutgoingButton): InlineKeyboardButton {
  switch (button.kind) {
    case "callback":
      return { text: button.label, callback_data: button.token };
    case "link":
      return { text: button.label, url: button.url };
    case "copy":
      return { text: button.label, copy_text: { text: button.text } };
    default:
      return button satisfies never;
  }
}
