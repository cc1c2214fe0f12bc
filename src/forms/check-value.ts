import { asSchema } from "ai";
import type { FlexibleSchema } from "ai";
import type { FormIssue } from "./form.ts";

/** The verdict of a schema. `value` is what the schema made of it. */
export type CheckedValue =
  | { readonly kind: "valid"; readonly value: unknown }
  | { readonly kind: "refused"; readonly issues: readonly FormIssue[] };

interface Issue {
  readonly path?: readonly unknown[];
  readonly message?: string;
}

/**
 * Lets the schema itself check a value that a form has sent. The issues go back to the form as its event `refused`. A
 * schema that cannot check anything accepts every value.
 */
export async function checkValue(schema: FlexibleSchema, value: unknown): Promise<CheckedValue> {
  const { validate } = asSchema(schema);
  if (validate === undefined) return { kind: "valid", value };
  const result = await validate(value);
  if (result.success) return { kind: "valid", value: result.value };
  const issues = issuesOf(result.error) ?? issuesOf(result.error.cause) ?? [{}];
  return { kind: "refused", issues: issues.map(formIssue) };
}

/** Zod has the issues in an error. Those of other Standard Schemas come as a list. */
function issuesOf(cause: unknown): readonly Issue[] | undefined {
  if (typeof cause !== "object" || cause === null) return undefined;
  const found = "issues" in cause ? cause.issues : cause;
  return Array.isArray(found) ? found : undefined;
}

/** A part of a path in a Standard Schema is a key, or an object that has it. */
function formIssue({ message = "", path = [] }: Issue): FormIssue {
  const [first] = path;
  const key = typeof first === "object" && first !== null && "key" in first ? first.key : first;
  return { message, ...(typeof key === "string" && { field: key }) };
}
