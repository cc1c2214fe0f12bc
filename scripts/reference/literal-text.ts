import type { Node, SourceFile } from "typescript/unstable/ast";
import {
  isBinaryExpression,
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  isTemplateExpression,
} from "typescript/unstable/ast/is";

/** Returns a text that stands in the source, with `…` for each value. Undefined if it does not stand there. */
export function textOf(node: Node | undefined, source: SourceFile): string | undefined {
  if (node === undefined) return undefined;
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (isBinaryExpression(node)) {
    return `${textOf(node.left, source) ?? "…"}${textOf(node.right, source) ?? "…"}`;
  }
  if (!isTemplateExpression(node)) return undefined;
  return (
    node.head.text + node.templateSpans.map(({ literal }) => `…${literalText(literal, source)}`).join("")
  );
}

function literalText(literal: Node, source: SourceFile): string {
  return (literal as { text?: string }).text ?? literal.getText(source);
}
