import type { Table, TableCell, TableRow } from "mdast";
import stringWidth from "string-width";
import type { Mark } from "./piece.ts";
import { flattenInline, plainText } from "./flatten-inline.ts";
import type { FlattenContext } from "./flatten-inline.ts";

const COLUMN_GAP = " │ ";
const RULE_GAP = "─┼─";

/** Where a table stands: see `Place`. */
interface TablePlace {
  readonly marks: readonly Mark[];
  readonly indent: string;
}

/**
 * A table that fits `tableWidth` columns and hides no address becomes aligned text; any other becomes rows of
 * "header: value" lines, with a blank line between rows.
 */
export function flattenTable(table: Table, context: FlattenContext, place: TablePlace): void {
  if (!fitsWidth(table, context)) return writeRows(table, context, place);
  const { lines, rule } = alignTable(table);
  const [header = "", ...body] = lines;
  context.writer.write([header, rule, ...body].join("\n"), [...place.marks, { kind: "pre" }]);
}

/** Goes on with a table whose header was shown before. */
export function continueTable(
  table: Table,
  context: FlattenContext,
  place: TablePlace,
  aligned: boolean,
): void {
  if (table.children.length < 2) return;
  if (!aligned) return writeRows(table, context, place);
  context.writer.write(alignTable(table).lines.slice(1).join("\n"), [...place.marks, { kind: "pre" }]);
}

export function fitsWidth(table: Table, context: FlattenContext): boolean {
  const hidesAddress = table.children.some((row) => row.children.some((cell) => hasHiddenAddress(cell)));
  return !hidesAddress && alignTable(table).width <= context.tableWidth;
}

function alignTable(table: Table): { lines: string[]; rule: string; width: number } {
  const cells = table.children.map((row) => row.children.map((cell) => plainText(cell.children).trim()));
  const columns = Math.max(...cells.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(1, ...cells.map((row) => stringWidth(row[column] ?? ""))),
  );
  const lines = cells.map((row) =>
    widths
      .map((size, column) => pad(row[column] ?? "", size, table.align?.[column] ?? "left"))
      .join(COLUMN_GAP)
      .trimEnd(),
  );
  return {
    lines,
    rule: widths.map((size) => "─".repeat(size)).join(RULE_GAP),
    width: widths.reduce((sum, value) => sum + value, 0) + (columns - 1) * COLUMN_GAP.length,
  };
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
      if (label !== "") context.writer.write(`${label}: `, marks);
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
