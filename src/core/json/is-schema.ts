/**
 * Tells whether a value can be the `inputSchema` of a tool: a Standard Schema such as zod's, a schema of the AI SDK, or a
 * function that returns one.
 */
export function isSchema(value: unknown): boolean {
  if (typeof value === "function") return true;
  if (typeof value !== "object" || value === null) return false;
  return "~standard" in value || ("jsonSchema" in value && "validate" in value);
}
