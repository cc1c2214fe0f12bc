/** Unit in which a platform counts the length of a text. */
export type LengthUnit = "utf16" | "code-points" | "utf8-bytes";

/** Returns the length of a text as a platform counts it. */
export function textLength(text: string, unit: LengthUnit = "utf16"): number {
  switch (unit) {
    case "utf16":
      return text.length;
    case "code-points":
      return text.length - (text.match(PAIRS)?.length ?? 0);
    case "utf8-bytes":
      return encoder.encode(text).length;
    default:
      return unit satisfies never;
  }
}

const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/g;
const encoder = new TextEncoder();
