import { asSchema } from "ai";
import type { FlexibleSchema } from "ai";
import type { SchemaIssue } from "./action-errors.ts";
import { issuesOf, problemOf } from "./input-problem.ts";

/** The value as its schema reads it, or the places at which it does not fit. */
export type CheckedValue =
  | { readonly isValid: true; readonly value: unknown }
  | { readonly isValid: false; readonly problem: string; readonly issues: readonly SchemaIssue[] };

/** Checks an input or an output. A JSON schema without validation takes anything. */
export async function checkValue(schema: FlexibleSchema, value: unknown): Promise<CheckedValue> {
  const { validate } = asSchema(schema);
  if (validate === undefined) return { isValid: true, value };
  const result = await validate(value);
  if (result.success) return { isValid: true, value: result.value };
  return { isValid: false, problem: problemOf(result.error), issues: issuesOf(result.error) };
}
