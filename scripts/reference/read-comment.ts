/** A documentation comment, without its stars. */
export interface Comment {
  /** Its text: paragraphs and lists. */
  readonly text: string;
  /** The value of `@default`. */
  readonly fallback: string | undefined;
  readonly throws: readonly string[];
  readonly isInternal: boolean;
}

const TAG = /(?:^|\s)@(internal|public|default|throws|param|example|deprecated|returns)\b/;

/** Reads a documentation comment. Tags begin at `@`; everything before the first one is its text. */
export function readComment(source: string): Comment {
  const lines = source
    .replace(/^[\s\S]*?\/\*\*/, "")
    .replace(/\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\*( |$)/, "").trimEnd());
  const [text = "", ...tags] = lines.join("\n").trim().split(new RegExp(TAG.source, "g"));
  let fallback: string | undefined;
  let rest = "";
  const throws: string[] = [];
  let isInternal = false;
  for (let at = 0; at < tags.length; at += 2) {
    const [value = "", ...after] = (tags[at + 1] ?? "").trim().split(/\n\n/);
    if (tags[at] === "internal") isInternal = true;
    if (tags[at] === "throws") throws.push(oneLine(value));
    // The default of a parameter is not the member's.
    if (tags[at] === "default" && tags[at - 2] !== "param") {
      fallback = oneLine(value);
      // A list may come after a default that ends its paragraph.
      rest = after.join("\n\n");
    }
  }
  return { text: [text.trim(), rest].filter(Boolean).join("\n\n"), fallback, throws, isInternal };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
