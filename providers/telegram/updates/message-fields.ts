import type { MessageEntity } from "grammy/types";
import type { RichText } from "../../../src/core/message/rich-text.ts";
import type { Address } from "../../../src/core/chat/surface.ts";

/** Returns the topic's field for a call. The General topic has no id here, because no call accepts it. */
export function topicOf(address: Address): { message_thread_id?: number } {
  return address.topicId === undefined ? {} : { message_thread_id: Number(address.topicId) };
}

/** Shortens a text, because the platform refuses a longer one. */
export function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

export function toMessageEntities({ entities }: RichText): MessageEntity[] {
  return entities.map(toMessageEntity).filter((entity) => entity !== undefined);
}

function toMessageEntity({
  type,
  offset,
  length,
  url,
  language,
}: RichText["entities"][number]): MessageEntity | undefined {
  switch (type) {
    case "text_link":
      return url === undefined ? undefined : { type, offset, length, url };
    case "pre":
      return language === undefined ? { type, offset, length } : { type, offset, length, language };
    default:
      return { type, offset, length };
  }
}
