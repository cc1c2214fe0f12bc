/**
 * Returns the identity of a press or a command, which the SDK does not provide: the platform's trigger or object id, or
 * else a hash of the content, which is the same in a redelivery. Undefined if the platform's object cannot be read.
 */
export async function interactionKey(
  triggerId: string | undefined,
  raw: unknown,
): Promise<string | undefined> {
  if (typeof triggerId === "string" && triggerId !== "") return triggerId;
  if (typeof raw === "object" && raw !== null && "id" in raw) {
    const { id } = raw;
    if ((typeof id === "string" && id !== "") || typeof id === "number") return String(id);
  }
  return raw === null || raw === undefined ? undefined : contentKey(JSON.stringify(raw));
}

/** Returns a short hash of a text: 128 bits of SHA-256, in hexadecimal digits. */
export async function contentKey(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest).slice(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
