import type { SchemaIssue } from "./action-errors.ts";

const MOST_ISSUES = 10;

/** Returns the places at which a value does not fit, as far as the schema's library tells. */
export function issuesOf(error: Error): readonly SchemaIssue[] {
  const issues = listIn(error) ?? listIn(error.cause) ?? [];
  return issues
    .slice(0, MOST_ISSUES)
    .map(({ message = "not valid", path = [] }) => ({ path: path.map(keyOfPath), message }));
}

/** Names the fields that do not fit. */
export function problemOf(error: Error): string {
  const issues = issuesOf(error);
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
