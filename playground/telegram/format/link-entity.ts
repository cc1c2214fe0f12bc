import type { MessageEntity } from "grammy/types";

/** A link, or a mention for `tg://user?id=`; undefined when the target is no usable address. */
export function linkEntity(target: string, offset: number, length: number): MessageEntity | undefined {
  const userId = /^tg:\/\/user\?id=(\d+)$/.exec(target)?.[1];
  if (userId !== undefined) {
    const user = { id: Number(userId), is_bot: false, first_name: "" };
    return { type: "text_mention", offset, length, user };
  }
  const url = checkedUrl(target);
  return url === undefined ? undefined : { type: "text_link", offset, length, url };
}

/** The address as Telegram keeps it, or undefined when Telegram silently drops the link. */
export function checkedUrl(target: string): string | undefined {
  const withScheme = /^[a-z][a-z0-9+.-]*:/i.test(target) ? target : `http://${target}`;
  if (!URL.canParse(withScheme)) return undefined;
  const url = new URL(withScheme);
  if (!["http:", "https:", "tg:", "ton:", "tonsite:", "ftp:"].includes(url.protocol)) return undefined;
  if (url.protocol.startsWith("http") && url.hostname !== "localhost" && !url.hostname.includes("."))
    return undefined;
  return url.href;
}
