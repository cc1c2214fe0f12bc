/** Returns bytes in base64. */
export function toBase64({ buffer, byteLength, byteOffset }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/**
 * Returns the bytes of a base64 text.
 *
 * @throws {DOMException} if the text is not base64
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  // Unlike `Buffer`, it refuses what is not base64.
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
