/** Names the fields that do not fit, as far as the schema's library tells. */
export function problemOf(error: Error): string {
  const issues = issuesOf(error) ?? issuesOf(error.cause);
  if (issues === undefined) return "it does not fit the schema.";
  return issues
    .slice(0, 10)
    .map(({ message = "not valid", path = [] }) => {
      const name = path.map(keyOfPath).join(".");
      return `${name === "" ? "input" : name}: ${message}`;
    })
    .join("; ");
}

interface Issue {
  readonly path?: readonly unknown[];
  readonly message?: string;
}

/** Zod has the issues in an error. Those of other Standard Schemas come as a list. */
function issuesOf(cause: unknown): readonly Issue[] | undefined {
  if (typeof cause !== "object" || cause === null) return undefined;
  const found = "issues" in cause ? cause.issues : cause;
  return Array.isArray(found) ? found : undefined;
}

/** A part of a path in a Standard Schema is a key, or an object that has it. */
function keyOfPath(part: unknown): string {
  return typeof part === "object" && part !== null && "key" in part ? String(part.key) : String(part);
}
