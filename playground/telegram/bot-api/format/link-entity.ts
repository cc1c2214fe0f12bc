import type { MessageEntity } from "grammy/types";
import { badRequest } from "../bot-api-error.ts";
import { checkLink } from "./check-link.ts";

/**
 * A link as markup gives it, or a mention for `tg://user?id=`. Undefined when the target is no usable address: what
 * markup links to nothing is shown as plain text.
 */
export function linkEntity(target: string, offset: number, length: number): MessageEntity | undefined {
  const mention = mentionEntity(target, offset, length);
  if (mention !== undefined) return mention;
  const checked = checkLink(target);
  return "url" in checked ? { type: "text_link", offset, length, url: checked.url } : undefined;
}

/** The same for a link that comes as an entity. @throws {BotApiError} for what is no address */
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
