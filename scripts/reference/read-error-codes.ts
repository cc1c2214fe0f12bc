import type { CallExpression, NewExpression, Node, SourceFile } from "typescript/unstable/ast";
import {
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isObjectLiteralExpression,
  isPropertyAssignment,
  isStringLiteral,
} from "typescript/unstable/ast/is";
import { textOf } from "./literal-text.ts";

/** An error that the product throws, with its stable code. */
export interface ThrownError {
  readonly code: string;
  readonly errorClass: string;
  /** The message, with `…` for each value. Undefined if it is put together elsewhere. */
  readonly message: string | undefined;
}

/** Finds `new SomeError("code", "message")` and `checkOptions(given, rules, { code })` in a file. */
export function readErrorCodes(source: SourceFile): ThrownError[] {
  const found: ThrownError[] = [];
  const visit = (node: Node): void => {
    if (isNewExpression(node)) found.push(...thrownBy(node, source));
    if (isCallExpression(node)) found.push(...refusedBy(node));
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

/** A check of options without a code of its own has the one of messengers. */
function refusedBy({ arguments: [, , named], expression }: CallExpression): ThrownError[] {
  if (!isIdentifier(expression) || expression.text !== "checkOptions") return [];
  const properties = named !== undefined && isObjectLiteralExpression(named) ? named.properties : [];
  const codes = properties.flatMap((property) =>
    isPropertyAssignment(property) &&
    isIdentifier(property.name) &&
    property.name.text === "code" &&
    isStringLiteral(property.initializer)
      ? [property.initializer.text]
      : [],
  );
  const message = "… of … does not exist, or must be …";
  return [{ code: codes[0] ?? "messenger-option-invalid", errorClass: "ConfigurationError", message }];
}
