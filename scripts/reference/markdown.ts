import type { Comment } from "./read-comment.ts";

/** Returns a table. Cells are one line each. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows]
    .map(
      (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`,
    )
    .join("\n");
}

export function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

/** Returns a comment as one line, for a cell. List items become sentences. */
export function paragraph({ text }: Comment): string {
  return text
    .replaceAll(/ \(I\d+\)/g, "")
    .replaceAll(/([.:])?\n\n?- /g, (_, end?: string) => (end === undefined ? "; " : `${end} `))
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Returns the default for a cell: a value as code, a description as it is. */
export function defaultText(fallback: string | undefined): string {
  if (fallback === undefined) return "";
  return /^(?:"[^"]*"|\[.*\]|\d+|true|false)$/.test(fallback) ? code(fallback) : fallback;
}
