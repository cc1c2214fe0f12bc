import type { BlockContent, DefinitionContent, List, ListItem, RootContent } from "mdast";
import type { Mark, Separator } from "../pack/piece.ts";
import { flattenInline, indentLines } from "./flatten-inline.ts";
import type { FlattenContext } from "./flatten-inline.ts";
import { flattenTable } from "./flatten-table.ts";
import type { TableShape } from "./flatten-table.ts";

const BULLETS = ["•", "◦", "▪"] as const;
const RULE = "──────────";
const INDENT = "  ";
/** Largest indentation, so that text stays on a phone's screen. */
const MAX_INDENT = 12;

export interface Place {
  readonly marks: readonly Mark[];
  /** Text added after every line break. */
  readonly indent: string;
  /** Number of lists around the block. */
  readonly depth: number;
}

export const TOP: Place = { marks: [], indent: "", depth: 0 };

export interface BlockContext extends FlattenContext {
  /**
   * True if the definition must be shown as text, because an earlier text refers to it and was sent without the link.
   */
  readonly showsDefinition: (identifier: string) => boolean;
  /** Called with the way each table is shown. */
  readonly onTable?: (shape: TableShape) => void;
}

/** Writes blocks with blank lines between them, or with line breaks inside a tight list item. */
export function flattenBlocks(
  nodes: readonly (RootContent | BlockContent | DefinitionContent)[],
  context: BlockContext,
  place: Place,
  tight = false,
): void {
  let after: Separator = "block";
  for (const [index, node] of nodes.entries()) {
    if (index > 0) {
      const isAdjacent = place.depth > 0 && gapBetween(nodes[index - 1], node) === 1;
      const close = (tight && (node.type !== "paragraph" || after !== "block")) || isAdjacent;
      const indent = standsAlone(node) ? "" : place.indent;
      context.writer.separate(`${close ? "\n" : "\n\n"}${indent}`, after, place.marks);
    }
    flattenBlock(node, context, place);
    after = node.type === "heading" ? "weak" : "block";
  }
  if (after === "weak") context.writer.separate("\n", "weak", place.marks);
}

/** Number of lines from the end of one block to the start of the next; 0 if it is not known. */
function gapBetween(before: Positioned | undefined, node: Positioned): number {
  const end = before?.position?.end.line;
  return end === undefined ? 0 : (node.position?.start.line ?? end) - end;
}

interface Positioned {
  readonly position?: { readonly start: { readonly line: number }; readonly end: { readonly line: number } };
}

/** Removes tags that only add space. */
export function withoutBreakTags(html: string): string {
  return /^(?:<br\s*\/?>\s*)+$/i.test(html) ? "" : html;
}

/** True for code and quotes. They fill the width of a message, so nothing may stand before them on their line. */
export function standsAlone(node: { readonly type: string }): boolean {
  return node.type === "code" || node.type === "blockquote" || node.type === "table";
}

function flattenBlock(
  node: RootContent | BlockContent | DefinitionContent,
  context: BlockContext,
  place: Place,
): void {
  const { writer } = context;
  switch (node.type) {
    case "paragraph":
      return flattenInline(node.children, context, place.marks, place.indent);
    case "heading":
      return flattenInline(node.children, context, [...place.marks, { kind: "bold" }], place.indent);
    case "thematicBreak":
      return writer.write(RULE, place.marks);
    case "blockquote":
      return flattenBlocks(node.children, context, insideQuote(place, { kind: "quote" }));
    case "list":
      return flattenList(node, context, place, node.start ?? 1);
    case "code": {
      const pre: Mark = node.lang ? { kind: "pre", language: node.lang } : { kind: "pre" };
      return writer.write(trimBlankLines(node.value), [...place.marks, pre]);
    }
    case "html":
      return writer.write(indentLines(withoutBreakTags(node.value), place.indent), place.marks);
    case "table": {
      const shape = flattenTable(node, context, place);
      return context.onTable?.(shape);
    }
    case "definition":
      if (context.showsDefinition(node.identifier)) {
        writer.write(`[${node.label ?? node.identifier}]: ${node.url}`, place.marks);
      }
      return undefined;
    case "footnoteDefinition":
      writer.write(`[^${node.label ?? node.identifier}]: `, place.marks);
      return flattenBlocks(node.children, context, insideFootnote(place));
    case "listItem":
      return flattenItem(node, context, place, undefined);
    case "yaml":
      return writer.write(node.value, place.marks);
    case "tableRow":
    case "tableCell":
      return undefined;
    default:
      return flattenInline([node], context, place.marks, place.indent);
  }
}

/** Writes a list. `start` is the number of its first item. A segment that continues a list passes its own number. */
export function flattenList(list: List, context: BlockContext, place: Place, start: number): void {
  for (const [index, item] of list.children.entries()) {
    if (index > 0) separateItems(list.children[index - 1], item, context, place);
    flattenItem(item, context, place, list.ordered ? start + index : undefined);
  }
}

/** Separates two items, and keeps a blank line between them. */
export function separateItems(
  previous: ListItem | undefined,
  item: ListItem,
  { writer }: BlockContext,
  place: Place,
): void {
  const gap = gapBetween(previous, item);
  writer.separate(`${gap > 1 ? "\n\n" : "\n"}${place.indent}`, "line", place.marks);
}

function flattenItem(item: ListItem, context: BlockContext, place: Place, number: number | undefined): void {
  const bullet = context.lists?.bullet ?? BULLETS[place.depth % BULLETS.length] ?? BULLETS[0];
  const box = item.checked === true ? "☑" : "☐";
  const isTask = item.checked === true || item.checked === false;
  const label = number === undefined ? (isTask ? box : bullet) : isTask ? `${number}. ${box}` : `${number}.`;
  const [first] = item.children;
  const goesOn = first !== undefined && (first.type === "paragraph" || first.type === "heading");
  if (goesOn) context.writer.label(`${label} `, place.marks);
  else context.writer.write(label, place.marks);
  const inside = insideItem(place, context);
  if (first !== undefined && !goesOn) {
    context.writer.separate(standsAlone(first) ? "\n" : `\n${inside.indent}`, "weak", inside.marks);
  }
  flattenBlocks(item.children, context, inside, item.spread !== true);
}

export function insideItem(place: Place, { lists }: Pick<BlockContext, "lists">): Place {
  return { ...place, indent: indentMore(place.indent, lists?.indent), depth: place.depth + 1 };
}

/** Returns the surroundings inside a quote. Every line of a quote begins at the margin. */
export function insideQuote(place: Place, mark: Mark): Place {
  return { ...place, marks: [...place.marks, mark], indent: "" };
}

export function insideFootnote(place: Place): Place {
  return { ...place, indent: indentMore(place.indent) };
}

function indentMore(indent: string, more = INDENT): string {
  return indent.length < MAX_INDENT ? indent + more : indent;
}

/** Removes blank lines around code, which are layout. The indentation of the first line is content. */
export function trimBlankLines(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}
