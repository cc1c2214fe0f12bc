import type { RichText } from "../../../../src/core/message/rich-text.ts";

/** A message with its formatting written as `<type>`. */
export function shown({ text, entities }: RichText): string {
  const marks = entities.flatMap(({ type, offset, length, url, language }, order) => [
    { at: offset, order, mark: `<${[type, url, language].filter(Boolean).join(" ")}>` },
    { at: offset + length, order: -order - 1, mark: `</${type}>` },
  ]);
  marks.sort((left, right) => left.at - right.at || left.order - right.order);
  let result = "";
  let at = 0;
  for (const { at: next, mark } of marks) {
    result += text.slice(at, next) + mark;
    at = next;
  }
  return result + text.slice(at);
}
