import type { PhrasingContent } from "mdast";
import type { ListSigns } from "../../../../src/core/message/markup.ts";
import type { Mark } from "../pack/piece.ts";
import type { PieceWriter } from "./piece-writer.ts";
import type { LinkTargets } from "../parse/parse-markdown.ts";

export interface FlattenContext {
  readonly writer: PieceWriter;
  readonly targets: LinkTargets;
  readonly canLink: (url: string) => boolean;
  readonly tableWidth: number;
  /** See `Markup.lists`. */
  readonly lists?: ListSigns | undefined;
}

/**
 * Writes inline content. `indent` is added after every line break, so that the lines of a list item stay in their
 * column.
 */
export function flattenInline(
  nodes: readonly PhrasingContent[],
  context: FlattenContext,
  marks: readonly Mark[],
  indent: string,
): void {
  for (const [index, node] of nodes.entries()) {
    const isAfterBreak = isBreakTag(nodes[index - 1]) && node.type === "text";
    const shown = isAfterBreak ? { ...node, value: node.value.replace(/^\s+/, "") } : node;
    flattenPhrase(shown, context, marks, indent);
  }
}

/** Recognizes `<br>`. Models write it where markdown has no line break, as in the cells of a table. */
function isBreakTag(node: PhrasingContent | undefined): boolean {
  return node?.type === "html" && BREAK_TAG.test(node.value);
}

const BREAK_TAG = /^<br\s*\/?>$/i;

function flattenPhrase(
  node: PhrasingContent,
  context: FlattenContext,
  marks: readonly Mark[],
  indent: string,
): void {
  const { writer } = context;
  const children = (inner: readonly PhrasingContent[], kind: "bold" | "italic" | "strikethrough"): void =>
    flattenInline(inner, context, [...marks, { kind }], indent);
  switch (node.type) {
    case "html":
      if (isBreakTag(node)) return writer.write(`\n${indent}`, marks);
      return writer.write(indentLines(node.value, indent), marks);
    case "text":
      return writer.write(indentLines(node.value, indent), marks);
    case "inlineCode":
      return writer.write(node.value, [...marks, { kind: "code" }]);
    case "break":
      return writer.write(`\n${indent}`, marks);
    case "strong":
      return children(node.children, "bold");
    case "emphasis":
      return children(node.children, "italic");
    case "delete":
      return children(node.children, "strikethrough");
    case "link":
      return flattenLink(node.url, node.children, context, marks, indent);
    case "linkReference":
      return flattenLink(context.targets.get(node.identifier) ?? "", node.children, context, marks, indent);
    case "image":
      return flattenImage(node.url, node.alt, context, marks);
    case "imageReference":
      return flattenImage(context.targets.get(node.identifier) ?? "", node.alt, context, marks);
    case "footnoteReference":
      return writer.write(`[^${node.label ?? node.identifier}]`, marks);
    default: {
      const unknown: never = node;
      return unknown;
    }
  }
}

function flattenLink(
  url: string,
  children: readonly PhrasingContent[],
  context: FlattenContext,
  marks: readonly Mark[],
  indent: string,
): void {
  const { writer } = context;
  const content: readonly PhrasingContent[] = children.length > 0 ? children : [{ type: "text", value: url }];
  const text = plainText(content);
  const bare = text === url || `http://${text}` === url || `mailto:${text}` === url;
  if (url === "" || (bare && url.startsWith("mailto:")))
    return flattenInline(content, context, marks, indent);
  if (context.canLink(url)) {
    const link: Mark = bare ? { kind: "link", url, display: text } : { kind: "link", url };
    return flattenInline(content, context, [...marks, link], indent);
  }
  flattenInline(content, context, marks, indent);
  if (!bare) writer.write(` (${url})`, marks);
}

function flattenImage(
  url: string,
  alt: string | null | undefined,
  context: FlattenContext,
  marks: readonly Mark[],
): void {
  const value = alt === "" || alt === null || alt === undefined ? url : alt;
  const insideLink = marks.some((mark) => mark.kind === "link");
  const children: PhrasingContent[] = [{ type: "text", value }];
  if (!insideLink) return flattenLink(url, children, context, marks, "");
  flattenInline(children, context, marks, "");
}

/** Returns the text of inline content without its formatting. */
export function plainText(nodes: readonly PhrasingContent[]): string {
  return nodes
    .map((node) => {
      if (isBreakTag(node)) return " ";
      if ("value" in node) return node.value;
      if ("children" in node) return plainText(node.children);
      if ("alt" in node) return node.alt ?? "";
      return node.type === "break" ? "\n" : "";
    })
    .join("");
}

export function indentLines(text: string, indent: string): string {
  return indent === "" ? text : text.replaceAll("\n", `\n${indent}`);
}
