import type { MessageContent, MessageEntity, TextualMessage } from "./message-schema.ts";
import { richMessageText } from "./rich-message-text.ts";

/** Returns the text or caption of a message, as its sender typed it, with its entities. */
export function typedText(message: TextualMessage): {
  readonly text: string;
  readonly entities: readonly MessageEntity[];
} {
  if (typeof message.text === "string") return { text: message.text, entities: message.entities ?? [] };
  if (typeof message.caption === "string") {
    return { text: message.caption, entities: message.caption_entities ?? [] };
  }
  return { text: "", entities: [] };
}

/** Returns the text that a person would read, with the targets of links, or a line about other content. */
export function readableText(message: TextualMessage): string {
  const { text, entities } = typedText(message);
  if (text !== "") return withLinkTargets(text, entities);
  const richText = message.rich_message ? richMessageText(message.rich_message.blocks) : "";
  return richText === "" ? describeContent(message) : richText;
}

/** The text of an unreadable message. Its sender still waits for an answer. */
export const unreadableContent = "[A message of a kind that this bot cannot read]";

/**
 * Adds the target of every text link after its label, unless the label is the target. Text before a link does not move,
 * so earlier offsets stay valid.
 */
export function withLinkTargets(text: string, entities: readonly MessageEntity[]): string {
  const links = entities
    .filter((entity) => entity.type === "text_link" && entity.url)
    .sort((a, b) => end(b) - end(a));
  let result = text;
  for (const link of links) {
    const label = text.slice(link.offset, end(link));
    const url = link.url ?? "";
    if (link.offset < 0 || link.length <= 0 || sameTarget(label, url)) continue;
    result = `${result.slice(0, end(link))} (${url})${result.slice(end(link))}`;
  }
  return result;
}

function end(entity: MessageEntity): number {
  return entity.offset + entity.length;
}

function sameTarget(label: string, url: string): boolean {
  const bare = (value: string) =>
    value
      .trim()
      .toLowerCase()
      .replace(/^https?:\/\//, "")
      .replace(/\/$/, "");
  return bare(label) === bare(url);
}

/** Returns one readable line for content without text. Empty for plain files, which are attachments. */
export function describeContent(content: MessageContent): string {
  const { venue, location, contact, poll, dice, game, invoice, checklist } = content;
  if (content.sticker) return content.sticker.emoji ? `[Sticker: ${content.sticker.emoji}]` : "[Sticker]";
  if (venue) return `[Venue: ${venue.title}, ${venue.address}${coordinates(venue.location, " ")}]`;
  if (location) return `[Location:${coordinates(location, " ")}]`;
  if (contact) {
    const name = [contact.first_name, contact.last_name].filter(Boolean).join(" ");
    return `[Contact: ${name}, ${contact.phone_number}]`;
  }
  if (poll) return `[Poll: ${poll.question}${listed(poll.options)}]`;
  if (dice) return `[Dice: ${dice.emoji} ${dice.value}]`;
  if (checklist) return `[Checklist: ${checklist.title}${listed(checklist.tasks)}]`;
  if (game) return `[Game: ${game.title}]`;
  if (invoice) return `[Invoice: ${invoice.title}]`;
  if (content.story) return "[Story]";
  if (content.paid_media) return "[Paid media]";
  if (content.giveaway || content.giveaway_winners) return "[Giveaway]";
  return describeGift(content) || describeShared(content);
}

function describeGift({ gift, unique_gift: uniqueGift }: MessageContent): string {
  if (!gift && !uniqueGift) return "";
  const name = gift?.gift?.sticker?.emoji ?? uniqueGift?.gift?.base_name;
  const label = name ? `Gift: ${name}` : "Gift";
  const words = gift?.text ?? uniqueGift?.text;
  return words ? `[${label}] ${words}` : `[${label}]`;
}

/** Describes the choice of a person who shared something with the bot by a button. */
function describeShared(content: MessageContent): string {
  const { chat_shared: chat, users_shared: users, web_app_data: data } = content;
  if (users) {
    const names = (users.users ?? []).map(
      (user) => [user.first_name, user.last_name].filter(Boolean).join(" ") || String(user.user_id),
    );
    return names.length === 0 ? "[Shared users]" : `[Shared users: ${names.join(", ")}]`;
  }
  if (chat) return `[Shared chat: ${chat.title ?? chat.chat_id}]`;
  return data ? `[Sent by the app "${data.button_text ?? ""}"] ${data.data}` : "";
}

function coordinates(location: MessageContent["location"], before: string): string {
  return location ? `${before}${location.latitude}, ${location.longitude}` : "";
}

function listed(items: readonly { readonly text: string }[] | null | undefined): string {
  return items && items.length > 0 ? `; ${items.map((item) => item.text).join(" / ")}` : "";
}
