import type { FileUpload } from "chat";
import type { CallOptions, OutgoingMedia } from "../../src/core/chat/surface.ts";

/** Returns the files of a message for an adapter. The SDK has no streams, so the files are in memory. */
export async function readFiles(
  files: readonly OutgoingMedia[] = [],
  openFile: CallOptions["openFile"],
): Promise<readonly FileUpload[]> {
  const uploads: FileUpload[] = [];
  for (const { mediaType, name, source } of files) {
    if (source.kind !== "bytes" || openFile === undefined)
      throw new TypeError("A file of a Chat SDK adapter has stored bytes");
    const bytes = await new Response(openFile(source.hash)).arrayBuffer();
    uploads.push({ data: new Blob([bytes], { type: mediaType }), filename: name, mimeType: mediaType });
  }
  return uploads;
}
