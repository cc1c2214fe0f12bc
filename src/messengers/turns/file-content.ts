import { InvalidInputError } from "../../core/base/errors.ts";
import type { FetchedFile } from "../../core/chat/messenger.ts";
import type { ResolvedFile } from "../../turn/model/load-files.ts";
import { fromPeople } from "./own-marks.ts";
import { isTextFile, MAX_TEXT_FILE_BYTES, MAYBE_TEXT } from "./user-message.ts";

/**
 * Turns a file into content for the model. The sender has chosen its name and media type, so where a wrong one does
 * harm the first bytes are checked: a model's server refuses a whole conversation for one file that is not really an
 * image.
 *
 * @throws {InvalidInputError} when its bytes do not match its media type, or it is too long to be read as text
 */
export function fileContent(
  { bytes }: FetchedFile,
  mediaType: string,
  name: string | undefined,
): ResolvedFile {
  if (isTextFile(mediaType, name)) {
    if (bytes.length > MAX_TEXT_FILE_BYTES)
      throw new InvalidInputError("attachment-too-large", "The text file is too long to be read.");
    const text = textOf(bytes, mediaType === MAYBE_TEXT);
    if (text === undefined)
      throw new InvalidInputError("attachment-media-type", "The attachment is not a text file.");
    return { kind: "text", text: fromPeople(`[File ${name ?? "without a name"}]\n${text}`) };
  }
  const proven = provenMediaType(bytes, mediaType);
  if (proven !== undefined) return { kind: "bytes", bytes, mediaType: proven };
  throw new InvalidInputError("attachment-media-type", "The attachment's bytes do not match its media type.");
}

/**
 * Returns the text of the bytes. Undefined if they are not text. A file that is only guessed to be text must be UTF-8.
 */
function textOf(bytes: Uint8Array, isGuess: boolean): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    // Not UTF-8. A file that was declared as text then most likely has an old Western encoding.
    return isGuess ? undefined : new TextDecoder("windows-1252").decode(bytes);
  }
}

/** The first bytes of a kind of file, `?` for any byte. */
const SIGNATURES: readonly (readonly [mediaType: string, start: string])[] = [
  ["image/png", "\u0089PNG\r\n\u001a\n"],
  ["image/jpeg", "\u00ff\u00d8\u00ff"],
  ["image/gif", "GIF8"],
  ["image/webp", "RIFF????WEBP"],
  ["image/avif", "????ftypavi"],
  ["image/heic", "????ftyphe"],
  ["image/heic", "????ftypmif1"],
  ["image/bmp", "BM"],
  ["image/tiff", "II*\u0000"],
  ["image/tiff", "MM\u0000*"],
  ["application/pdf", "%PDF-"],
  ["audio/ogg", "OggS"],
  ["audio/mpeg", "ID3"],
  ["audio/mpeg", "\u00ff\u00fb"],
  ["audio/mpeg", "\u00ff\u00f3"],
  ["audio/mpeg", "\u00ff\u00f2"],
  ["audio/mpeg", "\u00ff\u00fa"],
  ["audio/aac", "\u00ff\u00f1"],
  ["audio/aac", "\u00ff\u00f9"],
  ["audio/wav", "RIFF????WAVE"],
  ["audio/flac", "fLaC"],
  ["audio/mp4", "????ftyp"],
  ["audio/webm", "\u001aE\u00df\u00a3"],
  ["audio/aiff", "FORM????AIF"],
  ["audio/amr", "#!AMR"],
];

/** Returns the media type of an image, a sound or a PDF from its bytes, and the declared type of any other file. */
function provenMediaType(bytes: Uint8Array, announced: string): string | undefined {
  const [family] = announced.toLowerCase().split("/");
  if (family !== "image" && family !== "audio" && announced.toLowerCase() !== "application/pdf")
    return announced;
  return formatOfBytes(bytes, family);
}

/** Returns the media type that the first bytes prove. @param family such as `image`; default any */
export function formatOfBytes(bytes: Uint8Array, family?: string): string | undefined {
  return SIGNATURES.find(
    ([mediaType, start]) =>
      (family === undefined || mediaType.split("/")[0] === family) &&
      Array.from(start).every(
        (character, index) => character === "?" || character.charCodeAt(0) === bytes[index],
      ),
  )?.[0];
}
