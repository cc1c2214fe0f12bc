import type { Say } from "../core/text/bot-texts.ts";
import type { MessengerAttachment } from "../core/chat/messenger-event.ts";
import type { FileField, FormMessage, Reading } from "./form.ts";

const BYTES_IN_MB = 1024 * 1024;

/** Returns the file of a message as a value: plain data with which bot code can fetch the bytes. */
export function readFile(
  { accept = [], kind, maxBytes }: FileField,
  { attachments = [], messengerId }: FormMessage,
  say: Say,
): Reading {
  const wanted = attachments.filter((one) => kind === "file" || isPhoto(one));
  const [file, ...others] = wanted;
  if (file === undefined)
    return { kind: "problem", problem: say(kind === "photo" ? "formNoPhoto" : "formNoFile") };
  if (others.length > 0) return { kind: "problem", problem: say("formOneFile") };
  const { mediaType, name, reference, sizeBytes } = file;
  if (accept.length > 0 && !accept.some((type) => isOfType(mediaTypeOf(file), type)))
    return { kind: "problem", problem: say("formFileRefused", { types: accept.join(", ") }) };
  if (maxBytes !== undefined && (sizeBytes ?? 0) > maxBytes) {
    const size = Math.max(0.1, Math.floor((maxBytes / BYTES_IN_MB) * 10) / 10);
    return { kind: "problem", problem: say("formFileTooLarge", { size }) };
  }
  return {
    kind: "value",
    value: {
      messengerId,
      kind: file.kind,
      reference,
      ...(name !== undefined && { name }),
      ...(mediaType !== undefined && { mediaType }),
      ...(sizeBytes !== undefined && { sizeBytes }),
    },
  };
}

/** People also send photos as files, so that the platform does not make them smaller. */
function isPhoto({ kind, mediaType = "" }: MessengerAttachment): boolean {
  return kind === "image" || (kind === "document" && mediaType.startsWith("image/"));
}

/** Platforms do not tell the type of a photo. */
function mediaTypeOf({ kind, mediaType }: MessengerAttachment): string {
  return mediaType?.toLowerCase() ?? (kind === "image" ? "image/jpeg" : "");
}

function isOfType(mediaType: string, wanted: string): boolean {
  const type = wanted.toLowerCase();
  if (type === "*" || type === "*/*") return true;
  return type.endsWith("/*") ? mediaType.startsWith(type.slice(0, -1)) : mediaType === type;
}
