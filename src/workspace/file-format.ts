import type { FileKind } from "../core/message/content.ts";
import { formatOfBytes } from "../messengers/turns/file-content.ts";

/** Types of texts by extension, which no bytes prove. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  csv: "text/csv",
  htm: "text/html",
  html: "text/html",
  json: "application/json",
  md: "text/markdown",
  svg: "image/svg+xml",
  xml: "application/xml",
};

/** Returns the media type of a file, from its bytes. */
export function formatOf(bytes: Uint8Array, path: string): string {
  const known = formatOfBytes(bytes);
  // A text may begin as a picture does. A PDF may be a text.
  if (known === "application/pdf") return known;
  if (textIn(bytes) === undefined) return known ?? "application/octet-stream";
  const [, extension = ""] = /\.([a-z0-9]+)$/i.exec(path) ?? [];
  return TEXT_TYPES[extension.toLowerCase()] ?? "text/plain";
}

/** Returns the text of a file. Undefined if it is none. */
export function textIn(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The bytes are not UTF-8.
    return undefined;
  }
}

/** Formats that a chat shows as a photo. */
const PHOTOS = new Set(["image/png", "image/jpeg", "image/webp"]);

/** Returns the kind as which a chat shows a file. */
export function fileKindOf(mediaType: string): Extract<FileKind, "photo" | "video" | "audio" | "document"> {
  if (PHOTOS.has(mediaType)) return "photo";
  const [family] = mediaType.split("/");
  return family === "audio" || family === "video" ? family : "document";
}

/** Whether a media type is one of a list, such as `["image/*"]`. */
export function isAmong(mediaType: string, accepted: readonly string[]): boolean {
  return accepted.some((one) =>
    one.endsWith("/*")
      ? mediaType.startsWith(one.slice(0, -1).toLowerCase())
      : one.toLowerCase() === mediaType,
  );
}
