import type { ReplyPolicy } from "../../src/core/chat/delivery.ts";
import type { RichText, TextFormat, TextLimits } from "../../src/core/message/rich-text.ts";
import { textLength } from "../../src/core/text/text-length.ts";

const DEFAULT_MARK = "(sent again after a connection problem)";

/**
 * Returns the line in front of a message that is sent again after an unknown outcome. Always a single line, whatever
 * was configured.
 */
export function resentMark(policy: ReplyPolicy): string {
  const mark = (policy.resentMark ?? DEFAULT_MARK).replaceAll(/\s+/g, " ").trim();
  return mark === "" ? DEFAULT_MARK : mark;
}

export function withMark<Content extends RichText>(
  content: Content,
  mark: string,
  format?: TextFormat,
): Content {
  if (content.blocks !== undefined) {
    const line = { type: "paragraph", text: [mark] } as const;
    return { ...content, text: `${mark}\n\n${content.text}`, blocks: [line, ...content.blocks] };
  }
  const head = headOf(mark, format);
  return {
    ...content,
    text: head + content.text,
    entities: content.entities.map((entity) => ({ ...entity, offset: entity.offset + head.length })),
  };
}

/**
 * Returns the limits for planning. Every part leaves room for the mark, so that a part need not be cut again for it.
 */
export function limitsWithRoom(limits: TextLimits, mark: string, format?: TextFormat): TextLimits {
  const { maxLength, unit } = limits;
  const room = textLength(headOf(mark, format), unit);
  return { ...limits, maxLength: Math.max(maxLength - room, Math.ceil(maxLength / 2)) };
}

/** In markup, a paragraph of its own: the text may begin with a heading or a table. */
function headOf(mark: string, format: TextFormat | undefined): string {
  return typeof format === "object" ? format.escape(`${mark}\n\n`, true) : `${mark}\n`;
}
