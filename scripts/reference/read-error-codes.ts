import type { NewExpression, Node, SourceFile } from "typescript/unstable/ast";
import { isIdentifier, isNewExpression, isStringLiteral } from "typescript/unstable/ast/is";
import { textOf } from "./literal-text.ts";

/** An error that the product throws, with its stable code. */
export interface ThrownError {
  readonly code: string;
  readonly errorClass: string;
  /** The message, with `…` for each value. Undefined if it is put together elsewhere. */
  readonly message: string | undefined;
}

/** Finds `new SomeError("code", "message")` in a file. */
export function readErrorCodes(source: SourceFile): ThrownError[] {
  const found: ThrownError[] = [];
  const visit = (node: Node): void => {
    if (isNewExpression(node)) found.push(...thrownBy(node, source));
    node.forEachChild((child) => visit(child));
  };
  visit(source);
  return found;
}

function thrownBy(node: NewExpression, source: SourceFile): ThrownError[] {
  const [code, message] = node.arguments ?? [];
  if (!isIdentifier(node.expression) || !node.expression.text.endsWith("Error")) return [];
  if (code === undefined || !isStringLiteral(code) || !/^[a-z]+(-[a-z]+)+$/.test(code.text)) return [];
  return [{ code: code.text, errorClass: node.expression.text, message: textOf(message, source) }];
}
