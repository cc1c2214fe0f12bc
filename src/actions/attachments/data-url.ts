/** Returns the bytes of a `data:` address. Undefined if it is another one, or malformed. */
export function bytesOfDataUrl(url: string): Uint8Array | undefined {
  const [, base64, text = ""] = /^data:[^,]*?(;base64)?,(.*)$/is.exec(url) ?? [];
  if (!/^data:/i.test(url)) return undefined;
  try {
    const decoded = decodeURIComponent(text);
    return base64 === undefined
      ? new TextEncoder().encode(decoded)
      : Uint8Array.from(atob(decoded), (character) => character.charCodeAt(0));
  } catch {
    // The text is no Base64, or has a broken escape.
    return undefined;
  }
}
