import type { AlignType, List, ListItem, Paragraph, Root, RootContent, Table, TableRow } from "mdast";
import { parseSimpleInline } from "./parse-simple-inline.ts";

/**
 * Syntax that this parser leaves to the full parser: escapes, references, tags, formulas, images, addresses, and
 * characters that the full parser replaces.
 */
const HARD = /[\\&<$\t\r\0\ufeff@]|!\[|www\.|~~|``/i;
/** The start of a line that may not be an ordinary line of a paragraph. */
const BLOCK_START = /^(?:[#>|:=+-]|\*(?!\*?[^\s*])|_(?!_?[^\s_])|\d{1,9}[.)](?:\s|$)|$)/;
const HEADING = /^(#{1,6}) +(\S.*)$/;
const UNDERLINE = /^(=+|-+)$/;
const ITEM = /^([-*+]|(\d{1,9})([.)])) {1,4}(?=[^ ])/;
const QUOTE = /^> ?(?=[^ >])/;
const TABLE_ROW = /^\|[^\n]*\|$/;
const TABLE_RULE = /^:?-+:?$/;

/**
 * Parses the usual segments quickly: one paragraph, heading, item with nested items, quote or table, with ordinary
 * formatting.
 *
 * Returns the tree that the full parser would return, without positions. Returns undefined if the segment may contain
 * anything else.
 */
export function parseSimple(source: string): Root | undefined {
  if (HARD.test(source)) return undefined;
  const lines = trimEnd(source).split("\n");
  const block = parseBlock(lines);
  return block && { type: "root", children: [block] };
}

/** Removes spaces and line breaks at the end. */
function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && (text.charAt(end - 1) === " " || text.charAt(end - 1) === "\n")) end -= 1;
  return text.slice(0, end);
}

function parseBlock(lines: readonly string[]): RootContent | undefined {
  const [first = "", second = ""] = lines;
  if (first.startsWith("#")) return lines.length === 1 ? parseHeading(first) : undefined;
  if (ITEM.test(first))
    return lines.some((line, at) => at > 0 && isItem(line)) ? parseItems(lines) : parseItem(lines);
  if (first.startsWith(">")) {
    if (!lines.every((line) => QUOTE.test(line))) return undefined;
    const paragraph = parseParagraph(lines.map((line) => line.replace(QUOTE, "")));
    return paragraph && { type: "blockquote", children: [paragraph] };
  }
  if (first.startsWith("|")) return parseTable(lines);
  if (first.startsWith(" ")) return undefined;
  if (lines.length === 2 && UNDERLINE.test(second)) {
    const paragraph = parseParagraph([first]);
    return (
      paragraph && { type: "heading", depth: second.startsWith("=") ? 1 : 2, children: paragraph.children }
    );
  }
  return parseParagraph(lines);
}

function parseHeading(line: string): RootContent | undefined {
  const [, marker = "", title = ""] = HEADING.exec(line) ?? [];
  if (title === "" || title.endsWith("#")) return undefined;
  const depths = [1, 2, 3, 4, 5, 6] as const;
  const children = parseSimpleInline(title);
  return children && { type: "heading", depth: depths[marker.length - 1] ?? 6, children };
}

function parseParagraph(lines: readonly string[]): Paragraph | undefined {
  const texts = lines.map((line) => line.replace(/^ +/, ""));
  if (texts.some((text) => BLOCK_START.test(text))) return undefined;
  // Two spaces at the end of a line are a hard line break.
  if (texts.some((text) => /\s$/.test(text))) return undefined;
  const children = parseSimpleInline(texts.join("\n"));
  return children && { type: "paragraph", children };
}

function isItem(line: string): boolean {
  return ITEM.test(line.trimStart());
}

function parseItem(lines: readonly string[]): List | undefined {
  const [first = "", ...rest] = lines;
  const marker = ITEM.exec(first);
  const item = marker && itemOf([first.slice(marker[0].length), ...rest]);
  return item ? listOf(marker, item) : undefined;
}

function itemOf(lines: readonly string[]): ListItem | undefined {
  const paragraph = parseParagraph(lines);
  return paragraph && { type: "listItem", spread: false, checked: null, children: [paragraph] };
}

function listOf(marker: RegExpExecArray, item: ListItem): List {
  const digits = marker[2];
  const start = digits === undefined ? null : Number(digits);
  return { type: "list", ordered: digits !== undefined, start, spread: false, children: [item] };
}

/** A list while it is being read. */
interface OpenList {
  readonly list: List;
  readonly kind: string;
  readonly column: number;
  contentColumn: number;
}

/**
 * Parses items of one line each. Every item starts in the column of an earlier item, or where the text of the last one
 * begins.
 */
function parseItems(lines: readonly string[]): List | undefined {
  const open: OpenList[] = [];
  for (const line of lines) {
    const column = line.length - line.replace(/^ +/, "").length;
    const marker = ITEM.exec(line.slice(column));
    const item = marker && itemOf([line.slice(column + marker[0].length)]);
    if (!marker || !item) return undefined;
    const kind = marker[3] ?? marker[0].charAt(0);
    const contentColumn = column + marker[0].length;
    while (open.length > 1 && column < (open.at(-1)?.column ?? 0)) open.pop();
    const last = open.at(-1);
    if (last === undefined || column === last.contentColumn) {
      if (last !== undefined && marker[2] !== undefined && Number(marker[2]) !== 1) return undefined;
      const list = listOf(marker, item);
      last?.list.children.at(-1)?.children.push(list);
      open.push({ list, kind, column, contentColumn });
    } else if (column === last.column && kind === last.kind && open.length > 1) {
      last.list.children.push(item);
      last.contentColumn = contentColumn;
    } else {
      return undefined;
    }
  }
  return open[0]?.list;
}

function parseTable(lines: readonly string[]): Table | undefined {
  if (lines.length < 2 || !lines.every((line) => TABLE_ROW.test(line))) return undefined;
  const rows = lines.map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => trimEnd(cell.replace(/^ +/, ""))),
  );
  const [header = [], rule = [], ...body] = rows;
  if (!rule.every((cell) => TABLE_RULE.test(cell))) return undefined;
  if (rows.some((row) => row.length !== header.length)) return undefined;
  const children: TableRow[] = [];
  for (const row of [header, ...body]) {
    const cells = row.map((cell) => parseSimpleInline(cell));
    const parsed: TableRow = { type: "tableRow", children: [] };
    for (const cell of cells) {
      if (cell === undefined) return undefined;
      parsed.children.push({ type: "tableCell", children: cell });
    }
    children.push(parsed);
  }
  return { type: "table", align: rule.map(alignOf), children };
}

function alignOf(cell: string): AlignType {
  if (cell.startsWith(":")) return cell.endsWith(":") ? "center" : "left";
  return cell.endsWith(":") ? "right" : null;
}
