import type { OutgoingContent } from "../../src/core/chat/surface.ts";

const ZERO_WIDTH_SPACE = "\u200b";
/** Looks like the sign, and is as long. */
const WIDE_SIGN = "\uff20";
/** `@name`. A sign after a letter belongs to an address of e-mail, or to a command. */
const MENTION = /(?<![\p{L}\p{N}_])@(?=[a-z])/giu;
const MAX_LENGTH = 4096;
const MAX_CAPTION_LENGTH = 1024;

/**
 * Breaks the mentions in a card with an invisible character, so that it reads the same and notifies no one. Cards quote
 * names and texts of people and of the model. Telegram reads no mention in code.
 */
export function quietCard<Content extends OutgoingContent>(message: Content): Content {
  if (message.isCard !== true) return message;
  const { entities, image, text } = message;
  const code = entities.filter(({ type }) => type === "code" || type === "pre");
  const breaks = [...text.matchAll(MENTION)]
    .map(({ index }) => index + 1)
    .filter((at) => !code.some(({ length, offset }) => at > offset && at <= offset + length));
  if (breaks.length === 0) return message;
  const limit = image === undefined ? MAX_LENGTH : MAX_CAPTION_LENGTH;
  if (text.length + breaks.length > limit) return { ...message, text: withWideSigns(text, breaks) };
  const parts = [0, ...breaks].map((at, index) => text.slice(at, breaks[index]));
  const moved = (at: number, isMoved: (one: number) => boolean): number => at + breaks.filter(isMoved).length;
  return {
    ...message,
    text: parts.join(ZERO_WIDTH_SPACE),
    entities: entities.map((entity) => {
      const end = entity.offset + entity.length;
      const offset = moved(entity.offset, (one) => one <= entity.offset);
      return { ...entity, offset, length: moved(end, (one) => one < end) - offset };
    }),
  };
}

function withWideSigns(text: string, breaks: readonly number[]): string {
  return [0, ...breaks]
    .map((at, index) =>
      text.slice(at, breaks[index]).replace(/@$/, (sign) => (index < breaks.length ? WIDE_SIGN : sign)),
    )
    .join("");
}
