/** Escapes plain text for Markdown, as one line. */
export function plainMarkdown(text: string): string {
  return (
    text
      .replaceAll(/\s+/g, " ")
      .replaceAll(/[\\`*_{}<>#+\-.!|~$&:@^=]/g, String.raw`\$&`)
      // A backslash before a bracket begins a formula.
      .replaceAll(/[()[\]]/g, (bracket) => `&#${bracket.charCodeAt(0)};`)
  );
}

/** Joins lines of Markdown with hard line breaks. */
export function hardLines(lines: readonly string[]): string {
  return lines.join("  \n");
}
