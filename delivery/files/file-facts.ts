import type { FileKind } from "../../src/core/message/content.ts";

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  aac: "audio/aac",
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  ics: "text/calendar",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  m4a: "audio/mp4",
  md: "text/markdown",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  oga: "audio/ogg",
  ogg: "audio/ogg",
  pdf: "application/pdf",
  png: "image/png",
  txt: "text/plain",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  xml: "application/xml",
  zip: "application/zip",
};

const BY_KIND: Readonly<Record<FileKind, string>> = {
  photo: "image/jpeg",
  document: "application/octet-stream",
  audio: "audio/mpeg",
  voice: "audio/ogg",
  video: "video/mp4",
  animation: "video/mp4",
};

/** Returns the media type of a name's extension, or else the usual one of the kind. */
export function mediaTypeOf(kind: FileKind, name: string | undefined): string {
  const ending = /\.([a-z0-9]+)$/i.exec(name ?? "")?.[1]?.toLowerCase();
  return (ending === undefined ? undefined : MEDIA_TYPES[ending]) ?? BY_KIND[kind];
}

const PICTURES: Readonly<Record<string, RegExp>> = {
  "image/png": /^\x89PNG\r\n/,
  "image/jpeg": /^\xff\xd8\xff/,
  "image/gif": /^GIF8[79]a/,
  "image/webp": /^RIFF[^]{4}WEBP/,
};

/** Returns the media type of a photo, from its first bytes. Undefined if they tell none. */
export function photoTypeOf(kind: FileKind, head: Uint8Array): string | undefined {
  if (kind !== "photo") return undefined;
  const text = String.fromCharCode(...head);
  return Object.entries(PICTURES).find(([, pattern]) => pattern.test(text))?.[0];
}

/**
 * Whether a GIF has a second picture, as far as its bytes go.
 *
 * The file is a header of 13 bytes and blocks. A colour table follows the header and each picture that has one.
 */
export function isAnimatedGif(bytes: Uint8Array): boolean {
  const colours = (flags = 0): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  const pastData = (at: number): number => {
    for (let size = bytes[at] ?? 0; size > 0; size = bytes[at] ?? 0) at += 1 + size;
    return at + 1;
  };
  let pictures = 0;
  for (let at = 13 + colours(bytes[10]); at < bytes.length && pictures < 2;) {
    if (bytes[at] === EXTENSION) at = pastData(at + 2);
    else if (bytes[at] === PICTURE) {
      pictures += 1;
      at = pastData(at + 11 + colours(bytes[at + 9]));
    } else break;
  }
  return pictures > 1;
}

const EXTENSION = 0x21;
const PICTURE = 0x2c;

/** Returns a name for a file without one, such as `photo.png`. */
export function defaultName(kind: FileKind, mediaType: string): string {
  const ending = Object.entries(MEDIA_TYPES).find(([, type]) => type === mediaType)?.[0];
  return ending === undefined
    ? kind
    : `${kind}.${ending === "jpeg" ? "jpg" : ending === "oga" ? "ogg" : ending}`;
}

/**
 * Returns the kind to send a file as. A voice message must be OGG with Opus. Other audio is sent as `audio`, because
 * platforms would show it as a file or refuse it.
 */
export function actualKind(kind: FileKind, head: Uint8Array): FileKind {
  if (kind !== "voice") return kind;
  const text = String.fromCharCode(...head);
  return text.startsWith("OggS") && text.includes("OpusHead") ? "voice" : "audio";
}
