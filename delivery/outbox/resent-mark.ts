import type { ReplyPolicy } from "../../src/core/delivery.ts";
import type { RichText, TextLimits } from "../../src/core/rich-text.ts";

const DEFAULT_MARK = "(sent again after a connection problem)";

/**
 * Returns the line in front of a message that is sent again after an unknown outcome. Always a single line, whatever
 * was configured.
 */
export function resentMark(policy: ReplyPolicy): string {
  const mark = (policy.resentMark ?? DEFAULT_MARK).replaceAll(/\s+/g, " ").trim();
  return mark === "" ? DEFAULT_MARK : mark;
}

export function withMark<Content extends RichText>(content: Content, mark: string): Content {
  if (content.blocks !== undefined) {
    const line = { type: "paragraph", text: [mark] } as const;
    return { ...content, text: `${mark}\n\n${content.text}`, blocks: [line, ...content.blocks] };
  }
  const shift = mark.length + 1;
  return {
    ...content,
    text: `${mark}\n${content.text}`,
    entities: content.entities.map((entity) => ({ ...entity, offset: entity.offset + shift })),
  };
}

/**
 * Returns the limits for planning. Every part leaves room for the mark, so that a part need not be cut again for it.
 */
export function limitsWithRoom(limits: TextLimits, mark: string): TextLimits {
  return {
    maxEntities: limits.maxEntities,
    maxLength: Math.max(limits.maxLength - mark.length - 1, Math.ceil(limits.maxLength / 2)),
  };
}
