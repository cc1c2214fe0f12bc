import type { OutgoingImage } from "../../src/core/chat/surface.ts";
import { FakeFailure } from "./fake-platform.ts";

/** Refuses the id of a picture that the platform has given out, and no longer accepts. */
export function requireKnown(fileIds: ReadonlySet<string>, image: OutgoingImage | undefined): void {
  if (image === undefined || !("fileId" in image) || !image.fileId.startsWith("file:")) return;
  if (!fileIds.has(image.fileId))
    throw new FakeFailure({ kind: "rejected", code: "file-id-refused", about: "file-id" });
}

/** Returns the platform's id of a picture that was posted. */
export function keepPicture(fileIds: Set<string>, image: OutgoingImage): string | undefined {
  if ("fileId" in image) return image.fileId;
  if (!("source" in image) || image.source.kind !== "bytes") return undefined;
  const fileId = `file:${image.source.hash}`;
  fileIds.add(fileId);
  return fileId;
}
