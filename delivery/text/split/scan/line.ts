import { htmlBlockNames } from "micromark-util-html-tag-name";

/**
 * Width of a tab. This file reads one line of markdown alone; columns count tabs to the next multiple of four, as
 * CommonMark does.
 */
const TAB_STOP = 4;
const CODE_INDENT = 4;

export interface Fence {
  readonly marker: "`" | "~";
  readonly length: number;
  readonly indent: number;
}

export interface ListMarker {
  /** The bullet, or the delimiter of an ordered list. A different one begins a new list. */
  readonly kind: string;
  /** Undefined for bullets. */
  readonly number: number | undefined;
  /** Column of the marker. */
  readonly column: number;
  /** Column at which the content of the item begins. */
  readonly contentColumn: number;
  readonly empty: boolean;
}

export function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line);
}

export function indentOf(line: string): number {
  let column = 0;
  for (const character of line) {
    if (character === " ") column += 1;
    else if (character === "\t") column += TAB_STOP - (column % TAB_STOP);
    else break;
  }
  return column;
}

/** Removes up to `columns` of indentation from a line. */
export function removeIndent(line: string, columns: number): string {
  if (columns === 0) return line;
  return " ".repeat(Math.max(0, indentOf(line) - columns)) + line.trimStart();
}

export function parseFence(line: string): Fence | undefined {
  const match = /^[ ]{0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  const run = match?.[1];
  if (match === null || run === undefined) return undefined;
  if (run.startsWith("`") && match[2]?.includes("`")) return undefined;
  return { marker: run.startsWith("`") ? "`" : "~", length: run.length, indent: indentOf(line) };
}

export function closesFence(line: string, fence: Fence): boolean {
  const match = /^[ ]{0,3}(`{3,}|~{3,})[ \t]*$/.exec(line);
  const run = match?.[1];
  return run !== undefined && run.startsWith(fence.marker) && run.length >= fence.length;
}

export function isHeading(line: string): boolean {
  return /^ {0,3}#{1,6}(?:[ \t]|$)/.test(line);
}

export function isThematicBreak(line: string): boolean {
  return /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(line);
}

export function isSetextUnderline(line: string): boolean {
  return /^ {0,3}(?:=+|-+)[ \t]*$/.test(line);
}

export function isQuote(line: string): boolean {
  return /^ {0,3}>/.test(line);
}

export function isFootnoteDefinition(line: string): boolean {
  return /^ {0,3}\[\^[^\]\s]+\]:/.test(line);
}

export function parseListMarker(line: string): ListMarker | undefined {
  const match = /^( {0,3})([-*+]|(\d{1,9})([.)]))([ \t]+|$)(.*)$/.exec(line);
  if (match === null || isThematicBreak(line)) return undefined;
  const [, indent = "", marker = "", digits, delimiter, space = "", rest = ""] = match;
  const markerEnd = indent.length + marker.length;
  const empty = rest.trim() === "";
  const padding = indentOf(" ".repeat(markerEnd) + space) - markerEnd;
  const contentColumn = markerEnd + (empty || padding > CODE_INDENT ? 1 : padding);
  return {
    kind: delimiter ?? marker,
    number: digits === undefined ? undefined : Number(digits),
    column: indent.length,
    contentColumn,
    empty,
  };
}

/**
 * Tells how an HTML block that begins with this line ends: at a line that matches, or at the next blank line. Returns
 * undefined if no HTML block begins.
 */
export function parseHtmlStart(
  line: string,
  insideParagraph: boolean,
): { readonly until: RegExp | "blank" } | undefined {
  const text = /^ {0,3}(<.*)$/.exec(line)?.[1];
  if (text === undefined) return undefined;
  for (const [start, until] of HTML_BLOCKS) if (start.test(text)) return { until };
  if (HTML_BLOCK_TAG.test(text)) return { until: "blank" };
  return !insideParagraph && HTML_TAG_ALONE.test(text) ? { until: "blank" } : undefined;
}

const HTML_BLOCKS: readonly (readonly [RegExp, RegExp])[] = [
  [/^<(?:script|pre|style|textarea)(?:\s|>|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [/^<![a-z]/i, />/],
];
const HTML_BLOCK_TAG = new RegExp(`^</?(?:${htmlBlockNames.join("|")})(?:\\s|/?>|$)`, "i");
const HTML_TAG_ALONE = /^<\/?[a-z][a-z0-9-]*(?:\s[^<>]*)?\/?>[ \t]*$/i;
