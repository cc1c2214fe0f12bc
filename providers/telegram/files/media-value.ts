import type { CallOptions, OutgoingMedia } from "../../../src/core/chat/surface.ts";
import type { UploadPart } from "./multipart.ts";

/** Returns the Bot API's value for a file. Bytes are added to `uploads`, under the name `part`. */
export function mediaValue(
  { mediaType, name, source }: OutgoingMedia,
  part: string,
  uploads: UploadPart[],
  openFile: CallOptions["openFile"],
): string {
  switch (source.kind) {
    case "platform":
      return source.fileId;
    case "address":
      return source.url;
    case "bytes": {
      const { hash, sizeBytes } = source;
      if (openFile === undefined) throw new TypeError("A stored file cannot be sent without its bytes.");
      uploads.push({ name: part, fileName: name, mediaType, sizeBytes, open: () => openFile(hash) });
      return `attach://${part}`;
    }
    default:
      return source satisfies never;
  }
}
