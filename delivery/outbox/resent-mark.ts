import type { ReplyPolicy } from "../../src/core/delivery.ts";
import type { RichText, TextLimits } from "../../src/core/rich-text.ts";

const DEFAULT_MARK = "(sent again after a connection problem)";

/** The line in front of a message that is sent again after an unknown outcome; one line, whatever was configured. */
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

/** The limits for planning: every part leaves room for the mark, because a part must not be cut anew for it. */
export function limitsWithRoom(limits: TextLimits, mark: string): TextLimits {
  return {
    maxEntities: limits.maxEntities,
    maxLength: Math.max(limits.maxLength - mark.length - 1, Math.ceil(limits.maxLength / 2)),
  };
}
