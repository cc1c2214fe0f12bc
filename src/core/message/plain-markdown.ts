/** Escapes plain text for Markdown. Line breaks stay. */
export function escapeMarkdown(text: string): string {
  return (
    text
      .replaceAll(/[\\`*_{}<>#+\-.!|~$&:@^=]/g, String.raw`\$&`)
      // A backslash before a bracket begins a formula.
      .replaceAll(/[()[\]]/g, (bracket) => `&#${bracket.charCodeAt(0)};`)
  );
}

/** Escapes plain text for Markdown, as one line. */
export function plainMarkdown(text: string): string {
  return escapeMarkdown(text.replaceAll(/\s+/g, " "));
}

/** Joins lines of Markdown with hard line breaks. */
export function hardLines(lines: readonly string[]): string {
  return lines.join("  \n");
}
