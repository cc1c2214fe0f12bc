import type { z } from "zod";

/** Longest list, so that one wrong kind of answer does not fill a screen. */
const MOST = 5;

/** Names the fields of a value that is not of its schema, and says what each should be: `bot.id: Invalid input: ...`. */
export function wrongFields(error: z.ZodError): string {
  const fields = error.issues.map((issue) => `${issue.path.join(".") || "(all)"}: ${issue.message}`);
  const more = fields.length > MOST ? `; and ${fields.length - MOST} more` : "";
  return `${fields.slice(0, MOST).join("; ")}${more}`;
}
