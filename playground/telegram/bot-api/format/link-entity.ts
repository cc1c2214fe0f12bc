import type { MessageEntity } from "grammy/types";
import { badRequest } from "../bot-api-error.ts";
import { checkLink } from "./check-link.ts";

/**
 * Returns the entity of a link in markup, or a mention for `tg://user?id=`. Undefined if the target is not a valid
 * address: the link is then plain text.
 */
export function linkEntity(target: string, offset: number, length: number): MessageEntity | undefined {
  const mention = mentionEntity(target, offset, length);
  if (mention !== undefined) return mention;
  const checked = checkLink(target);
  return "url" in checked ? { type: "text_link", offset, length, url: checked.url } : undefined;
}

/**
 * Returns the entity of a link that was given as an entity.
 * @throws {BotApiError} when the target is not a valid address
 */
export function requiredLinkEntity(target: string, offset: number, length: number): MessageEntity {
  const mention = mentionEntity(target, offset, length);
  if (mention !== undefined) return mention;
  const checked = checkLink(target);
  if ("problem" in checked) throw badRequest(`entity URL '${target}' is invalid: ${checked.problem}`);
  return { type: "text_link", offset, length, url: checked.url };
}

function mentionEntity(target: string, offset: number, length: number): MessageEntity | undefined {
  const userId = /^tg:(?:\/\/)?user\?id=(\d+)$/i.exec(target)?.[1];
  if (userId === undefined) return undefined;
  const user = { id: Number(userId), is_bot: false, first_name: "" };
  return { type: "text_mention", offset, length, user };
}
