import type { Node, ObjectLiteralExpression, SourceFile } from "typescript/unstable/ast";
import { isObjectLiteralExpression, isPropertyAssignment, isStringLiteral } from "typescript/unstable/ast/is";
import { textOf } from "./literal-text.ts";

/** A problem or a warning of `/health`, as the code builds it. */
export interface HealthEntry {
  /** Undefined for a warning. */
  readonly status: string | undefined;
  /** The code, or the expression that chooses it. */
  readonly code: string;
  /** The message with `…` for each value. Undefined if it is chosen at run time. */
  readonly message: string | undefined;
}

/** Finds the objects with a code and a message in a file. */
export function readHealth(source: SourceFile): HealthEntry[] {
  const found: HealthEntry[] = [];
  const visit = (node: Node): void => {
    if (isObjectLiteralExpression(node)) found.push(...entryOf(node, source));
    node.forEachChild((child) => visit(child));
  };
  visit(source);
  return found;
}

function entryOf(node: ObjectLiteralExpression, source: SourceFile): HealthEntry[] {
  const values = new Map(
    node.properties
      .filter(isPropertyAssignment)
      .map(({ initializer, name }) => [name.getText(source), initializer]),
  );
  const [code, message, status] = ["code", "message", "status"].map((name) => values.get(name));
  if (code === undefined || message === undefined) return [];
  return [
    {
      status: status === undefined ? undefined : textOf(status, source),
      code: isStringLiteral(code) ? code.text : code.getText(source),
      message: textOf(message, source),
    },
  ];
}
