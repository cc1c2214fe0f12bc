import type { Table, TableCell, TableRow } from "mdast";
import stringWidth from "string-width";
import type { Mark } from "../pack/piece.ts";
import { flattenInline, plainText } from "./flatten-inline.ts";
import type { FlattenContext } from "./flatten-inline.ts";

const COLUMN_GAP = " │ ";
const RULE_GAP = "─┼─";

/** The surroundings of a table: see `Place`. */
interface TablePlace {
  readonly marks: readonly Mark[];
  readonly indent: string;
}

/** The way a table was shown, so that rows that arrive later look the same. */
export interface TableShape {
  /** Set if the table was shown aligned. */
  readonly mark: Mark | undefined;
  readonly widths: readonly number[];
}

/**
 * Shows a table as text. A table that fits into `tableWidth` columns and hides no address is aligned. Any other table
 * becomes "header: value" lines, with a blank line between rows.
 */
export function flattenTable(table: Table, context: FlattenContext, place: TablePlace): TableShape {
  const cells = textsOf(table);
  const widths = widthsOf(cells, []);
  if (!fitsWidth(table, widths, context)) {
    writeRows(table, context, place);
    return { mark: undefined, widths };
  }
  const [header = "", ...body] = align(cells, widths, table);
  const rule = widths.map((size) => "─".repeat(size)).join(RULE_GAP);
  const mark: Mark = { kind: "pre" };
  context.writer.write([header, rule, ...body].join("\n"), [...place.marks, mark]);
  return { mark, widths };
}

/** Shows more rows of a table whose header was shown before, starting on a new line. */
export function continueTable(
  table: Table,
  context: FlattenContext,
  place: TablePlace,
  shape: TableShape | undefined,
): TableShape {
  const cells = textsOf(table);
  const widths = widthsOf(cells, shape?.widths ?? []);
  const mark = shape?.mark;
  if (cells.length < 2) return { mark, widths };
  if (mark === undefined) writeRows(table, context, place);
  else context.writer.write(`\n${align(cells, widths, table).slice(1).join("\n")}`, [...place.marks, mark]);
  return { mark, widths };
}

function textsOf(table: Table): readonly (readonly string[])[] {
  return table.children.map((row) => row.children.map((cell) => plainText(cell.children).trim()));
}

function fitsWidth(table: Table, widths: readonly number[], context: FlattenContext): boolean {
  const hidesAddress = table.children.some((row) => row.children.some((cell) => hasHiddenAddress(cell)));
  const width = widths.reduce((sum, value) => sum + value, 0) + (widths.length - 1) * COLUMN_GAP.length;
  return !hidesAddress && width <= context.tableWidth;
}

/** Returns the widths of the columns. No column is narrower than in `before`. */
function widthsOf(cells: readonly (readonly string[])[], before: readonly number[]): readonly number[] {
  const widths: number[] = [];
  for (const row of cells) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? before[column] ?? 1, stringWidth(cell));
    }
  }
  return widths;
}

function align(
  cells: readonly (readonly string[])[],
  widths: readonly number[],
  table: Table,
): readonly string[] {
  return cells.map((row) =>
    widths
      .map((size, column) => pad(row[column] ?? "", size, table.align?.[column] ?? "left"))
      .join(COLUMN_GAP)
      .trimEnd(),
  );
}

function pad(text: string, width: number, align: "left" | "right" | "center"): string {
  const space = Math.max(0, width - stringWidth(text));
  if (align === "right") return " ".repeat(space) + text;
  if (align === "left") return text + " ".repeat(space);
  const left = Math.floor(space / 2);
  return " ".repeat(left) + text + " ".repeat(space - left);
}

function hasHiddenAddress(cell: TableCell): boolean {
  return cell.children.some(
    (node) =>
      node.type === "image" ||
      node.type === "imageReference" ||
      node.type === "linkReference" ||
      (node.type === "link" && !node.url.endsWith(plainText(node.children))),
  );
}

function writeRows(table: Table, context: FlattenContext, place: TablePlace): void {
  const { marks, indent } = place;
  const [header, ...rows] = table.children;
  const labels = (header?.children ?? []).map((cell) => plainText(cell.children).trim());
  if (rows.length === 0 && header !== undefined) return writeHeader(header, context, place);
  for (const [number, row] of rows.entries()) {
    if (number > 0) context.writer.separate(`\n\n${indent}`, "line", marks);
    for (const [column, cell] of row.children.entries()) {
      if (cell.children.length === 0) continue;
      context.writer.separate(`\n${indent}`, "line", marks);
      const label = labels[column] ?? "";
      if (label !== "") context.writer.label(`${label}: `, marks);
      flattenInline(cell.children, context, marks, indent);
    }
  }
}

function writeHeader(header: TableRow, context: FlattenContext, place: TablePlace): void {
  const { marks, indent } = place;
  for (const [column, cell] of header.children.entries()) {
    if (column > 0) context.writer.write(COLUMN_GAP, marks);
    flattenInline(cell.children, context, marks, indent);
  }
}
