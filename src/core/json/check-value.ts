import { asSchema } from "ai";
import type { FlexibleSchema } from "ai";

/** The value as its schema reads it, or the places at which it does not fit. */
export type CheckedValue =
  | { readonly isValid: true; readonly value: unknown }
  | { readonly isValid: false; readonly problem: string; readonly issues: readonly SchemaIssue[] };

/** One place at which a value does not fit its schema, as in Standard Schema. */
export interface SchemaIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

const MOST_ISSUES = 10;

/** Lets a schema check a value. A schema that cannot check anything takes every value. */
export async function checkValue(schema: FlexibleSchema, value: unknown): Promise<CheckedValue> {
  const { validate } = asSchema(schema);
  if (validate === undefined) return { isValid: true, value };
  const result = await validate(value);
  if (result.success) return { isValid: true, value: result.value };
  const issues = issuesOf(result.error);
  return { isValid: false, problem: problemOf(issues), issues };
}

/** The places at which a value does not fit, as far as the schema's library tells. */
function issuesOf(error: Error): readonly SchemaIssue[] {
  const issues = listIn(error) ?? listIn(error.cause) ?? [];
  return issues
    .slice(0, MOST_ISSUES)
    .map(({ message = "not valid", path = [] }) => ({ path: path.map(keyOfPath), message }));
}

/** Names the fields that do not fit. */
function problemOf(issues: readonly SchemaIssue[]): string {
  if (issues.length === 0) return "it does not fit the schema.";
  return issues
    .map(({ message, path }) => `${path.length === 0 ? "input" : path.join(".")}: ${message}`)
    .join("; ");
}

interface Issue {
  readonly path?: readonly unknown[];
  readonly message?: string;
}

/** Zod has the issues in an error. Those of other Standard Schemas come as a list. */
function listIn(cause: unknown): readonly Issue[] | undefined {
  if (typeof cause !== "object" || cause === null) return undefined;
  const found = "issues" in cause ? cause.issues : cause;
  return Array.isArray(found) ? found : undefined;
}

/** A part of a path in a Standard Schema is a key, or an object that has it. */
function keyOfPath(part: unknown): string | number {
  const key = typeof part === "object" && part !== null && "key" in part ? part.key : part;
  return typeof key === "number" ? key : String(key);
}
