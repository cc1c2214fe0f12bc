import { createHash } from "node:crypto";

/** The SHA-256 of a text in UTF-8, as hexadecimal digits. */
export async function sha256(text: string): Promise<string> {
  return sha256Now(text);
}

/** Returns the same as `sha256` at once, for short texts. */
export function sha256Now(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
