import type { OutgoingContent } from "../../src/core/chat/surface.ts";
import type { OutboxRow } from "./outbox-store.ts";

/** Returns the form of the message that shows a content. An edit cannot change the form. */
export function shapeOf({
  files,
  image,
  isCaption,
}: Pick<OutgoingContent, "files" | "image" | "isCaption">): OutboxRow["shape"] {
  return image !== undefined || files !== undefined || isCaption === true ? "image" : undefined;
}
